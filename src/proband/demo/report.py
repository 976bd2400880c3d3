"""The demonstration as files: a figure, and a report in Markdown that shows it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from proband.demo.stream import Demonstration, curves
from proband.demo.wording import Cells, caution, cost_table, hindsight, regret_table, verdict, way, worth
from proband.figures import can_draw, draw_demo, save_figure
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
    return f"""{_paragraph(verdict(demonstration), caution(demonstration))}

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

{_markdown(regret_table(demonstration), words=2)}

{_paragraph(meaning, hindsight(demonstration))}"""


def _costs(demonstration: Demonstration) -> str:
    return f"""## A bolt on average, before and after learning ({demonstration.instance.problem.unit})

{_markdown(cost_table(demonstration), words=1)}

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

{_paragraph(origin, worth(demonstration))}

```
{text(demonstration.learned.tree())}
```

{_markdown(Cells(("how often a test is run", "learned plan", "clairvoyant"), rows), words=1)}"""


def _bolts(demonstration: Demonstration) -> str:
    unit = demonstration.instance.problem.unit
    lines = [f"- {way(journey, unit)}" for journey in demonstration.journeys]
    return "\n".join(["## Single bolts, under safe-leaf-completion", "", *lines])


def _paragraph(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 120, break_on_hyphens=False)


def _markdown(cells: Cells, *, words: int) -> str:
    """Return a table; the first columns are words, the others numbers."""
    rules = [":---"] * words + ["---:"] * (len(cells.headings) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells.headings, rules, *cells.rows))
