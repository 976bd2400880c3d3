"""The reward in a problem file: one reader and one writer for each kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from proband.errors import ProblemError
from proband.problem_files.checking import (
    LARGEST_FLOAT,
    NUMBER,
    Kinds,
    check_fields,
    check_names,
    check_names_in,
    mistake,
)
from proband.rewards import Entropy, Match, Piece, Projection, Score, Table, Unstated
from proband.vocabulary import FloatArray, Reward, Test

_UTILITY_FIELDS: Kinds = {"when": dict, "value": dict}
_SCORE_FIELDS: Kinds = {"name": str, "weights": dict, "offset": NUMBER, "unit": str}
_PIECE_FIELDS: Kinds = {"decision": str, "value": NUMBER, "when": dict, "slope": dict, "at": dict}

_Reader = Callable[[str, Mapping[str, Any], Sequence[Test], Sequence[str]], Reward]


def read_reward(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    """Read the table [reward]."""
    named = {key: value for key, value in entry.items() if key == "kind"}
    check_fields(source, "reward", named, {"kind": str}, required=("kind",))
    if entry["kind"] not in _KINDS:
        raise mistake(source, "reward.kind", f"it is {entry['kind']!r}; kinds are {', '.join(_KINDS)}; choose one")
    fields, reader = _KINDS[entry["kind"]]
    for key in entry:
        owner = next((kind for kind, (others, _) in _KINDS.items() if key in others), None)
        if owner is not None and key not in fields:
            raise mistake(
                source,
                f"reward.{key}",
                f'a reward of kind {entry["kind"]!r} has no such field; remove it, or use kind = "{owner}"',
            )
    check_fields(source, "reward", entry, {"kind": str, **fields}, required=())
    try:
        reward = reader(source, entry, tests, decisions)
        reward.check(tests, decisions)
    except ProblemError as error:
        if str(error).startswith(f"{source}: "):
            raise
        raise mistake(source, "reward", str(error)) from error
    return reward


def reward_to_dict(reward: Reward, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
    """Return the table [reward]; the inverse of :func:`read_reward`."""
    for kind, writer in _WRITERS.items():
        if isinstance(reward, kind):
            return writer(reward, tests, decisions)
    raise ProblemError(
        f"the reward is {type(reward).__name__}; a file holds no Python function; write the reward as a table over its "
        "target tests, or as a projection"
    )


def _read_table(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    for key in ("targets", "utilities"):
        if not entry.get(key):
            raise mistake(source, f"reward.{key}", "it is missing or empty; a table reward needs it; add it")
    by_name = {test.name: test for test in tests}
    targets = entry["targets"]
    wrong = [target for target in targets if not isinstance(target, str) or target not in by_name]
    if wrong:
        raise mistake(source, "reward.targets", f"{wrong} are no tests; name tests of {list(by_name)}; correct them")
    check_names(source, "reward.targets", targets)
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
        missing = {t: by_name[t].names[b] for t, b in zip(targets, cell[:-1], strict=True)}
        raise mistake(source, "reward.utilities", f"no entry covers {missing}; every combination needs one; add it")
    return Table(targets, utilities)


def _fill(
    source: str, key: str, row: Any, targets: Sequence[Test], decisions: Sequence[str], utilities: FloatArray
) -> None:
    """Write one entry into the cells that it covers and that no earlier entry has filled."""
    if not isinstance(row, Mapping):
        raise mistake(source, key, f"it is {row!r}; it must be a table with when and value; write both")
    check_fields(source, key, row, _UTILITY_FIELDS, required=("value",))
    when, value = row.get("when", {}), row["value"]
    check_names_in(source, f"{key}.when", when, [test.name for test in targets], "a target of the reward")
    check_names_in(source, f"{key}.value", value, decisions, "a decision")
    index: list[Any] = []
    for test in targets:
        if test.name in when and when[test.name] not in test.names:
            raise mistake(
                source,
                f"{key}.when.{test.name}",
                f"it is {when[test.name]!r}; outcomes are {', '.join(test.names)}; choose one",
            )
        index.append(test.names.index(when[test.name]) if test.name in when else slice(None))
    numbers = []
    for decision in decisions:
        number = value.get(decision)
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST_FLOAT:
            raise mistake(
                source,
                f"{key}.value.{decision}",
                f"it is {number!r}; it must be a finite number; give the utility",
            )
        numbers.append(float(number))
    cells = utilities[(*index, slice(None))]
    utilities[(*index, slice(None))] = np.where(np.isnan(cells), np.array(numbers), cells)


def _read_projection(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    scores, pieces = [], []
    for n, row in enumerate(_rows(source, entry, "scores")):
        check_fields(source, f"reward.scores[{n}]", row, _SCORE_FIELDS, required=("name", "weights"))
        check_names_in(source, f"reward.scores[{n}].weights", row["weights"], [test.name for test in tests], "a test")
        try:
            scores.append(Score(row["name"], row["weights"], row.get("offset", 0.0), row.get("unit", "")))
        except ProblemError as error:
            raise mistake(source, f"reward.scores[{n}]", str(error)) from error
    names = [score.name for score in scores]
    for n, row in enumerate(_rows(source, entry, "pieces")):
        key = f"reward.pieces[{n}]"
        check_fields(source, key, row, _PIECE_FIELDS, required=("decision",))
        for part in ("when", "slope", "at"):
            check_names_in(source, f"{key}.{part}", row.get(part, {}), names, "a score")
        if row["decision"] not in decisions:
            raise mistake(
                source,
                f"{key}.decision",
                f"it is {row['decision']!r}; decisions are {', '.join(decisions)}; choose one",
            )
        pieces.append(_piece(source, key, row))
    return Projection(scores, pieces)


def _piece(source: str, key: str, row: Mapping[str, Any]) -> Piece:
    try:
        return Piece(
            row["decision"], row.get("value", 0.0), row.get("when", {}), row.get("slope", {}), row.get("at", {})
        )
    except ProblemError as error:
        raise mistake(source, key, str(error)) from error


def _rows(source: str, entry: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    rows = entry.get(key)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise mistake(
            source, f"reward.{key}", f"it is {rows!r}; a projection needs a list of tables; write [[reward.{key}]]"
        )
    return list(rows)


def _read_entropy(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    return Entropy(entry.get("scale", 1.0))


def _table_to_dict(reward: Any, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
    by_name = {test.name: test for test in tests}
    utilities = [
        {
            "when": {target: by_name[target].names[b] for target, b in zip(reward.targets, cell, strict=True)},
            "value": dict(zip(decisions, reward.utilities[cell].tolist(), strict=True)),
        }
        for cell in itertools.product(*(range(by_name[target].k) for target in reward.targets))
    ]
    return {"kind": "table", "targets": list(reward.targets), "utilities": utilities}


def _projection_to_dict(reward: Any, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
    scores = [
        {"name": score.name, "weights": dict(score.weights), "offset": score.offset, "unit": score.unit}
        for score in reward.scores
    ]
    pieces = []
    for piece in reward.pieces:
        row: dict[str, Any] = {"decision": piece.decision, "value": piece.value}
        if piece.when:
            row["when"] = {name: list(piece.interval(name)) for name in piece.when}
        row |= {key: dict(getattr(piece, key)) for key in ("slope", "at") if getattr(piece, key)}
        pieces.append(row)
    return {"kind": "projection", "scores": scores, "pieces": pieces}


_KINDS: dict[str, tuple[Kinds, _Reader]] = {
    "table": ({"targets": list, "utilities": list}, _read_table),
    "match": ({}, lambda source, entry, tests, decisions: Match()),
    "projection": ({"scores": list, "pieces": list}, _read_projection),
    "entropy": ({"scale": NUMBER}, _read_entropy),
    "unstated": ({}, lambda source, entry, tests, decisions: Unstated()),
}

_WRITERS: dict[type, Callable[[Any, Sequence[Test], Sequence[str]], dict[str, Any]]] = {
    Table: _table_to_dict,
    Match: lambda reward, tests, decisions: {"kind": "match"},
    Projection: _projection_to_dict,
    Entropy: lambda reward, tests, decisions: {"kind": "entropy", "scale": reward.scale},
    Unstated: lambda reward, tests, decisions: {"kind": "unstated"},
}
