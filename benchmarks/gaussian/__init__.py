"""The Gaussian planner beside what one would use instead."""
