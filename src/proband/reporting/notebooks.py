"""What notebooks show of problems, plans, trees, records and the rest: the blocks of reports, as a piece of HTML."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from proband.experiments.summary import Summary as RunSummary
from proband.figures import draw_plan
from proband.fitting import Fit
from proband.planners import Evaluation, Plan
from proband.planners.validation import Validation
from proband.policies import Tree
from proband.problem import Problem
from proband.quantities import amount, said, scaled
from proband.reporting.blocks import Block, Grid, Heading, Listing, Picture, Said, Tiles
from proband.reporting.content import content
from proband.reporting.report import Report
from proband.reporting.values import decisions, in_heading, rivals, share, tree_picture
from proband.reporting.writing import as_fragment
from proband.rewards import Table
from proband.studies import Advice, Summary
from proband.vocabulary import Kind, Records, Test

MOST_ROWS = 10
MOST_COLUMNS = 20
MOST_LEAVES = 60
MOST_PLANNED = 2_000
"""Nodes of a plan's tree that is grown to be shown."""


def html_of(thing: Any) -> str:
    """Return how a thing looks in a notebook.

    Examples
    --------
    >>> from proband.instances import bolts
    >>> html_of(bolts().problem).count("<tr>")
    19
    """
    return as_fragment(blocks_of(thing))


@singledispatch
def blocks_of(thing: Any) -> Iterator[Block]:
    """Yield what is shown of a thing."""
    yield Said(repr(thing))


@blocks_of.register
def _problem(problem: Problem) -> Iterator[Block]:
    times, of = scaled(problem.unit)[0], in_heading(problem.unit)
    yield Heading(problem.name or "Problem", 3)
    headings = ["test", "outcomes", "how", f"price{of}", f"in an opened group{of}"]
    shown = len(headings) - all(test.group_cost is None for test in problem.tests)
    yield Grid(headings[:shown], [_test(test, times)[:shown] for test in problem.tests], words=3)
    if isinstance(problem.reward, Table):
        rows = problem.reward.utilities.reshape(-1, len(problem.decisions))
        targets = [problem.tests[problem.test_index(name)] for name in problem.reward.targets]
        places = np.indices(problem.reward.utilities.shape[:-1]).reshape(len(targets), -1).T
        named = [", ".join(test.names[b] for test, b in zip(targets, place, strict=True)) for place in places.tolist()]
        grid = [(name, *(said(times * each) for each in row)) for name, row in zip(named, rows.tolist(), strict=True)]
        yield Grid([", ".join(problem.reward.targets), *(f"{name}{of}" for name in problem.decisions)], grid)
    else:
        yield Said(f"Reward: {type(problem.reward).__name__}. Decisions: {', '.join(problem.decisions) or 'a match'}.")


def _test(test: Test, times: float) -> tuple[str, ...]:
    how = "known on arrival" if test.on_arrival else "to be run" if test.available else "known from history alone"
    outcomes = f"a number in {test.unit}".removesuffix(" in ") if test.measured else " · ".join(test.names)
    group = "" if test.group_cost is None else f"{said(times * test.group_cost)} ({test.group})"
    return test.name, outcomes, how, said(times * test.cost) if test.operable else "", group


@blocks_of.register
def _records(records: Records) -> Iterator[Block]:
    shown = records.part(slice(0, MOST_ROWS)).columns()
    names = list(shown)[:MOST_COLUMNS]
    yield Said(repr(records))
    yield Grid(names, list(zip(*(map(_cell, shown[name]) for name in names), strict=True)), words=len(names))
    left = [f"{len(records) - MOST_ROWS:,} more rows"] * (len(records) > MOST_ROWS)
    left += [f"{len(shown) - MOST_COLUMNS:,} more columns"] * (len(shown) > MOST_COLUMNS)
    if left:
        yield Said(f"and {' and '.join(left)}")


def _cell(value: Any) -> str:
    return "" if value is None else said(value) if isinstance(value, float) else str(value)


@blocks_of.register
def _tree(tree: Tree) -> Iterator[Block]:
    leaves = sum(not node.children for node in tree.nodes())
    if leaves <= MOST_LEAVES:
        yield tree_picture(tree)
        return
    yield Said(f"{tree!r}: too many for a notebook; plan.tree(depth=3) is cut, proband.figures.save_tree draws it.")


