"""The demonstration in words, which the screen shares, and as files: a figure, and a report that shows it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from proband.agents import DEFAULT_AGENT
from proband.demo.stream import ETC, NAMES, Demonstration, Journey, log_spaced
from proband.figures import DemoCurves, can_draw, draw_demo, save_figure
from proband.policies.rendering import text

FIGURE = "demo.png"
REPORT = "report.md"


def write(demonstration: Demonstration, folder: Path) -> list[Path]:
    """Write the report, and the figure where matplotlib is installed, into a folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / REPORT).write_text(report(demonstration, figure=can_draw()), encoding="utf-8")
    if not can_draw():
        return [folder / REPORT]
    save_figure(draw_demo(curves(demonstration)), folder / FIGURE)
    return [folder / FIGURE, folder / REPORT]


def curves(demonstration: Demonstration) -> DemoCurves:
    """Return what the figure shows."""
    problem, subjects = demonstration.instance.problem, demonstration.subjects
    edges = np.concatenate([[0], log_spaced(subjects)])
    prices = {test.name: f"{test.name} ({test.cost:.2f})" for test in problem.tests}
    return DemoCurves(
        t=demonstration.runs[0].t,
        regret={run.name: run.regret for run in demonstration.learners},
        edges=edges,
        costs={run.name: run.means(run.cost, edges) for run in demonstration.learners},
        clairvoyant_cost=demonstration.clairvoyant.expected_cost,
        shares={prices[name]: shares for name, shares in demonstration.test_shares().items()},
        unit=problem.unit,
    )


def report(demonstration: Demonstration, *, figure: bool = True) -> str:
    """Return the report, which shows the figure beside it if there is one.

    Examples
    --------
    >>> from proband.demo import learn_online
    >>> report(learn_online(subjects=200)).splitlines()[0]
    '# Bolt inspection: three agents learn online'
    """
    shown = [f"![What was lost, what a bolt cost, which tests are run]({FIGURE})"] * figure
    rest = [section(demonstration) for section in (_regret, _costs, _plan, _bolts)]
    return "\n\n".join(["# Bolt inspection: three agents learn online", _summary(demonstration), *shown, *rest]) + "\n"


def _summary(demonstration: Demonstration) -> str:
    return f"""{paragraph(verdict(demonstration), caution(demonstration))}

A simulated stream of {demonstration.subjects:,} bolts, nine tests to choose from, one question: pass or fail?
Three agents inspect the same bolts, each on its own, and learn from what they see. Prices, rewards and the bolts' law
are illustrative.

- **explore-then-commit** (the paper's Algorithm 2) runs every test on a first part of the stream, and follows the plan
  of these records ever after;
- **doubling** starts explore-then-commit afresh in batches of 1, 2, 4, ... bolts;
- **safe-leaf-completion** (the library's default) learns from every bolt, however few of its tests were run, plans
  again and again, and has the remaining tests run where a wrong decision may cost more than they do."""


def _regret(demonstration: Demonstration) -> str:
    meaning = (
        "The clairvoyant knows the true law and plays the best plan from the first bolt on. What an agent loses to it "
        "is summed in expectation, exactly (pseudo-regret)."
    )
    return f"""## What was lost to the clairvoyant ({demonstration.instance.problem.unit})

{as_markdown(regret_table(demonstration), words=2)}

{paragraph(meaning, hindsight(demonstration))}"""


def _costs(demonstration: Demonstration) -> str:
    return f"""## A bolt on average, before and after learning ({demonstration.instance.problem.unit})

{as_markdown(cost_table(demonstration), words=1)}

Earned are rewards minus costs. Both are what happened in the stream, chance included; the expected loss to the
clairvoyant is exact. Cheaper is not better: a test left out may cost more than its price. And who has paid for more
complete records may well have the better plan in the end: what counts is the sum over all bolts, above."""


def _plan(demonstration: Demonstration) -> str:
    origin = (
        f"The plan of what it believes after {demonstration.subjects:,} bolts; probabilities and values are its own "
        "estimates."
    )
    rows = [
        (name, f"{100 * learned:.1f} %", f"{100 * best:.1f} %")
        for name, (learned, best) in demonstration.test_shares().items()
    ]
    return f"""## What safe-leaf-completion has learned

{paragraph(origin, worth(demonstration))}

```
{text(demonstration.learned.tree())}
```

{as_markdown(Cells(("how often a test is run", "learned plan", "clairvoyant"), rows), words=1)}"""


def _bolts(demonstration: Demonstration) -> str:
    unit = demonstration.instance.problem.unit
    lines = [f"- {way(journey, unit)}" for journey in demonstration.journeys]
    return "\n".join(["## Single bolts, under safe-leaf-completion", "", *lines])


def paragraph(*sentences: str) -> str:
    """Return sentences as one paragraph, wrapped."""
    return textwrap.fill(" ".join(filter(None, sentences)), 120, break_on_hyphens=False)


def as_markdown(cells: Cells, *, words: int) -> str:
    """Return a table; the first columns are words, the others numbers."""
    rules = [":---"] * words + ["---:"] * (len(cells.headings) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells.headings, rules, *cells.rows))


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
