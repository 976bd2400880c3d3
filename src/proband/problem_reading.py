"""Reading a problem's structure: every field checked, every mistake answered by file, key, rule and remedy.

All mistakes are found before one error tells of them, but for those that may only follow from another one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from proband.checking import NUMBER, FieldTypes, Findings, check_fields, check_names, fitting, mistake
from proband.errors import ProblemError, ProblemFileError, shown
from proband.problem_files import CHOOSE, SCHEMA, UNFILLED
from proband.rewards.base import check_reward, default_decisions, read_reward
from proband.tables.words import checked_ignored, checked_missing
from proband.texts import check_plain
from proband.vocabulary import DEFAULT_OUTCOMES, Test

_FIELDS: FieldTypes = {
    "schema": int,
    "name": str,
    "unit": str,
    "decisions": list,
    "ignore": list,
    "missing": list,
    "tests": list,
    "reward": dict,
}
_TEST_FIELDS: FieldTypes = {
    "name": str,
    "cost": NUMBER,
    "outcomes": list,
    "cuts": (list, str),
    "measured": bool,
    "unit": str,
    "group": str,
    "group_cost": NUMBER,
    "on_arrival": bool,
    "available": bool,
}
_OUTCOMES = ("outcomes", "cuts", "measured", "unit")
_PRICES = ("cost", "group", "group_cost")
"""Fields of a test that are checked together, where another one of its fields is wrong."""


def arguments(content: Mapping[str, Any], *, source: str) -> dict[str, Any]:
    """Check the structure of a problem file and return the arguments of its Problem; `source` begins every message."""
    if not isinstance(content, Mapping):
        raise ProblemFileError(f"{source}: it is {shown(content)}; a problem is a table of fields; write it so")
    _check_schema(source, content)
    found = Findings(source)
    found.passes(check_fields, source, "", content, _FIELDS, required=("schema", "tests", "reward"))
    given = fitting(content, _FIELDS)
    found.passes(_check_filled, source, given)
    given = _filled(given)
    titles = {key: given.get(key, "") for key in ("name", "unit")}
    for key, text in titles.items():
        found.passes(check_plain, f"{source}: {key}: it", text, ProblemFileError)
    certain = "decisions" in given or not content.keys() - given.keys()  # else they may be what is misspelt
    decisions = found.of(_read_decisions, source, given) if certain else None
    tests = [_read_test(source, n, entry, found) for n, entry in enumerate(given.get("tests", ()))]
    if given.get("tests") == []:
        found.add(mistake(source, "tests", "it is empty; a problem needs one or more tests; add [[tests]]"))
    known = tuple(test for test in tests if test is not None)
    distinct = found.passes(check_names, source, "tests", [test.name for test in known])
    words = {
        "ignore": found.of(_checked, source, "ignore", checked_ignored, given.get("ignore", []), known),
        "missing": found.of(_checked, source, "missing", checked_missing, given.get("missing", []), known),
    }
    reward = None
    if "reward" in given:
        if decisions is not None and known and len(known) == len(tests) and distinct:
            reward = found.of(read_reward, source, given["reward"], known, decisions)
        else:  # what it says of tests and decisions cannot be judged
            found.passes(check_reward, source, given["reward"])
    found.check()
    return {"tests": known, "decisions": decisions, "reward": reward, **titles, **words}


def test_from_dict(content: Mapping[str, Any]) -> Test:
    """Build a test from the checked fields of a problem file."""
    return Test(
        name=content["name"],
        cost=content.get("cost", 0.0),
        outcomes=None if content.get("measured") else content.get("outcomes", DEFAULT_OUTCOMES),
        group=content.get("group"),
        group_cost=content.get("group_cost"),
        on_arrival=content.get("on_arrival", False),
        available=content.get("available", True),
        unit=content.get("unit", ""),
        cuts=None if content.get("cuts") == CHOOSE else content.get("cuts"),
        choose_cuts=content.get("cuts") == CHOOSE,
    )


def _check_schema(source: str, content: Mapping[str, Any]) -> None:
    """Raise for a file of another version, of which nothing else can be said."""
    version = content.get("schema")
    if type(version) is int and version != SCHEMA:
        raise mistake(source, "schema", f"it is {version}; this version reads {SCHEMA}; set schema = {SCHEMA}")


def _read_decisions(source: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    decisions = tuple(given.get("decisions", default_decisions(given.get("reward", {}))))
    if not all(isinstance(y, str) for y in decisions):
        raise mistake(source, "decisions", f"they are {shown(list(decisions))}; each must be a text; put it in quotes")
    check_names(source, "decisions", decisions)
    return decisions


def _read_test(source: str, n: int, entry: Any, found: Findings) -> Test | None:
    """Return a test; one with mistakes, which are kept, as far as others need it: its outcomes, if these are right."""
    key = f"tests[{n}]"
    if not isinstance(entry, Mapping):
        found.add(
            mistake(source, key, f"it is {shown(entry)}; a test is a table; write [[tests]] and its fields below")
        )
        return None
    if not found.passes(check_fields, source, key, entry, _TEST_FIELDS, required=("name",)):
        given = fitting(entry, _TEST_FIELDS)
        sure = entry.keys() <= _TEST_FIELDS.keys() or not entry.keys().isdisjoint(_OUTCOMES)
        told = "name" in given and all(part in given for part in _OUTCOMES if part in entry)
        return Findings(source).of(_part, source, key, given, _OUTCOMES) if sure and told else None
    clashes = list(_clashes(source, key, entry))
    for clash in clashes:
        found.add(clash)
    if not clashes and found.passes(_part, source, key, entry, _TEST_FIELDS):
        return test_from_dict(entry)
    found.passes(_part, source, key, entry, _PRICES)
    return None if clashes else found.of(_part, source, key, entry, _OUTCOMES)


def _clashes(source: str, key: str, entry: Mapping[str, Any]) -> Iterator[ProblemFileError]:
    """Yield the mistakes of a test's fields beside each other."""
    if not (entry.get("on_arrival") or entry.get("available") is False) and "cost" not in entry:
        said = f"test {entry['name']!r} has no cost; a test that can be run has one; add it"
        yield mistake(source, f"{key}.cost", said)
    if entry.get("measured") and "outcomes" in entry:
        said = "a measured test lists no outcomes; drop outcomes, or measured"
        yield mistake(source, f"{key}.outcomes", said)
    if entry.get("measured") and "cuts" in entry:
        said = "a measured test has no cuts, which list outcomes; drop cuts, or measured"
        yield mistake(source, f"{key}.cuts", said)
    if isinstance(entry.get("cuts"), str) and entry["cuts"] != CHOOSE:
        said = (
            f'they are {shown(entry["cuts"])}; they must be a list of numbers, or "{CHOOSE}", which leaves them to '
            "proband fit; write [60, 75]"
        )
        yield mistake(source, f"{key}.cuts", said)


