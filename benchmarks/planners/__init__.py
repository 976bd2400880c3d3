"""The planners for listed outcomes beside their peers."""
