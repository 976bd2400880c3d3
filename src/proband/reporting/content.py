"""What a report says, in its order, as blocks: the words stand here and nowhere else."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import proband
from proband.planners.validation import LEVEL
from proband.policies.rules import sentences
from proband.policies.rules.places import places
from proband.quantities import amount, percents, said, scaled
from proband.reporting.blocks import Block, Grid, Heading, Listing, Picture, Said
from proband.reporting.curve import Point
from proband.reporting.values import in_heading, share, tree_picture, values, with_limits
from proband.reporting.worth import TestWorth

if TYPE_CHECKING:
    from proband.figures.weighing import PriceCurve
    from proband.reporting.report import HeldOut, Report

MOST_NODES = 400
MOST_PLACES = 15
MOST_SENTENCES = 60


def title(report: Report) -> str:
    """Return the title of a report."""
    return f"{report.problem.name or 'A plan'}: report"


def content(report: Report) -> Iterator[Block]:
    """Yield the blocks of a report."""
    yield Heading(title(report), 1)
    yield Said(f"proband {proband.__version__}; {'plan by ' if report.curve else ''}{report.method}")
    yield from values(report)
    yield from _notes(report)
    yield from _tree(report)
    if report.curve:
        yield from _curve(report)
        yield from _tests(report)
    if report.held_out is not None:
        yield from _calibration(report.held_out)
        yield from _mistakes(report, report.held_out)
    yield from _rules(report)


def _notes(report: Report) -> Iterator[Block]:
    if report.notes:
        yield Heading("What is to be known of the table")
        yield Listing(report.notes)


def _tree(report: Report) -> Iterator[Block]:
    yield Heading("The tree")
    nodes = sum(1 for _ in report.tree.nodes())
    if nodes <= MOST_NODES:
        yield tree_picture(report.tree)
        yield from _leaves(report)
        return
    yield Said(
        f"The tree has {nodes:,} nodes, too many to be read here. proband plan --tree plan.pdf writes up to a thousand "
        "leaves on sheets of A4; the sentences at the end tell the most frequent ways."
    )


def _leaves(report: Report) -> Iterator[Block]:
    """Yield on how many subjects each leaf rests, the most frequent first."""
    problem, rows = report.problem, []
    leaves = sorted(
        (place for place in places(report.tree) if place.node.evidence is not None),
        key=lambda place: -place.node.probability,
    )
    for node, path in ((place.node, place.path) for place in leaves[:MOST_SENTENCES]):
        assert node.evidence is not None
        chance = node.evidence.outcomes[node.evidence.matters]
        known = "; ".join(f"{problem.tests[i].name}: {problem.tests[i].names[b]}" for i, b in path) or "nothing"
        between = percents(chance.low, chance.high)
        told = node.evidence.matters, share(chance.probability), between, said(node.evidence.count, 3)
        rows.append((known, problem.action_name(node.action), *told))
    if rows:
        most = f" The {len(rows)} most frequent ways of {len(leaves):,}." if len(rows) < len(leaves) else ""
        yield Said(
            "On how many rows of the table each decision rests, and how probable the label is by which it loses most, "
            f"with an interval from these rows alone.{most}"
        )
        headings = ["known in the end", "decided", "label", "probability", f"{100 * LEVEL:.0f} % interval", "rows"]
        yield Grid(headings, rows, words=3)


def _curve(report: Report) -> Iterator[Block]:
    yield Heading("Testing more, or less")
    yield Said(
        "All prices were multiplied, and the plan was made again: where tests are cheap more of them are run, and "
        "fewer decisions are wrong. Each plan is counted at the present prices. A wrong decision costs what the best "
        "one would have brought more."
    )
    held = report.held_out
    points = report.curve if held is None else held.curve
    unit = in_heading(report.problem.unit)
    headings = ["prices", f"cost of tests{unit}", "tests", f"cost of wrong decisions{unit}", "best decisions"]
    yield Picture(lambda: [_draw_curve(report)])
    yield Grid([*headings, f"both costs{unit}"], list(_rows_of(points, scaled(report.problem.unit)[0])))
    if held is not None:
        yield Said("The table, and the line in colour, are of rows that the plans had not seen.")


def _rows_of(points: Sequence[Point], times: float) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a curve; neighbours that are alike share one."""
    from proband.figures.weighing import factor

    numbers = [
        (said(times * p.cost), said(p.tests, 3), said(times * p.lost), share(p.right), said(times * (p.cost + p.lost)))
        for p in points
    ]
    for same, group in itertools.groupby(range(len(points)), key=numbers.__getitem__):
        names = ["present" if points[n].multiplier == 1 else factor(points[n].multiplier) for n in group]
        now = " (present among them)" if "present" in names[1:-1] else ""
        yield (names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}{now}"), *same


def _draw_curve(report: Report) -> Any:
    from proband.figures.weighing import draw_price_curves

    times, unit = scaled(report.problem.unit)
    law = _price_curve("by its law", report.curve, times)
    seen = [] if report.held_out is None else [_price_curve("rows not seen", report.held_out.curve, times)]
    return draw_price_curves([*seen, law], unit=unit)


def _price_curve(name: str, points: Sequence[Point], times: float) -> PriceCurve:
    from proband.figures.weighing import PriceCurve

    columns = zip(*((p.multiplier, times * p.cost, times * p.lost, p.right) for p in points), strict=True)
    return PriceCurve(name, *(np.array(column) for column in columns))


