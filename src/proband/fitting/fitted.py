"""What a fit found: a plan, what it is worth, and all that somebody who is to believe it wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from proband.distributions import Discrete
from proband.fitting.choosing import Score, Strength
from proband.fitting.leaves import Leaf, leaves_of, with_evidence
from proband.fitting.recipe import Made
from proband.planners.plans import Plan
from proband.planners.validation import Interval, Scores, Validation
from proband.policies import Tree
from proband.policies.nodes import Chance
from proband.problem import Problem
from proband.quantities import alike, amount, scaled
from proband.showing import Shown
from proband.vocabulary import FloatArray, IntArray, Records

__all__ = ["Chance", "Fit", "Interval", "Leaf", "Score", "Scores", "Strength", "Validation"]


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Shown):
    """A plan made from past subjects.

    Attributes
    ----------
    problem : Problem
        With the cuts that were chosen, where it left some to be chosen.
    records : Records
        Past subjects, in the outcomes of `problem`.
    law : Discrete
        Made for planning, not the frequencies of the table: what the plan believes of subjects.
    plan : Plan
        A policy; its `value` is what it believes to be worth.
    strength : Strength
        The penalty of small leaves that was used, with what others brought to subjects that were not seen.
    in_sample : float
        What the plan brings to the very rows that it was made from: more than it will bring to others.
    validation : Validation, optional
        What plans made in the same way bring to rows that they have not seen, with intervals; beside it testing
        everything, deciding at once, the best fixed set of tests, and a tree that is blind to prices. Everything that
        was chosen is chosen again without these rows. None if it was not asked for.
    notes : tuple of str
        What is to be known about the table and the fit, in sentences.
    """

    problem: Problem
    records: Records
    law: Discrete
    plan: Plan
    strength: Strength
    in_sample: float
    validation: Validation | None
    notes: tuple[str, ...]
    made: Made = field(repr=False)
    repeat: Callable[..., Fit] = field(repr=False)
    teach: Callable[[IntArray], tuple[Fit, FloatArray]] = field(repr=False)

    def __repr__(self) -> str:
        named, seen = f"{self.problem.name!r}: " * bool(self.problem.name), self.validation
        value = f"value {amount(self.in_sample, self.problem.unit)} in-sample"
        if seen is not None:
            found, times = seen.plan.value, scaled(self.problem.unit)[0]
            limits = " to ".join(alike(times * found.low, times * found.high))
            value = f"value {amount(seen.plan.value.mean, self.problem.unit)} ({limits}) cross-validated, {value[6:]}"
        return f"Fit({named}{value}, {self.records.n:,} subjects, by {self.plan.method})"

    @cached_property
    def tree(self) -> Tree:
        """The plan as a decision tree, with its law, and what each leaf rests on."""
        return with_evidence(self.plan.tree(), self.made.engine.grid, self.made.learned.sample)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the tree: how many subjects came there, what is likely of them, and what is decided."""
        return leaves_of(self.tree)

    def again(self, problem: Problem | None = None, records: Any = None) -> Fit:
        """Return the same recipe on another problem (other prices, say) or on other rows, quickly: not validated.

        The strength of the penalty stays. `Records` are of outcomes, by the cuts that were chosen; from a table these
        are chosen again.
        """
        return self.repeat(problem, records)

    def taught(self, rows: IntArray) -> tuple[Fit, FloatArray]:
        """Return the fit to some of the subjects alone, by number, all that is chosen chosen again: cuts, strength.

        With it come all subjects (n, d), in the outcomes of its own problem.
        """
        return self.teach(rows)
