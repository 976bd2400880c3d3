"""The command line ``proband``: parse, one library call, print. Commands are loaded when they are called.

It needs typer and rich, an extra (``pip install "proband[cli]"``).
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from functools import partial

from proband.errors import MissingExtraError, ProbandError, codes
from proband.texts import escaped, without_passwords

STOPPED = 130
"""Exit status after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those that the program was started with.
    """
    shell = os.environ.get("_PROBAND_COMPLETE")
    if shell and arguments is None:
        from proband.cli.completing import answer

        answer(shell, sys.argv[1:])
        sys.exit(0)
    if "" not in sys.path:
        sys.path.append("")  # --agents here:Mine is found in here.py of the current folder, after all that is installed
    try:
        _run(arguments)
    except ProbandError as error:
        _print_error(str(error))
        sys.exit(codes(error).exit)
    except KeyboardInterrupt:  # before a command was found, which would say what it keeps
        _print("\nstopped: nothing was written")
        sys.exit(STOPPED)
    except OSError as error:
        if error.filename is None:
            raise
        _print_error(f"{error.filename}: it cannot be used ({error.strerror}); check the path")
        sys.exit(1)


def _run(arguments: Sequence[str] | None) -> None:
    try:
        from proband.cli.app import app
        from proband.cli.groups import StoppedError

        try:
            app(None if arguments is None else list(arguments), prog_name="proband")
        except StoppedError as stopped:
            _print(f"\nstopped: {escaped(str(stopped))}")
            sys.exit(STOPPED)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in ("typer", "rich"):
            raise
        raise MissingExtraError(
            f'the command line needs {missing}, which is not installed; pip install "proband[cli]"'
        ) from error


def _print_error(message: str) -> None:
    coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    red, plain = ("\033[31m", "\033[0m") if coloured else ("", "")
    shown = escaped(without_passwords(message), keep="\n")
    _print(f"{red}error:{plain} {shown}")


def _print(text: str) -> None:
    """Write to standard error; on a terminal lines break between words."""
    if sys.stderr.isatty():
        width = max(20, shutil.get_terminal_size().columns)
        wrap = partial(textwrap.wrap, width=width, break_long_words=False, break_on_hyphens=False)
        text = "\n".join(part for line in text.split("\n") for part in (wrap(line) if len(line) > width else [line]))
    print(text, file=sys.stderr)
