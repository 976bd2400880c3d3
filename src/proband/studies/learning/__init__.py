"""What the agent of a study makes of its log: policies by position, advice, and replay."""

from proband.studies.learning.advice import Advice, Alternative
from proband.studies.learning.replay import Difference, Replayed

__all__ = ["Advice", "Alternative", "Difference", "Replayed"]
