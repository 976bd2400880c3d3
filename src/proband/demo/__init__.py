"""The demonstrations: three agents learn to inspect bolts, and the default agent a line with 30 tests."""

from proband.demo.many import BOARDS, ManyDemonstration, learn_many, report_many
from proband.demo.report import report, write
from proband.demo.screen import show, show_many
from proband.demo.stream import BOLTS, Demonstration, Journey, Run, journey, learn_online

__all__ = [
    "BOARDS",
    "BOLTS",
    "Demonstration",
    "Journey",
    "ManyDemonstration",
    "Run",
    "journey",
    "learn_many",
    "learn_online",
    "report",
    "report_many",
    "show",
    "show_many",
    "write",
]