def _tests(report: Report) -> Iterator[Block]:
    held, times = report.held_out, scaled(report.problem.unit)[0]
    yield Heading("What each test is worth")
    yield Said(
        "Worth: what the plan brings more than the best one without this test, which the others replace as well as "
        "they can. Alone: what the best plan with no other test to be run brings more than deciding at once. Run up "
        "to: the price above which it would be run on nobody, all other prices as they are (found by planning "
        "again, to half a per cent)."
        + ("" if held is None else " Worth is counted on rows that the plans had not seen; all else by the law.")
    )
    unit = in_heading(report.problem.unit)
    headings = ["test", "now", f"price{unit}", f"run up to{unit}", "run on", f"worth{unit}"]
    between = [] if held is None else [f"{100 * LEVEL:.0f} % interval"]
    yield Grid([*headings, *between, f"alone{unit}"], [_test(one, held, times) for one in report.tests], words=2)
    priced = [one for one in report.tests if not one.on_arrival]
    if priced:
        yield Picture(lambda: [_drawlimits(report, priced)])
    if report.places:
        yield Said(
            "Where tests are run, and what going on there brings more than deciding at once, the price of the test "
            "taken off (the most first):"
        )
        rows = [
            (
                one.test,
                "; ".join(f"{name}: {outcome}" for name, outcome in one.known) or "nothing yet",
                one.instead,
                share(one.share),
                said(times * one.price),
                said(times * one.gain),
            )
            for one in report.places[:MOST_PLACES]
        ]
        yield Grid(["test", "known there", "else decide", "subjects", f"price{unit}", f"gain{unit}"], rows, words=3)


def _test(one: TestWorth, held: HeldOut | None, times: float) -> tuple[str, ...]:
    price = (
        "on arrival"
        if one.on_arrival
        else said(times * one.price) + (f" ({said(times * one.within)} in its group)" if one.within is not None else "")
    )
    if one.on_arrival:
        state, limit = "known", ""
    elif one.run_up_to is None:
        state, limit = "not run", "at no price"
    else:
        state = "run" if one.share > 0 else "not run"
        limit = "any price" if np.isinf(one.run_up_to) else said(times * one.run_up_to, 3)
    worth, alone = (said(0.0 if abs(gain) < 1e-9 else times * gain, 3) for gain in (one.worth, one.alone))
    numbers = [worth]
    if held is not None:
        seen = held.worth.get(one.test)
        numbers = ["", ""] if seen is None else [*with_limits(seen, times)]
    return one.test, state, price, limit, share(one.share), *numbers, alone


def _drawlimits(report: Report, priced: Sequence[TestWorth]) -> Any:

    from proband.figures.weighing import draw_price_limits

    times, unit = scaled(report.problem.unit)
    limits = times * np.array([np.nan if one.run_up_to is None else one.run_up_to for one in priced])
    prices = times * np.array([one.price for one in priced])
    return draw_price_limits([one.test for one in priced], prices, limits, unit=unit)


def _calibration(held: HeldOut) -> Iterator[Block]:
    yield Heading("Are chances as told?")
    yield Said(
        f"How often it turned out that {held.calibration.event}, among {held.rows:,} complete rows in groups by the "
        f"probability that they were told at the end of their way, by a law that was learned without them "
        f"({held.folds} folds). Where intervals meet the told probability, nothing speaks against it."
    )
    groups = held.calibration.groups
    yield Picture(lambda: [_draw_calibration(held)])
    rows = [
        (f"{one.rows:,}", share(one.told), share(one.observed), f"{share(one.low)} to {share(one.high)}")
        for one in groups
    ]
    yield Grid(["rows", "told", "observed", f"{100 * LEVEL:.0f} % interval"], rows, words=0)


def _draw_calibration(held: HeldOut) -> Any:
    from proband.figures.weighing import draw_calibration

    groups = held.calibration.groups
    told, seen, low, high = (
        np.array(column) for column in zip(*((g.told, g.observed, g.low, g.high) for g in groups), strict=True)
    )
    event = held.calibration.event
    return draw_calibration(told, seen, low, high, event=event[0].upper() + event[1:])


def _mistakes(report: Report, held: HeldOut) -> Iterator[Block]:
    yield Heading("Who is decided wrongly")
    incomplete = f"; {held.left_out:,} incomplete ones cannot be judged" if held.left_out else ""
    yield Said(
        f"{held.wrong:,} of {held.rows:,} rows ({share(held.wrong / held.rows)}) were decided wrongly by plans that "
        f"had not seen them, which lost {amount(held.lost, report.problem.unit)} in all{incomplete}."
        + (f" The {len(held.mistakes)} worst:" if held.wrong > len(held.mistakes) else "")
    )
    times, unit = scaled(report.problem.unit)[0], in_heading(report.problem.unit)
    rows = [
        (
            one.row,
            "; ".join(f"{name}: {outcome}" for name, outcome in one.known) or "nothing",
            one.decision,
            one.better,
            said(times * one.lost),
            said(times * one.paid),
            share(one.told),
        )
        for one in held.mistakes
    ]
    headings = ["row", "known in the end", "decided", "better", f"lost{unit}", f"tests{unit}", "told to be right"]
    if rows:
        yield Grid(headings, rows, words=4)


def _rules(report: Report) -> Iterator[Block]:
    lines = sentences(report.tree).splitlines()
    yield Heading("The tree in sentences")
    first, *rest = lines if len(lines) > 1 else ["", *lines]
    if len(rest) > MOST_SENTENCES:
        often = [-place.node.probability for place in places(report.tree) if not place.node.children]
        yield Said(f"The {MOST_SENTENCES} most frequent ones of {len(rest):,}; proband rules writes all of them.")
        rest = [rest[n] for n in np.argsort(often, kind="stable")[:MOST_SENTENCES]]
    if first:
        yield Said(first)
    yield Listing([line.partition(". ")[2] if first else line for line in rest], numbered=bool(first))
