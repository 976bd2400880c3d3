"""The reward in a problem file: one reader and one writer for each kind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from proband.errors import ProblemError, shown
from proband.files import LARGEST_NUMBER, MOST_CELLS, MOST_TARGETS
from proband.problem_files.checking import NUMBER, Kinds, check_fields, check_names, check_names_in, mistake
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
    if entry["kind"] not in {**_KINDS, **_INTERNAL}:
        raise mistake(source, "reward.kind", f"it is {entry['kind']!r}; kinds are {', '.join(_KINDS)}; choose one")
    fields, reader = {**_KINDS, **_INTERNAL}[entry["kind"]]
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


def reward_to_dict(
    reward: Reward, tests: Sequence[Test], decisions: Sequence[str], *, unstated: bool = False
) -> dict[str, Any]:
    """Return the table [reward]; the inverse of :func:`read_reward`.

    With `unstated`, a reward without a writer is named, as that of a policy file, which acts without it.
    """
    writer = _WRITERS.get(type(reward))  # not that of a base class: what a subclass changes would be lost
    if writer is not None:
        return writer(reward, tests, decisions)
    if unstated:
        return {"kind": "unstated", "of": type(reward).__name__}
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
        raise mistake(
            source, "reward.targets", f"{shown(wrong)} are no tests; name tests of {list(by_name)}; correct them"
        )
    check_names(source, "reward.targets", targets)
    utilities = _empty_table(source, [by_name[target].k for target in targets], len(decisions))
    places = [{outcome: b for b, outcome in enumerate(by_name[target].names)} for target in targets]
    rows = [
        _utilities(source, f"reward.utilities[{n}]", row, dict(zip(targets, places, strict=True)), decisions)
        for n, row in enumerate(entry["utilities"])
    ]
    for index, numbers in reversed(rows):  # an earlier entry covers what a later one covers too
        utilities[index] = numbers
    if np.isnan(utilities).any():
        cell = np.argwhere(np.isnan(utilities))[0]
        missing = {t: by_name[t].names[b] for t, b in zip(targets, cell[:-1], strict=True)}
        raise mistake(source, "reward.utilities", f"no entry covers {missing}; every combination needs one; add it")
    return Table(targets, utilities)


def _empty_table(source: str, outcomes: list[int], decisions: int) -> FloatArray:
    cells = math.prod(outcomes) * decisions
    if len(outcomes) > MOST_TARGETS or cells > MOST_CELLS:
        raise mistake(
            source,
            "reward.targets",
            f"{len(outcomes)} targets and {decisions} decisions have {shown(cells)} combinations; at most "
            f"{MOST_TARGETS} targets and {MOST_CELLS:,} combinations are read; name fewer targets",
        )
    return np.full((*outcomes, decisions), np.nan)


def _utilities(
    source: str, key: str, row: Any, targets: Mapping[str, Mapping[str, int]], decisions: Sequence[str]
) -> tuple[tuple[int | slice, ...], list[float]]:
    """Return the cells that one entry covers, and its numbers."""
    if not isinstance(row, Mapping):
        raise mistake(source, key, f"it is {shown(row)}; it must be a table with when and value; write both")
    check_fields(source, key, row, _UTILITY_FIELDS, required=("value",))
    when, value = row.get("when", {}), row["value"]
    check_names_in(source, f"{key}.when", when, list(targets), "a target of the reward")
    check_names_in(source, f"{key}.value", value, decisions, "a decision")
    index: list[int | slice] = []
    for name, places in targets.items():
        outcome = when.get(name)
        if name in when and (not isinstance(outcome, str) or outcome not in places):
            raise mistake(
                source,
                f"{key}.when.{name}",
                f"it is {shown(outcome)}; outcomes are {', '.join(places)}; choose one",
            )
        index.append(slice(None) if outcome is None else places[outcome])
    return tuple(index), [_utility(source, f"{key}.value.{decision}", value.get(decision)) for decision in decisions]


def _utility(source: str, key: str, number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST_NUMBER:
        raise mistake(source, key, f"it is {shown(number)}; it must be a finite number; give the utility")
    return float(number)


def _read_projection(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    scores, pieces = [], []
    for n, row in enumerate(_rows(source, entry, "scores")):
        check_fields(source, f"reward.scores[{n}]", row, _SCORE_FIELDS, required=("name", "weights"))
        check_names_in(source, f"reward.scores[{n}].weights", row["weights"], [test.name for test in tests], "a test")
        try:
            scores.append(Score(row["name"], row["weights"], row.get("offset", 0.0), row.get("unit", "")))
        except ProblemError as error:
            raise mistake(source, f"reward.scores[{n}]", str(error)) from error
    names, known = [score.name for score in scores], set(decisions)
    for n, row in enumerate(_rows(source, entry, "pieces")):
        key = f"reward.pieces[{n}]"
        check_fields(source, key, row, _PIECE_FIELDS, required=("decision",))
        for part in ("when", "slope", "at"):
            check_names_in(source, f"{key}.{part}", row.get(part, {}), names, "a score")
        if row["decision"] not in known:
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
            source, f"reward.{key}", f"it is {shown(rows)}; a projection needs a list of tables; write [[reward.{key}]]"
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
            row["when"] = {name: list(limits) for name, limits in piece.when.items()}
        row |= {key: dict(getattr(piece, key)) for key in ("slope", "at") if getattr(piece, key)}
        pieces.append(row)
    return {"kind": "projection", "scores": scores, "pieces": pieces}


_KINDS: dict[str, tuple[Kinds, _Reader]] = {
    "table": ({"targets": list, "utilities": list}, _read_table),
    "match": ({}, lambda source, entry, tests, decisions: Match()),
    "projection": ({"scores": list, "pieces": list}, _read_projection),
    "entropy": ({"scale": NUMBER}, _read_entropy),
}

_INTERNAL: dict[str, tuple[Kinds, _Reader]] = {
    "unstated": ({"of": str}, lambda source, entry, tests, decisions: Unstated(entry.get("of", "Function"))),
}
"""Kinds that policy files hold and nobody writes by hand."""

_WRITERS: dict[type, Callable[[Any, Sequence[Test], Sequence[str]], dict[str, Any]]] = {
    Table: _table_to_dict,
    Match: lambda reward, tests, decisions: {"kind": "match"},
    Projection: _projection_to_dict,
    Entropy: lambda reward, tests, decisions: {"kind": "entropy", "scale": reward.scale},
    Unstated: lambda reward, tests, decisions: {"kind": "unstated", "of": reward.of},
}
