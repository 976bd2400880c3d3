"""The demonstration: a stream of bolts is inspected while a policy is learned from it."""

from proband.demo.report import report, write
from proband.demo.screen import show
from proband.demo.stream import Demonstration, Lesson, inspect_stream, journey

__all__ = ["Demonstration", "Lesson", "inspect_stream", "journey", "report", "show", "write"]
