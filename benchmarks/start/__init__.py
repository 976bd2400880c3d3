"""How long the first call takes, and the second."""
