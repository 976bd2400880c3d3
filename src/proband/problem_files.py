"""Problem files: a problem as TOML, every field checked, every mistake answered by file, key, rule and remedy.

TOML, because outcomes such as yes, no, on and off are read as booleans by YAML. ``docs/problem-files.md``
documents the schema; the same structure, as a dictionary, goes into policy files.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proband.errors import ProblemError, ProblemFileError
from proband.rewards import Match, Table, Unstated
from proband.vocabulary import DEFAULT_OUTCOMES, FloatArray, Reward, Test

SCHEMA = 1
LARGEST_FLOAT = sys.float_info.max

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "schema": int,
    "name": str,
    "unit": str,
    "decisions": list,
    "tests": list,
    "reward": dict,
}
_TEST_FIELDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "cost": (int, float),
    "outcomes": list,
    "group": str,
    "group_cost": (int, float),
    "on_arrival": bool,
    "available": bool,
}
_REWARD_FIELDS: dict[str, type | tuple[type, ...]] = {"kind": str, "targets": list, "utilities": list}
_UTILITY_FIELDS: dict[str, type | tuple[type, ...]] = {"when": dict, "value": dict}
_TYPE_NAMES = {int: "a whole number", str: "a text", list: "a list", dict: "a table", bool: "true or false"}


@dataclass(frozen=True)
class Fields:
    """What a problem file says."""

    tests: tuple[Test, ...]
    decisions: tuple[str, ...]
    reward: Reward
    name: str = ""
    unit: str = ""


def read(path: str | os.PathLike[str]) -> Fields:
    """Read a problem file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProblemFileError(f"{path}: it cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise ProblemFileError(f"{path}: it is not UTF-8 text ({error.reason}); save it as UTF-8") from error
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib's own error, huge numbers, deep nesting
        raise ProblemFileError(f"{path}: it is not valid TOML ({error}); correct that place") from error
    return from_dict(content, source=str(path))


def write(path: str | os.PathLike[str], fields: Fields) -> None:
    """Write a problem file that reads back to equal fields."""
    try:
        content = _toml(to_dict(fields)).encode()
    except UnicodeEncodeError as error:
        raise ProblemError(f"a name cannot be written as UTF-8 ({error.reason}); use whole characters") from error
    Path(path).write_bytes(content)


def from_dict(content: Mapping[str, Any], *, source: str = "problem") -> Fields:
    """Check the structure of a problem file and build its parts; `source` begins every message."""
    _check_fields(source, "", content, _FIELDS, required=("schema", "tests", "reward"))
    if content["schema"] != SCHEMA:
        raise _mistake(
            source, "schema", f"it is {content['schema']}; this version reads {SCHEMA}; set schema = {SCHEMA}"
        )
    tests = tuple(_read_test(source, n, entry) for n, entry in enumerate(content["tests"]))
    decisions = tuple(content.get("decisions", ()))
    if not all(isinstance(y, str) for y in decisions):
        raise _mistake(source, "decisions", f"they are {list(decisions)}; each must be a text; put it in quotes")
    if not tests:
        raise _mistake(source, "tests", "it is empty; a problem needs one or more tests; add [[tests]]")
    _check_names(source, "tests", [test.name for test in tests])
    _check_names(source, "decisions", decisions)
    reward = _read_reward(source, content["reward"], tests, decisions)
    return Fields(tests, decisions, reward, name=content.get("name", ""), unit=content.get("unit", ""))


def to_dict(fields: Fields) -> dict[str, Any]:
    """Return the structure of a problem file; the inverse of :func:`from_dict`."""
    content: dict[str, Any] = {"schema": SCHEMA, "name": fields.name, "unit": fields.unit}
    if fields.decisions:
        content["decisions"] = list(fields.decisions)
    content["tests"] = [test_to_dict(test) for test in fields.tests]
    content["reward"] = _reward_to_dict(fields)
    return content


def test_to_dict(test: Test) -> dict[str, Any]:
    """Return a test as it stands in a problem file, defaults left out."""
    content: dict[str, Any] = {"name": test.name, "cost": test.cost, "outcomes": list(test.outcomes)}
    if test.group is not None:
        content |= {"group": test.group, "group_cost": test.group_cost}
    if test.on_arrival:
        content["on_arrival"] = True
    if not test.available:
        content["available"] = False
    return content


def test_from_dict(content: Mapping[str, Any]) -> Test:
    """Build a test from the checked fields of a problem file."""
    return Test(
        name=content["name"],
        cost=content.get("cost", 0.0),
        outcomes=content.get("outcomes", DEFAULT_OUTCOMES),
        group=content.get("group"),
        group_cost=content.get("group_cost"),
        on_arrival=content.get("on_arrival", False),
        available=content.get("available", True),
    )


def _read_test(source: str, n: int, entry: Any) -> Test:
    key = f"tests[{n}]"
    if not isinstance(entry, Mapping):
        raise _mistake(source, key, f"it is {entry!r}; a test is a table; write [[tests]] and its fields below")
    _check_fields(source, key, entry, _TEST_FIELDS, required=("name",))
    if not (entry.get("on_arrival") or entry.get("available") is False) and "cost" not in entry:
        raise _mistake(
            source,
            f"{key}.cost",
            f"test {entry['name']!r} has no cost; a test that can be run has one; add it",
        )
    try:
        return test_from_dict(entry)
    except ProblemError as error:
        raise _mistake(source, key, str(error)) from error


def _read_reward(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    _check_fields(source, "reward", entry, _REWARD_FIELDS, required=("kind",))
    readers = {"table": _read_table, "match": _read_match, "unstated": _read_unstated}
    if entry["kind"] not in readers:
        raise _mistake(source, "reward.kind", f"it is {entry['kind']!r}; kinds are {', '.join(readers)}; choose one")
    return readers[entry["kind"]](source, entry, tests, decisions)


def _read_match(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    _refuse_table_fields(source, entry, "a match reward")
    return _fitting(source, Match(), tests, decisions)


def _read_unstated(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    _refuse_table_fields(source, entry, "an unstated reward")
    return _fitting(source, Unstated(), tests, decisions)


def _refuse_table_fields(source: str, entry: Mapping[str, Any], what: str) -> None:
    for key in ("targets", "utilities"):
        if key in entry:
            raise _mistake(source, f"reward.{key}", f'{what} has no such field; remove it, or use kind = "table"')


def _read_table(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    for key in ("targets", "utilities"):
        if not entry.get(key):
            raise _mistake(source, f"reward.{key}", "it is missing or empty; a table reward needs it; add it")
    by_name = {test.name: test for test in tests}
    targets = entry["targets"]
    wrong = [target for target in targets if not isinstance(target, str) or target not in by_name]
    if wrong:
        raise _mistake(source, "reward.targets", f"{wrong} are no tests; name tests of {list(by_name)}; correct them")
    _check_names(source, "reward.targets", targets)
    shape = (*(by_name[target].k for target in targets), len(decisions))
    utilities = np.full(shape, np.nan)
    for n, row in enumerate(entry["utilities"]):
        _fill(
            source,
            f"reward.utilities[{n}]",
            row,
            [by_name[target] for target in targets],
            decisions,
            utilities,
        )
    if np.isnan(utilities).any():
        cell = np.argwhere(np.isnan(utilities))[0]
        missing = {t: by_name[t].outcomes[b] for t, b in zip(targets, cell[:-1], strict=True)}
        raise _mistake(source, "reward.utilities", f"no entry covers {missing}; every combination needs one; add it")
    return _fitting(source, Table(targets, utilities), tests, decisions)


def _fill(
    source: str, key: str, row: Any, targets: Sequence[Test], decisions: Sequence[str], utilities: FloatArray
) -> None:
    """Write one entry into the cells that it covers and that no earlier entry has filled."""
    if not isinstance(row, Mapping):
        raise _mistake(source, key, f"it is {row!r}; it must be a table with when and value; write both")
    _check_fields(source, key, row, _UTILITY_FIELDS, required=("value",))
    when, value = row.get("when", {}), row["value"]
    _check_names_in(source, f"{key}.when", when, [test.name for test in targets], "a target of the reward")
    _check_names_in(source, f"{key}.value", value, decisions, "a decision")
    index: list[Any] = []
    for test in targets:
        if test.name in when and when[test.name] not in test.outcomes:
            raise _mistake(
                source,
                f"{key}.when.{test.name}",
                f"it is {when[test.name]!r}; outcomes are {', '.join(test.outcomes)}; choose one",
            )
        index.append(test.outcomes.index(when[test.name]) if test.name in when else slice(None))
    numbers = []
    for decision in decisions:
        number = value.get(decision)
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST_FLOAT:
            raise _mistake(
                source,
                f"{key}.value.{decision}",
                f"it is {number!r}; it must be a finite number; give the utility",
            )
        numbers.append(float(number))
    cells = utilities[(*index, slice(None))]
    utilities[(*index, slice(None))] = np.where(np.isnan(cells), np.array(numbers), cells)


def _fitting(source: str, reward: Reward, tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    try:
        reward.check(tests, decisions)
    except ProblemError as error:
        raise _mistake(source, "reward", str(error)) from error
    return reward


def _reward_to_dict(fields: Fields) -> dict[str, Any]:
    if isinstance(fields.reward, Match):
        return {"kind": "match"}
    if isinstance(fields.reward, Unstated):
        return {"kind": "unstated"}
    if not isinstance(fields.reward, Table):
        raise ProblemError(
            f"the reward is {type(fields.reward).__name__}; a file holds a table or a match only; "
            "write the reward as a table over its target tests"
        )
    tests = {test.name: test for test in fields.tests}
    targets = fields.reward.targets
    utilities = [
        {
            "when": {target: tests[target].outcomes[b] for target, b in zip(targets, cell, strict=True)},
            "value": dict(zip(fields.decisions, fields.reward.utilities[cell].tolist(), strict=True)),
        }
        for cell in itertools.product(*(range(tests[target].k) for target in targets))
    ]
    return {"kind": "table", "targets": list(targets), "utilities": utilities}


def _check_names(source: str, key: str, names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise _mistake(source, key, f"{repeated} appear more than once; names must differ; rename them")
    if any(not name.strip() for name in names):
        raise _mistake(source, key, "a name is empty; names are non-empty texts; fill it in")


def _check_names_in(source: str, key: str, given: Any, known: Sequence[str], what: str) -> None:
    if not isinstance(given, Mapping):
        raise _mistake(source, key, f"it is {given!r}; it must be a table of names; write {{ name = ... }}")
    for name in given:
        if name not in known:
            raise _mistake(source, f"{key}.{name}", f"{name!r} is not {what}; known are {', '.join(known)}; correct it")


def _check_fields(
    source: str,
    key: str,
    given: Mapping[str, Any],
    known: Mapping[str, type | tuple[type, ...]],
    *,
    required: Sequence[str],
) -> None:
    prefix = f"{key}." if key else ""
    for name, value in given.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "remove it"
            raise _mistake(source, prefix + name, f"there is no such field; known are {', '.join(known)}; {hint}")
        kinds = known[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            wanted = "a number" if isinstance(kinds, tuple) else _TYPE_NAMES[kinds]
            raise _mistake(source, prefix + name, f"it is {value!r}; it must be {wanted}; correct it")
    for name in required:
        if name not in given:
            raise _mistake(source, prefix + name, "it is missing; it is required; add it")


def _mistake(source: str, key: str, text: str) -> ProblemFileError:
    return ProblemFileError(f"{source}: {key}: {text}")


def _toml(content: Mapping[str, Any]) -> str:
    lines = [f"{key} = {_toml_value(value)}" for key, value in content.items() if key not in ("tests", "reward")]
    for test in content["tests"]:
        lines += ["", "[[tests]]", *(f"{key} = {_toml_value(value)}" for key, value in test.items())]
    reward = content["reward"]
    lines += [
        "",
        "[reward]",
        *(f"{key} = {_toml_value(v)}" for key, v in reward.items() if key != "utilities"),
    ]
    for row in reward.get("utilities", ()):
        lines += [
            "",
            "[[reward.utilities]]",
            *(f"{key} = {_toml_value(value)}" for key, value in row.items()),
        ]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_value(key)} = {_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "true" if value is True else "false" if value is False else repr(value)
