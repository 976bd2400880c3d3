"""Values, rivals and trees as blocks: what reports and notebooks show alike."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from proband.planners.validation import LEVEL, Interval, Validation
from proband.policies import Tree
from proband.policies.rendering import text
from proband.quantities import alike, amount, percent, said, scaled
from proband.reporting.blocks import Block, Grid, Picture, Preformatted, Said, Tiles

if TYPE_CHECKING:
    from proband.reporting.report import Report

PAPER = 8.0, 9.0
"""Inches of a part of the tree; it is a little reduced where a sheet is narrower."""
RIVALS = {"everything": "testing everything", "now": "deciding at once"}
MOST_DECISIONS = 8


def in_heading(unit: str) -> str:
    """Return a unit as it stands in a heading.

    Examples
    --------
    >>> in_heading("100 EUR"), in_heading("")
    (' (EUR)', '')
    """
    return f" ({scaled(unit)[1]})" if unit else ""


def share(part: float) -> str:
    """Return a probability as a percentage.

    Examples
    --------
    >>> share(0.98765), share(9.08e-8), share(float("nan"))
    ('98.8 %', 'under 0.01 %', '–')
    """
    return "–" if math.isnan(part) else percent(part)


def limits(found: Interval, times: float = 1.0) -> str:
    """Return an interval in words, so many times as large.

    Examples
    --------
    >>> limits(Interval(0.0, 1.0, -1.645, 1.645))
    '−1.65 to 1.65'
    """
    return " to ".join(alike(times * found.low, times * found.high))


def with_limits(found: Interval, times: float = 1.0) -> tuple[str, str]:
    """Return a mean and its interval, so many times as large, each as exact as the others.

    Examples
    --------
    >>> with_limits(Interval(-0.00648, 0.4, -0.643, 0.639))
    ('−0.006', '−0.643 to 0.639')
    """
    mean, low, high = alike(times * found.mean, times * found.low, times * found.high)
    return mean, f"{low} to {high}"


def values(report: Report) -> Iterator[Block]:
    """Yield what a plan is worth: the value to believe first, and its rivals."""
    seen, unit = report.validation, report.problem.unit
    facts = [] if seen is None else [("value, cross-validated", amount(seen.plan.value.mean, unit))]
    if report.in_sample is not None:
        facts.append(("value, in-sample", amount(report.in_sample, unit)))
    if report.in_sample != report.value:
        facts.append(("value, by its law", amount(report.value, unit)))
    facts.append(("cost of tests", amount(report.expected_cost, unit)))
    yield Tiles([*facts, ("tests a subject", said(report.expected_tests, 3))])
    yield Said(f"All amounts are those of one subject, rewards minus costs. {decisions(report.decisions)}")
    if seen is not None:
        yield from rivals(seen, unit)
    elif report.in_sample is not None:
        yield Said("The value is in-sample: new subjects may bring far less. No cross-validation was asked for.", True)


def decisions(shares: Mapping[str, float]) -> str:
    """Return how often each decision is taken, in a sentence.

    Examples
    --------
    >>> decisions({"pass": 0.75, "fail": 0.25})
    'Decisions: pass 75 %, fail 25 %.'
    """
    told = [f"{name} {share(part)}" for name, part in list(shares.items())[:MOST_DECISIONS]]
    more = f", and {len(shares) - MOST_DECISIONS:,} more" if len(shares) > MOST_DECISIONS else ""
    return f"Decisions: {', '.join(told)}{more}."


def rivals(seen: Validation, unit: str) -> Iterator[Block]:
    """Yield what plans and their rivals brought to rows that they had not seen."""
    rows, times, of = [], scaled(unit)[0], in_heading(unit)
    for name, scores in {"this plan": seen.plan, **seen.others}.items():
        ahead = ("", "") if scores.ahead is None else with_limits(scores.ahead, times)
        brought = said(times * scores.value.mean), limits(scores.value, times)
        rows.append((RIVALS.get(name, name), *brought, *ahead, said(times * scores.cost), said(scores.tests, 3)))
    level = f"{100 * LEVEL:.0f} % interval"
    headings = ["on rows that it has not seen", f"value{of}", level, f"the plan is ahead by{of}", level]
    yield Grid([*headings, f"cost of tests{of}", "tests"], rows)
    yield Said(
        f"Each of {seen.scored:,} rows was treated by a plan that was made without it ({seen.folds} folds), and so by "
        "the others, which decide by the same law."
        + (f" {seen.left_out:,} incomplete rows cannot be treated." if seen.left_out else "")
    )


def tree_picture(tree: Tree) -> Picture:
    """Return the picture of a tree, in parts that fit a sheet of A4."""

    def draw() -> list[Any]:
        from proband.figures.tree_parts import draw_part, parts

        return [draw_part(part) for part in parts(tree, room=PAPER)]

    return Picture(draw, [Preformatted(text(tree))])