def _part(source: str, key: str, entry: Mapping[str, Any], fields: Collection[str]) -> Test:
    """Return the test that some of its fields make."""
    try:
        return test_from_dict({field: value for field, value in entry.items() if field == "name" or field in fields})
    except ProblemError as error:
        raise mistake(source, key, str(error)) from error


def _checked(
    source: str,
    key: str,
    check: Callable[[Sequence[str], Sequence[Test]], tuple[str, ...]],
    given: Sequence[str],
    tests: Sequence[Test],
) -> tuple[str, ...]:
    """Return a list of words after a check, whose mistakes name the file and the key."""
    try:
        return check(given, tests)
    except ProblemError as error:
        raise mistake(source, key, str(error)) from error


def _check_filled(source: str, content: Mapping[str, Any]) -> None:
    """Raise if a draft still has prices or utilities to be filled in; all are named at once."""
    tests = [test for test in content.get("tests", ()) if isinstance(test, Mapping)]
    keys = ("cost", "group_cost")
    prices = [shown(test.get("name")) for test in tests if any(test.get(key) == UNFILLED for key in keys)]
    entries = content.get("reward", {}).get("utilities")
    worth = [
        f"{shown(decision)} when {_condition(entry.get('when'))}"
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("value"), Mapping)
        for decision, utility in entry["value"].items()
        if utility == UNFILLED
    ]
    named = (("prices", prices), ("utilities", worth))
    parts = [f"the {what} of {_enumerated(names)}" for what, names in named if names]
    if parts:
        raise mistake(
            source,
            "tests" if prices else "reward.utilities",
            f'{" and ".join(parts)} are not filled in; this file is a draft until every "{UNFILLED}" is a number; '
            f'write what a test costs, and what a decision brings, in place of "{UNFILLED}"',
        )


def _filled(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a draft with 0 for every price and utility that is to be filled in, so that the rest can be checked."""

    def tests() -> Iterator[Any]:
        for test in content["tests"]:
            if isinstance(test, Mapping) and UNFILLED in (test.get("cost"), test.get("group_cost")):
                yield {**test, **{key: 0.0 for key in ("cost", "group_cost") if key in test}}
            else:
                yield test

    def utilities(entries: list[Any]) -> Iterator[Any]:
        for entry in entries:
            value = entry.get("value") if isinstance(entry, Mapping) else None
            if isinstance(value, Mapping):
                yield {**entry, "value": {name: 0.0 if each == UNFILLED else each for name, each in value.items()}}
            else:
                yield entry

    filled = dict(content)
    if "tests" in content:
        filled["tests"] = list(tests())
    entries = content.get("reward", {}).get("utilities")
    if isinstance(entries, list):
        filled["reward"] = {**content["reward"], "utilities": list(utilities(entries))}
    return filled


def _condition(when: Any) -> str:
    pairs = when.items() if isinstance(when, Mapping) else ()
    return " and ".join(f"{name} is {shown(outcome)}" for name, outcome in pairs) or "nothing else fits"


def _enumerated(names: Sequence[str], most: int = 10) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    *first, last = [*names[:most], *more]
    return f"{', '.join(first)} and {last}" if first else last
