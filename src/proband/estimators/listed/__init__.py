"""Estimators of discrete laws, from counts of what was seen."""
