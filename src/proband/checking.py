"""Rules that every part of a problem file keeps, and the form of its mistakes: file, key, rule and remedy."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from proband.errors import LONGEST_SHOWN, MOST_TOLD, ProblemFileError, shown, told
from proband.texts import check_plain

NUMBER = (int, float)

Given = ParamSpec("Given")
Result = TypeVar("Result")

FieldTypes = Mapping[str, type | tuple[type, ...]]

_TYPE_NAMES = {int: "a whole number", str: "a text", list: "a list", dict: "a table", bool: "true or false"}


class Findings:
    """The mistakes of a file, told all at once; one alone is raised as it came.

    Examples
    --------
    >>> found = Findings("bolts.toml")
    >>> found.of(check_names, "bolts.toml", "decisions", ["pass", "pass"])
    >>> found.add(mistake("bolts.toml", "unit", "it is 5; it must be a text; correct it"))
    >>> found.check()
    Traceback (most recent call last):
    proband.errors.ProblemFileError: bolts.toml: 2 mistakes:
      decisions: ['pass'] appear more than once; names must differ; rename them
      unit: it is 5; it must be a text; correct it
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: dict[str, ProblemFileError] = {}

    def add(self, error: ProblemFileError) -> None:
        """Keep a mistake, or several that were found together; the same one again adds nothing."""
        for text in error.mistakes:
            self._found.setdefault(text, error)

    def of(self, read: Callable[Given, Result], *given: Given.args, **options: Given.kwargs) -> Result | None:
        """Return what is read; None if it has mistakes, which are kept."""
        try:
            return read(*given, **options)
        except ProblemFileError as error:
            self.add(error)
            return None

    def passes(self, check: Callable[Given, object], *given: Given.args, **options: Given.kwargs) -> bool:
        """Return whether a check finds nothing; what it finds is kept."""
        try:
            check(*given, **options)
        except ProblemFileError as error:
            self.add(error)
            return False
        return True

    def check(self) -> None:
        """Raise if there was a mistake: the first ten, and how many more."""
        if len(self._found) > 1:
            lines = [text.removeprefix(f"{self._source}: ") for text in self._found]
            said = told(lines[:MOST_TOLD], len(lines), "mistakes")
            raise ProblemFileError(f"{self._source}: {said}", tuple(self._found))
        for error in self._found.values():
            raise error


def check_names(source: str, key: str, names: Sequence[str]) -> None:
    """Raise unless the names are non-empty and differ."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise mistake(source, key, f"{shown(repeated)} appear more than once; names must differ; rename them")
    if any(not name.strip() for name in names):
        raise mistake(source, key, "a name is empty; names are non-empty texts; fill it in")
    for name in names:
        check_plain(f"{source}: {key}: a name", name, ProblemFileError)


def check_names_in(source: str, key: str, given: Any, known: Sequence[str], what: str) -> None:
    """Raise unless `given` is a table whose keys are known names."""
    if not isinstance(given, Mapping):
        raise mistake(source, key, f"it is {shown(given)}; it must be a table of names; write {{ name = ... }}")
    found, places = Findings(source), set(known)
    for name in given:
        if name not in places:
            said = f"{shown(name)} is not {what}; known are {', '.join(known)}; correct it"
            found.add(mistake(source, f"{key}.{name}", said))
    found.check()


def check_fields(
    source: str,
    key: str,
    given: Mapping[str, Any],
    known: FieldTypes,
    *,
    required: Sequence[str],
) -> None:
    """Raise unless every given field is known and of its type, and the required ones are there.

    Where a field is not known, it may be the one that is missing, and what is missing is not told.
    """
    prefix, found = f"{key}." if key else "", Findings(source)
    for name, value in given.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "remove it"
            said = f"there is no such field; known are {', '.join(known)}; {hint}"
            found.add(mistake(source, prefix + name, said))
        elif not fits(value, known[name]):
            kinds = known[name]
            wanted = "a number" if kinds == NUMBER else " or ".join(_TYPE_NAMES[k] for k in _each(kinds))
            found.add(mistake(source, prefix + name, f"it is {shown(value)}; it must be {wanted}; correct it"))
    if given.keys() <= known.keys():
        for name in required:
            if name not in given:
                found.add(mistake(source, prefix + name, "it is missing; it is required; add it"))
    found.check()


def fits(value: object, kinds: type | tuple[type, ...]) -> bool:
    """Return whether a value is of the type of a field; true and false are no numbers."""
    return isinstance(value, kinds) and (not isinstance(value, bool) or kinds is bool)


def fitting(given: Mapping[str, Any], known: FieldTypes) -> dict[str, Any]:
    """Return the fields that are known and of their types."""
    return {name: value for name, value in given.items() if name in known and fits(value, known[name])}


def _each(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


def mistake(source: str, key: str, text: str) -> ProblemFileError:
    """Return the error for one key of a file."""
    return ProblemFileError(f"{source}: {key[:LONGEST_SHOWN]}: {text}")
