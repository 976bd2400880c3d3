"""Rewards in problem files: each reads and writes itself; here is the list of those that can.

Another package adds its own by an entry point of the group ``proband.rewards``, named as its `kind` in files. A file
chooses among these names alone: what stands in it is data, and never says what is to be imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from proband.checking import FieldTypes, check_fields, mistake
from proband.errors import ProblemError
from proband.registries import Registry
from proband.vocabulary import Reward, Test


@runtime_checkable
class FileReward(Reward, Protocol):
    """A reward that reads and writes itself; :class:`~proband.rewards.base.BaseReward` has most of it."""

    fields: ClassVar[FieldTypes]
    default_decisions: ClassVar[tuple[str, ...]]

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str], *, source: str = "problem"
    ) -> Self:
        """Build the reward from its table in a problem file, whose fields are of the right types; `source` is that."""
        ...

    def to_dict(self, tests: Sequence[Test], decisions: Sequence[str]) -> dict[str, Any]:
        """Return the reward's table in a problem file, its ``kind`` included."""
        ...


REWARDS = Registry[type[FileReward]](
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


def read_reward(source: str, entry: Mapping[str, Any], tests: Sequence[Test], decisions: Sequence[str]) -> Reward:
    """Read the table [reward]."""
    named = {key: value for key, value in entry.items() if key == "kind"}
    check_fields(source, "reward", named, {"kind": str}, required=("kind",))
    kind, known = entry["kind"], [kind for kind in REWARDS if kind != "unstated"]  # which nobody writes by hand
    if kind not in REWARDS:
        raise mistake(source, "reward.kind", f"it is {kind!r}; kinds are {', '.join(known)}; choose one")
    fields = {"kind": str, **REWARDS[kind].fields}
    for key in entry.keys() - fields.keys():
        owner = next((other for other in known if key in REWARDS[other].fields), None)
        if owner is not None:
            raise mistake(
                source,
                f"reward.{key}",
                f'a reward of kind {kind!r} has no such field; remove it, or use kind = "{owner}"',
            )
    check_fields(source, "reward", entry, fields, required=())
    try:
        reward = REWARDS[kind].from_dict(entry, tests, decisions, source=source)
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
    if isinstance(reward, FileReward):
        content = reward.to_dict(tests, decisions)
        # Not that of a base class: what a subclass changes would be lost.
        if content["kind"] in REWARDS and REWARDS[content["kind"]] is type(reward):
            return content
    if unstated:
        return {"kind": "unstated", "of": type(reward).__name__}
    raise ProblemError(
        f"the reward is {type(reward).__name__}; a file holds no Python function; write the reward as a table over its "
        "target tests, or as a projection"
    )
