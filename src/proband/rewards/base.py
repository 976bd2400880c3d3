"""What rewards share: the base of those of this library, and of others' that files hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from proband.checking import FieldTypes
from proband.errors import ProblemError
from proband.vocabulary import FloatArray, IntArray, Kind, Pooling, Test


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
