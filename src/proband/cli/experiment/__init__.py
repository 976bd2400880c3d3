"""Agents side by side on the same subjects: from one seed to a table, figures and a report."""

from proband.cli.groups import group

experiment_app = group(__name__, ("catalogue", "list show"), ("run", "run plot report redraw"), about=__doc__)
