"""What is certain of sets of tests, with a given probability."""

__all__ = ["branches", "certificate", "lattice", "rivals", "rules", "widths"]
