"""Estimators of Gaussian laws, from the means and scatters of what was seen."""
