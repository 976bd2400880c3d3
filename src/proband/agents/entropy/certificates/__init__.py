"""What is certain of sets of tests, with a given probability."""
