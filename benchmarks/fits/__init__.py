"""Does the interval of a fit's cross-validated value hold what it brings, and how far off is its in-sample value?"""