@blocks_of.register
def _plan(plan: Plan) -> Iterator[Block]:
    unit, gap = plan.problem.unit, plan.gap > 1e-9
    facts = [("value a subject", amount(plan.value, unit)), ("cost of tests", amount(plan.expected_cost, unit))]
    facts += [("better plans bring at most", amount(plan.bound, unit))] * gap
    yield Tiles([*facts, ("tests a subject", said(plan.expected_tests, 3))])
    yield Said(f"{decisions(plan.decision_probabilities)} By {plan.method}, {plan.explain_choice}.")
    if plan.problem.kind is not Kind.LISTED:
        yield Picture(lambda: [draw_plan(plan)])
        return
    if _small(plan):
        yield from _tree(plan.tree())
    else:
        yield Said("The tree is too large to be shown here; plan.tree(depth=3) is cut.")


def _small(plan: Plan) -> bool:
    """Return whether the tree of a plan is small enough to be grown for a picture."""
    states, nodes, problem = plan.problem.state()[None], 0, plan.problem
    while len(states) and nodes <= MOST_PLANNED:
        nodes += len(states)
        pairs = zip(states, plan.act(states).tolist(), strict=True)
        after = [problem.after(row, action) for row, action in pairs if action < problem.d]
        states = np.vstack(after) if after else states[:0]
    return nodes <= MOST_PLANNED


@blocks_of.register
def _evaluation(found: Evaluation) -> Iterator[Block]:
    error = f" ± {said(found.standard_error, 2)}" if found.standard_error else ""
    facts = [("value a subject", f"{said(found.value)}{error}"), ("reward", said(found.reward))]
    yield Tiles([*facts, ("cost of tests", said(found.cost)), ("tests a subject", said(found.tests, 3))])
    yield Said(decisions(found.decisions))


@blocks_of.register
def _validation(found: Validation) -> Iterator[Block]:
    yield from rivals(found, "")


@blocks_of.register
def _fit(found: Fit) -> Iterator[Block]:
    unit, seen = found.problem.unit, found.validation
    facts = [] if seen is None else [("value, cross-validated", amount(seen.plan.value.mean, unit))]
    facts += [("value, in-sample", amount(found.in_sample, unit)), ("subjects", f"{found.records.n:,}")]
    yield Tiles([*facts, ("cost of tests", amount(found.plan.expected_cost, unit))])
    if seen is not None:
        yield from rivals(seen, unit)
    if found.notes:
        yield Listing(found.notes)
    yield from _tree(found.tree)


@blocks_of.register
def _advice(advice: Advice) -> Iterator[Block]:
    what = "Run" if advice.kind == "test" else "Decide"
    price = f" for {amount(advice.cost, advice.unit)}" if advice.kind == "test" else ""
    yield Heading(f"{advice.subject}: {what} {advice.action}{price}", 3)
    yield Said(f"{advice.reason[:1].upper()}{advice.reason[1:]} Spent so far: {amount(advice.spent, advice.unit)}.")
    times, of = scaled(advice.unit)[0], in_heading(advice.unit)
    losses = [said(times * one.loss) if one.loss > 0 else "best" for one in advice.alternatives]
    named = [(f"{one.kind}: {one.name}", said(times * one.value)) for one in advice.alternatives]
    rows = [(*name, loss) for name, loss in zip(named, losses, strict=True)]
    if rows:
        yield Grid(["possible action", f"value{of}", f"loses{of}"], rows)


@blocks_of.register
def _study(summary: Summary) -> Iterator[Block]:
    yield Heading(summary.study, 3)
    facts = [("finished subjects", f"{summary.finished:,}"), ("open", f"{summary.open:,}")]
    if summary.mean_cost is not None and summary.mean_tests is not None:
        facts += [("cost a subject", amount(summary.mean_cost, summary.unit))]
        facts += [("tests a subject", said(summary.mean_tests, 3))]
        facts += [("saved against testing everything", amount(summary.cost_saved, summary.unit))]
    yield Tiles(facts)
    if summary.drift is not None:
        yield Said(str(summary.drift), alarm=summary.drift.alarm)
    total = sum(summary.decisions.values())
    rows = [(name, f"{n:,}", share(n / total)) for name, n in summary.decisions.items()]
    if rows:
        yield Grid(["decision", "subjects", "share"], rows)
    yield Said(f"By {summary.agent}, since {summary.created[:16]} UTC; {summary.events:,} events.")


@blocks_of.register
def _run(summary: RunSummary) -> Iterator[Block]:
    point = [(name, str(value)) for name, value in summary.point.items()]
    of = [(f"of {name}", said(ratio.ratio, 3)) for name, ratio in summary.ratios.items()]
    mean = [("mean regret", f"{said(summary.mean)} ± {said(summary.error, 2)}")]
    yield Grid(["", summary.agent], [*point, ("replications", str(summary.replications)), *mean, *of])


@blocks_of.register
def _report(report: Report) -> Iterator[Block]:
    yield from content(report)
