"""Live studies, measured: `python -m benchmarks.studies`."""
