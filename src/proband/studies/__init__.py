"""Live studies: ask, tell, decide, and lose nothing.

Examples
--------
>>> from proband import Problem, Test
>>> from proband.rewards import Table
>>> from proband.studies import Study
>>> problem = Problem([Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]), name="bolts")
>>> study = Study.create(problem, store="memory:", agent="test-everything")
>>> study.ask(study.arrive(subject="bolt 1")).action
'crack'
"""

from proband.studies.exchange.exports import Verified, copy_study, import_study
from proband.studies.learning.advice import Advice, Alternative
from proband.studies.learning.replay import Difference, Replayed, replay
from proband.studies.ledger.chain import Event
from proband.studies.ledger.ledger import Ledger, Observation
from proband.studies.ledger.subject import Subject
from proband.studies.log.fold import folded
from proband.studies.stores import Store, open_store
from proband.studies.study import Study
from proband.studies.summary import Exploration, Stretch, Summary

__all__ = [
    "Advice",
    "Alternative",
    "Difference",
    "Event",
    "Exploration",
    "Ledger",
    "Observation",
    "Replayed",
    "Store",
    "Stretch",
    "Study",
    "Subject",
    "Summary",
    "Verified",
    "copy_study",
    "folded",
    "import_study",
    "open_store",
    "replay",
]
