"""What rounds tell of covariances, and what a test may be worth."""
