"""Rules that every part of a problem file keeps, and the form of its mistakes: file, key, rule and remedy."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proband.errors import LONGEST_SHOWN, ProblemFileError, shown
from proband.texts import check_plain

NUMBER = (int, float)

FieldTypes = Mapping[str, type | tuple[type, ...]]

_TYPE_NAMES = {int: "a whole number", str: "a text", list: "a list", dict: "a table", bool: "true or false"}


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
    places = set(known)
    for name in given:
        if name not in places:
            raise mistake(
                source, f"{key}.{name}", f"{shown(name)} is not {what}; known are {', '.join(known)}; correct it"
            )


def check_fields(
    source: str,
    key: str,
    given: Mapping[str, Any],
    known: FieldTypes,
    *,
    required: Sequence[str],
) -> None:
    """Raise unless every given field is known and of its type, and the required ones are there."""
    prefix = f"{key}." if key else ""
    for name, value in given.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "remove it"
            raise mistake(source, prefix + name, f"there is no such field; known are {', '.join(known)}; {hint}")
        kinds = known[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            wanted = "a number" if kinds == NUMBER else " or ".join(_TYPE_NAMES[k] for k in _each(kinds))
            raise mistake(source, prefix + name, f"it is {shown(value)}; it must be {wanted}; correct it")
    for name in required:
        if name not in given:
            raise mistake(source, prefix + name, "it is missing; it is required; add it")


def _each(kinds: type | tuple[type, ...]) -> tuple[type, ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


def mistake(source: str, key: str, text: str) -> ProblemFileError:
    """Return the error for one key of a file."""
    return ProblemFileError(f"{source}: {key[:LONGEST_SHOWN]}: {text}")
