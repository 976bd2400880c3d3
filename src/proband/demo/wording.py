"""What the demonstration found, in the words that the screen and the report share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proband.agents import DEFAULT_AGENT
from proband.demo.journeys import Journey
from proband.demo.stream import ETC, NAMES, Demonstration


@dataclass(frozen=True)
class Cells:
    """A table as people read it: a heading for each column, rows of words."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def regret_table(demonstration: Demonstration) -> Cells:
    """Return what each agent lost to the clairvoyant along the stream.

    Examples
    --------
    >>> from proband.demo import learn_online
    >>> regret_table(learn_online(subjects=200)).rows[0]
    ('explore-then-commit', 'yes', '11', '108', '1,079', '100 %')
    """
    marks = demonstration.marks
    headings = ("agent", "told the length", *(f"{t:,} bolts" for t in marks), "of the first")
    rows = [
        (
            run.name,
            "yes" if run.name == ETC else "no",
            *(f"{run.after(run.regret, t):,.0f}" for t in marks),
            f"{100 * demonstration.share(run):.0f} %",
        )
        for run in demonstration.learners
    ]
    return Cells(headings, rows)


def cost_table(demonstration: Demonstration) -> Cells:
    """Return what a bolt cost and earned on average, over the first and the last stretch of the stream."""
    first, last = f"first {demonstration.first:,}", f"last {demonstration.last:,}"
    headings = (
        "agent",
        *(f"tests cost, {stretch}" for stretch in (first, last)),
        *(f"earned, {stretch}" for stretch in (first, last)),
        f"expected loss, {last}",
    )
    rows = []
    for run in demonstration.runs:
        costs, earned = (demonstration.stretches(run, figure) for figure in (run.cost, run.earned))
        _, loss = demonstration.stretches(run, run.regret)
        rows.append((run.name, *(f"{mean:.2f}" for mean in (*costs, *earned)), f"{loss:.3f}"))
    return Cells(headings, rows)


def verdict(demonstration: Demonstration) -> str:
    """Return what the default agent's learning cost beside explore-then-commit's."""
    run = demonstration.runs[NAMES.index(DEFAULT_AGENT)]
    return (
        f"Over {demonstration.subjects:,} bolts {run.name} lost {run.regret[-1]:,.0f} "
        f"{demonstration.instance.problem.unit} to the clairvoyant: {100 * demonstration.share(run):.0f} % of what "
        f"{ETC} lost, without being told how many bolts will come."
    )


def hindsight(demonstration: Demonstration) -> str:
    """Return how much of that is owed to the length of explore-then-commit's exploration."""
    length, regret = demonstration.hindsight
    return (
        f"The paper's formula, which does not know the prices, had {ETC} test {demonstration.exploration:,} bolts "
        f"completely. In hindsight {length:,} (the best of 100, 200, 400, ...) would have lost {regret:,.0f} "
        f"{demonstration.instance.problem.unit} on this stream; nobody knows that number beforehand."
    )


def worth(demonstration: Demonstration) -> str:
    """Return what the learned plan promises, and what it is worth."""
    promised, true = demonstration.learned.value, demonstration.truth.value
    return (
        f"It promises {promised:.3f} {demonstration.instance.problem.unit} a bolt and is truly worth {true:.3f}; "
        f"the clairvoyant's plan is worth {demonstration.clairvoyant.value:.3f}. To go on learning, the agent has all "
        f"tests run on {100 * demonstration.completing:.1f} % of the bolts to come."
    )


def caution(demonstration: Demonstration) -> str:
    """Return what one stream can show, and what it cannot."""
    return (
        f"This is one stream from one seed ({demonstration.seed}): an illustration, not a measurement. The default "
        "agent's figures move a good deal from seed to seed (--seed)."
    )


def way(journey: Journey, unit: str) -> str:
    """Return what happened to one bolt, in a line.

    Examples
    --------
    >>> way(Journey(7, (("bolt weight", "light"),), "fail", 0.05, False), "USD")
    'bolt 7: bolt weight light → fail (0.05 USD)'
    """
    steps = " → ".join([*(f"{name} {outcome}" for name, outcome in journey.steps), journey.decision])
    completed = "; the plan would have stopped earlier, a coin had it completed" if journey.explored else ""
    return f"bolt {journey.number:,}: {steps} ({journey.paid:.2f} {unit}{completed})"
