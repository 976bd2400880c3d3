"""A table of utilities: the reward of confusions.

Examples
--------
>>> from proband import Test
>>> tests = [Test("crack", 1.0, outcomes=("none", "deep"))]
>>> reward = Table(["crack"], [[1.0, -0.2], [-20.0, -0.2]])
>>> reward.payoff(tests, ("pass", "fail"), np.array([[0.0], [1.0]]))
array([[  1. ,  -0.2],
       [-20. ,  -0.2]])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from proband.checking import FieldTypes, Findings, check_fields, check_names, check_names_in, mistake
from proband.errors import ProblemError, shown
from proband.files import LARGEST_NUMBER, MOST_CELLS, MOST_TARGETS
from proband.rewards.base import BaseReward
from proband.vocabulary import FloatArray, IntArray, Test

_ENTRY: FieldTypes = {"when": dict, "value": dict}


@dataclass(frozen=True, eq=False)
class Table(BaseReward):
    """A utility for each combination of target outcomes and each decision (confusion costs).

    Parameters
    ----------
    targets : sequence of str
        Names of the tests on which the reward depends.
    utilities : array_like of shape (k_1, ..., k_j, decisions)
        One axis for each target, in their order, then one for the decisions.
    """

    targets: tuple[str, ...]
    utilities: FloatArray

    name = "table"
    fields: ClassVar[FieldTypes] = {"targets": list, "utilities": list}

    def __init__(self, targets: Sequence[str], utilities: ArrayLike) -> None:
        if isinstance(targets, str):
            raise ProblemError(f"targets are {targets!r}; they must be a list of names; write [{targets!r}]")
        table = np.array(utilities, dtype=np.float64)
        if not np.isfinite(table).all():
            raise ProblemError("a utility is not finite; utilities must be finite numbers; replace NaN and infinities")
        table.setflags(write=False)
        object.__setattr__(self, "targets", tuple(targets))
        object.__setattr__(self, "utilities", table)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.targets == other.targets and np.array_equal(self.utilities, other.utilities)

    def __hash__(self) -> int:
        return hash((self.targets, self.utilities.tobytes()))

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if the targets are no tests, or the table has not one entry for each combination."""
        super().check(tests, decisions)
        names = [test.name for test in tests]
        unknown = [target for target in self.targets if target not in names]
        if not self.targets or unknown or len(set(self.targets)) < len(self.targets):
            raise ProblemError(
                f"the reward's targets are {list(self.targets)}; they must be one or more different tests of "
                f"{names}; correct {unknown or 'the list'}"
            )
        shape = (*(tests[names.index(target)].k for target in self.targets), len(decisions))
        if self.utilities.shape != shape:
            raise ProblemError(
                f"the utilities have shape {self.utilities.shape}; with targets {list(self.targets)} and "
                f"{len(decisions)} decisions it must be {shape}; give one number for each combination"
            )

    def depends_on(self, tests: Sequence[Test]) -> IntArray:
        """Return the targets."""
        names = [test.name for test in tests]
        return np.array([names.index(target) for target in self.targets], dtype=np.int64)

    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return f(x, y) for every row and decision, shape (n, decisions)."""
        columns = tuple(rows[:, i].astype(np.int64) for i in self.depends_on(tests))
        return self.utilities[columns]

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str], *, source: str
    ) -> Self:
        """Build the reward from its table in a problem file."""
        found = Findings(source)
        for key in ("targets", "utilities"):
            if not content.get(key):
                found.add(mistake(source, f"reward.{key}", "it is missing or empty; a table reward needs it; add it"))
        found.check()
        by_name = {test.name: test for test in tests}
        targets = content["targets"]
        wrong = [target for target in targets if not isinstance(target, str) or target not in by_name]
        if wrong:
            raise mistake(
                source, "reward.targets", f"{shown(wrong)} are no tests; name tests of {list(by_name)}; correct them"
            )
        check_names(source, "reward.targets", targets)
        utilities = _empty_table(source, [by_name[target].k for target in targets], len(decisions))
        places = [{outcome: b for b, outcome in enumerate(by_name[target].names)} for target in targets]
        given = dict(zip(targets, places, strict=True))
        rows = [
            found.of(_utilities, source, f"reward.utilities[{n}]", row, given, decisions)
            for n, row in enumerate(content["utilities"])
        ]
        found.check()
        for index, numbers in reversed(
            [row for row in rows if row is not None]
        ):  # an earlier entry covers what a later one covers too
            utilities[index] = numbers
        if np.isnan(utilities).any():
            cell = np.argwhere(np.isnan(utilities))[0]
            missing = {t: by_name[t].names[b] for t, b in zip(targets, cell[:-1], strict=True)}
            raise mistake(source, "reward.utilities", f"no entry covers {missing}; every combination needs one; add it")
        return cls(targets, utilities)

    def to_dict(self, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
        """Return the reward's table in a problem file."""
        by_name = {test.name: test for test in tests}
        utilities = [
            {
                "when": {target: by_name[target].names[b] for target, b in zip(self.targets, cell, strict=True)},
                "value": dict(zip(decisions, self.utilities[cell].tolist(), strict=True)),
            }
            for cell in itertools.product(*(range(by_name[target].k) for target in self.targets))
        ]
        return {"targets": list(self.targets), "utilities": utilities}


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
    check_fields(source, key, row, _ENTRY, required=("value",))
    when, value, found = row.get("when", {}), row["value"], Findings(source)
    found.passes(check_names_in, source, f"{key}.when", when, list(targets), "a target of the reward")
    found.passes(check_names_in, source, f"{key}.value", value, decisions, "a decision")
    found.check()
    index: list[int | slice] = []
    for name, places in targets.items():
        outcome = when.get(name)
        if name in when and (not isinstance(outcome, str) or outcome not in places):
            said = f"it is {shown(outcome)}; outcomes are {', '.join(places)}; choose one"
            found.add(mistake(source, f"{key}.when.{name}", said))
        else:
            index.append(slice(None) if outcome is None else places[outcome])
    numbers = [found.of(_utility, source, f"{key}.value.{y}", value.get(y)) for y in decisions]
    found.check()
    return tuple(index), [number for number in numbers if number is not None]


def _utility(source: str, key: str, number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST_NUMBER:
        raise mistake(source, key, f"it is {shown(number)}; it must be a finite number; give the utility")
    return float(number)
