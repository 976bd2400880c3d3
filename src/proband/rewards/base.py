"""What rewards share: the base of those of this library and of others' that files hold, and the list of these.

Each reads and writes itself. Another package adds its own by an entry point of the group ``proband.rewards``, named as
its `kind` in files. A file chooses among these names alone: what stands in it is data, and never says what is to be
imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from proband.checking import FieldTypes, Findings, check_fields, mistake
from proband.errors import ProblemError
from proband.registries import Registry
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, Reward, Test


class BaseReward(ABC):
    """A reward of listed outcomes, pooled by sums, unless told otherwise; only `payoff` is to be written.

    Attributes
    ----------
    name : str
        Its kind in problem files: the name under which it is registered (:data:`~proband.rewards.REWARDS`).
    fields : mapping of str to type
        What its table in a problem file holds beside ``kind``, and of which types: the arguments of the class, unless
        `from_dict` and `to_dict` know better.
    required : tuple of str
        Those that must be there.
    default_decisions : tuple of str
        The decisions of a problem file that names none.
    """

    kind: ClassVar[Kind] = Kind.LISTED
    pooling: ClassVar[Pooling] = Pooling.SUM
    name: ClassVar[str] = ""
    fields: ClassVar[FieldTypes] = {}
    required: ClassVar[tuple[str, ...]] = ()
    default_decisions: ClassVar[tuple[str, ...]] = ()

    def check(self, tests: Sequence[Test], decisions: Sequence[str]) -> None:
        """Raise if there is nothing to decide."""
        if not decisions:
            raise ProblemError('decisions are missing; name one or more, such as ("pass", "fail")')

    def depends_on(self, tests: Sequence[Test]) -> IntArray:
        """Return the tests that f(x, y) may depend on: all, unless a reward knows better."""
        return np.arange(len(tests))

    @abstractmethod
    def payoff(self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray) -> FloatArray:
        """Return f(x, y) for every row and decision, shape (n, decisions)."""

    def realised(
        self, tests: Sequence[Test], decisions: Sequence[str], rows: FloatArray, chosen: IntArray
    ) -> FloatArray:
        """Return f(x, y) for each row and its chosen decision, shape (n,)."""
        return np.take_along_axis(self.payoff(tests, decisions, rows), chosen[:, None], axis=1)[:, 0]

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str], *, source: str
    ) -> Self:
        """Build the reward from its table in a problem file, whose fields are of the right types."""
        return cls(**{name: content[name] for name in cls.fields if name in content})

    def to_dict(self, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
        """Return the reward's table in a problem file, but for its kind."""
        return {name: getattr(self, name) for name in self.fields}


REWARDS = Registry[type[BaseReward]](
    "proband.rewards",
    "reward",
    ProblemError,
    {
        "table": "proband.rewards.table:Table",
        "match": "proband.rewards.listed:Match",
        "projection": "proband.rewards.projection:Projection",
        "entropy": "proband.rewards.entropy:Entropy",
        "unstated": "proband.rewards.listed:Unstated",
    },
)
"""Rewards by their kind in files."""


def default_decisions(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the decisions of a problem file that names none, by its table [reward]."""
    kind = entry.get("kind")
    return REWARDS[kind].default_decisions if isinstance(kind, str) and kind in REWARDS else ()


def check_reward(source: str, entry: Mapping[str, Any]) -> None:
    """Raise unless the table [reward] is of a known kind, and has the fields of that, whatever stands in them."""
    named = {key: value for key, value in entry.items() if key == "kind"}
    check_fields(source, "reward", named, {"kind": str}, required=("kind",))
    kind, known = entry["kind"], [kind for kind in REWARDS if kind != "unstated"]  # which nobody writes by hand
    if kind not in REWARDS:
        raise mistake(source, "reward.kind", f"it is {kind!r}; kinds are {', '.join(known)}; choose one")
    found, fields = Findings(source), {"kind": str, **REWARDS[kind].fields}
    own = dict(entry)
    for key in [key for key in entry if key not in fields]:
        owner = next((other for other in known if key in REWARDS[other].fields), None)
        if owner is not None:
            said = f'a reward of kind {kind!r} has no such field; remove it, or use kind = "{owner}"'
            found.add(mistake(source, f"reward.{key}", said))
            del own[key]
    required = REWARDS[kind].required if len(own) == len(entry) else ()
    found.passes(check_fields, source, "reward", own, fields, required=required)
    found.check()


def read_reward(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    """Read the table [reward]."""
    check_reward(source, entry)
    try:
        reward = REWARDS[entry["kind"]].from_dict(entry, tests, decisions, source=source)
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

    With `unstated`, a reward that no file can hold is named, as that of a policy file, which acts without it.
    """
    name = reward.name if isinstance(reward, BaseReward) else ""
    if name in REWARDS and REWARDS[name] is type(reward):  # no base class: what a subclass changes would be lost
        return {"kind": name, **reward.to_dict(tests, decisions)}
    if unstated:
        return {"kind": "unstated", "of": type(reward).__name__}
    raise ProblemError(
        f"the reward is {type(reward).__name__}; a file holds no Python function; write the reward as a table over its "
        "target tests, or as a projection"
    )
