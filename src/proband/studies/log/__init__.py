"""The log of a study in its store: folding it, writing to it, snapshots of it, and auditing what is held of it."""

from proband.studies.log.fold import folded
from proband.studies.log.journal import Journal

__all__ = ["Journal", "folded"]
