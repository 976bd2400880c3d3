"""``python -m proband``: the command line."""

from proband.cli import main

main()
