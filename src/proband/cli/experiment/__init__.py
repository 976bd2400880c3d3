"""``proband experiment``: list, show, run, plot and report the experiments of the catalogue."""

from proband.cli.groups import group

experiment_app = group(
    "proband.cli.experiment",
    {
        "list": ("catalogue", "List the experiments."),
        "show": ("catalogue", "Show what an experiment is made of."),
        "run": ("run", "Run an experiment, or the rest of it, and print a summary."),
        "plot": ("results", "Draw the figures of a run, from its table."),
        "report": (
            "results",
            "Write a page about a run: numbers, slopes, figures, and the command that reproduces it.",
        ),
    },
    about="Agents side by side on the same subjects: from one seed to a table, figures and a report.",
)
