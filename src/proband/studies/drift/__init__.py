"""Whether recent subjects still follow the law of the earlier ones."""

from proband.studies.drift.detection import Drift, DriftReport, Raised, drift

__all__ = ["Drift", "DriftReport", "Raised", "drift"]
