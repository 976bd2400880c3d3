"""The demonstration: three agents learn, each on its own, to inspect the same stream of bolts."""

from proband.demo.report import report, write
from proband.demo.screen import show
from proband.demo.stream import Demonstration, Journey, Run, journey, learn_online

__all__ = ["Demonstration", "Journey", "Run", "journey", "learn_online", "report", "show", "write"]
