"""Live studies: ask, tell, decide, and lose nothing."""

from proband.cli.groups import group

study_app = group(
    __name__,
    ("whole", "create list show"),
    ("subjects", "arrive ask tell decide take correct void reveal"),
    ("whole", "restart"),
    ("copies", "import export copy verify"),
    ("whole", "report run"),
    about=__doc__,
)
