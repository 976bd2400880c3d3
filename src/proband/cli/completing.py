"""What may come next on a command line: for the completion of shells, which call the program with a variable set.

The words stand after the program's name, the last one is the one being written. What is printed is a candidate a line,
with a tab and a word on what it is where there is one; a first line ``:files`` says that names of files fit, too.
Commands are loaded no further than the words go.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from proband.cli.values import VALUES, Candidate

VARIABLE = "_PROBAND_COMPLETE"
"""Names the shell that asks; set by the scripts of :mod:`proband.cli.completion`."""

FILES = ":files"
FILE_WORDS = ("PROBLEM", "POLICY", "COVARIANCE", "TABLE", "FILE", "JSON", "TOML", "HTML", "CSV", "DIR")


def answer(shell: str, words: Sequence[str]) -> None:
    """Print what may come next; a mistake is no answer."""
    words = (
        [unquoted(word) for word in words] if shell == "bash" else [*words[:-1], *(w.lstrip("\"'") for w in words[-1:])]
    )
    *before, last = (joined(words) if shell == "bash" else words) or [""]
    try:
        files, found = candidates(before, last)
    except Exception:  # a shell that completes must never show a traceback
        return
    cut = len(last) - len(words[-1]) if shell == "bash" and words else 0
    lines = [FILES] if files else []
    for word, about in found:
        shown = word[cut:] if shell == "bash" else word
        lines.append(f"{shown}\t{about}" if about and shell != "bash" else shown)
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def unquoted(word: str) -> str:
    r"""Return a word as the program would get it; bash hands words over as they were typed.

    Examples
    --------
    >>> unquoted(r"bolt\ 9"), unquoted('"bolt 9"'), unquoted('"bolt')
    ('bolt 9', 'bolt 9', 'bolt')
    """
    try:
        return " ".join(shlex.split(word))
    except ValueError:  # still open
        return word.lstrip("\"'").rstrip("\\")


def joined(words: Sequence[str]) -> list[str]:
    """Return words as they were written; bash takes them apart at ``=`` and ``:``.

    Examples
    --------
    >>> joined(["plan", "--store", "=", "sqlite", ":", "///a.db", "x"])
    ['plan', '--store=sqlite:///a.db', 'x']
    """
    found: list[str] = []
    glued = False
    for word in words:
        mark = word in ("=", ":")
        if found and (mark or glued):
            found[-1] += word
        else:
            found.append(word)
        glued = mark
    return found


def candidates(before: Sequence[str], last: str) -> tuple[bool, list[Candidate]]:
    """Return whether a name of a file may come next, and the other words that may."""
    import typer

    from proband.cli.app import app

    command: Any = typer.main.get_command(app)
    rest = list(before)
    while hasattr(command, "modules"):
        place = next((n for n, word in enumerate(rest) if not word.startswith("-")), None)
        if place is None:
            options = _options(command, rest) if last.startswith("-") else []
            named = [] if last.startswith("-") else [Candidate(name, line) for name, line in command.lines.items()]
            return False, _fitting([*options, *named], last)
        if rest[place] not in command.commands:
            return False, []
        command, rest = command.commands[rest[place]], rest[place + 1 :]
    return _of_command(command, rest, last, {"": before[0]})


def _of_command(command: Any, before: list[str], last: str, given: dict[str, str]) -> tuple[bool, list[Candidate]]:
    """Return what may come next within a command; `given` has its first word under the empty name."""
    options = {name: each for each in command.params for name in each.opts if name.startswith("-")}
    places = [each for each in command.params if not each.opts[0].startswith("-")]
    given["command"], arguments, awaited = str(command.name), 0, None
    for word in before:
        if awaited is not None:
            given[awaited.name], awaited = word, None
        elif word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            given[options[name].name if name in options else name] = value
        elif word in options:
            awaited = None if _is_flag(options[word]) else options[word]
        elif not word.startswith("-"):
            given[str(places[min(arguments, len(places) - 1)].name) if places else ""] = word
            arguments += 1
    if awaited is not None:
        return _values(awaited, given, last)
    if last.startswith("--") and "=" in last:
        name, _, value = last.partition("=")
        files, found = _values(options[name], given, value) if name in options else (False, [])
        return files, [Candidate(f"{name}={word}", about) for word, about in found]
    if last.startswith("-"):
        return False, _fitting(_options(command, before), last)
    if not places or (arguments >= len(places) and places[-1].nargs == 1):
        return False, _fitting(_options(command, before), last)
    return _values(places[min(arguments, len(places) - 1)], given, last)


def _options(command: Any, before: Sequence[str]) -> list[Candidate]:
    """Return the options that were not given yet; those that may be repeated always."""
    free = [each for each in command.params if each.multiple or not set(each.opts) & set(before)] if hasattr(
        command, "params"
    ) else []  # fmt: skip
    named = [
        Candidate(name, _first_sentence(getattr(each, "help", None)))
        for each in free
        for name in each.opts
        if name.startswith("--")
    ]
    return [*named, Candidate("--help", "Show this message and exit.")]


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))


def _values(parameter: Any, given: dict[str, str], last: str) -> tuple[bool, list[Candidate]]:
    """Return what an option or an argument may be."""
    metavar = str(parameter.metavar or "").strip("[]{}").removesuffix("...")
    name = next((name for name in parameter.opts if name.startswith("--")), metavar)
    find = VALUES.get(name) or VALUES.get(f"{given['']} {name}")
    choices = [word for word in metavar.split("|") if "|" in metavar and word.islower()]
    found = [Candidate(word) for word in choices] if find is None else list(find(given))
    head, comma, tail = last.rpartition(",")
    if comma and name == "--agents":
        return False, [Candidate(f"{head},{word}", about) for word, about in _fitting(found, tail)]
    files = any(word in metavar.split("|") for word in FILE_WORDS) and name != "--store"
    return files, _fitting(found, last)


def _fitting(found: Sequence[Candidate], start: str) -> list[Candidate]:
    return [each for each in found if each.word.startswith(start)]


def _first_sentence(text: str | None) -> str:
    cut = (text or "").partition(". ")[0].partition("; ")[0].partition("\n")[0]
    return cut.rpartition(" (")[0] if cut.count("(") > cut.count(")") else cut
