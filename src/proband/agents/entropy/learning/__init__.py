"""What rounds tell of covariances, and what a test may be worth."""

__all__ = ["bundles", "improvement", "normality", "scatter"]
