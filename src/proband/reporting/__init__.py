"""Reports on a plan: what it does, what it is worth and to whom it does wrong; one file, HTML or Markdown."""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.reporting.recipes import Planned, Recipe
    from proband.reporting.report import HeldOut, Report, check_report_ending, planned, report_on, steps
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["HeldOut", "Planned", "Recipe", "Report", "check_report_ending", "planned", "report_on", "steps"]
