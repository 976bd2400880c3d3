"""``proband study``: live studies from the command line, every command scriptable."""

from proband.cli.groups import group

study_app = group(
    "proband.cli.study",
    {
        "create": ("whole", "Begin a study of a problem."),
        "list": ("whole", "List the studies of a store."),
        "show": ("whole", "Show a study at a glance, drift included."),
        "arrive": ("subjects", "Let a subject arrive, and say what to do first."),
        "ask": ("subjects", "Say what to do next with a subject, and why. Nothing is written."),
        "tell": (
            "subjects",
            "Tell what a test showed, the advised one or another, or several of them at once; say what comes next.",
        ),
        "decide": ("subjects", "Decide on a subject; the study learns from it."),
        "take": ("subjects", "Take over a subject that another station left."),
        "correct": ("subjects", "Correct an outcome that was told wrongly: a new event, the old one stays in the log."),
        "void": ("subjects", "Take a subject out of the study; it stays in the log."),
        "reveal": ("subjects", "Tell what came to light later about a finished subject."),
        "restart": ("whole", "Start learning afresh from here on, for instance after drift."),
        "import": (
            "copies",
            "Import past records as starting knowledge, or a whole study that was exported. Twice adds nothing.",
        ),
        "export": ("copies", "Write everything, lossless, as JSON lines; or the table of subjects."),
        "copy": (
            "copies",
            (
                "Copy studies to another store, each whole or not at all, and verify them there. "
                "Twice adds what came since."
            ),
        ),
        "verify": ("copies", "Prove that nothing was altered, reordered or dropped."),
        "report": (
            "whole",
            (
                "Write a report: costs over time, tests saved, what was learned, decisions, drift. "
                "One HTML file, pictures inside."
            ),
        ),
        "run": ("whole", "Work through subjects at a terminal: arrow keys or numbers, names, costs, reasons, undo."),
    },
    about="Live studies: ask, tell, decide, and lose nothing.",
)
