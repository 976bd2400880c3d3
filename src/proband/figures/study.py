"""The report of a live study: one HTML file with its pictures inside, readable without a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import proband
from proband.figures.canvas import FAINT, GRID, INK, LINES, SMALL, in_unit, label_axes, literal, new_figure, svg_of
from proband.figures.pages import as_html, page
from proband.figures.tree import draw_tree
from proband.policies import Tree
from proband.quantities import amount, marked, number, percent, scaled
from proband.studies import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NODES = 60


def study_report(summary: Summary, *, tree: Tree | None) -> str:
    """Return the report of a study as HTML."""
    since = f"{as_html(summary.agent)}, since {as_html(summary.created[:16])} UTC"
    parts = [
        f"<h1>{as_html(summary.study)}</h1>",
        f'<p class="when">{since}; {summary.events:,} events; proband {proband.__version__}</p>',
        _tiles(summary),
    ]
    if summary.drift is not None:
        parts.append(f'<p class="{"alarm" if summary.drift.alarm else "calm"}">{as_html(str(summary.drift))}</p>')
    parts += _statement(summary)
    if summary.stretches:
        parts += ["<h2>Cost per subject over time</h2>", svg_of(draw_costs(summary))]
    if summary.decisions:
        parts += ["<h2>Decisions</h2>", svg_of(draw_decisions(summary))]
    parts += ["<h2>What was learned</h2>", _learned(tree)]
    parts += ["<h2>Exploration still to come</h2>", f"<p>{as_html(_exploration(summary))}</p>"]
    parts += ["<h2>The record</h2>", _record(summary)]
    return page(summary.study, parts)


def _statement(summary: Summary) -> list[str]:
    """Return what the agent certifies and what a user should know, each in a paragraph."""
    stated = summary.statement
    if stated is None:
        return []
    certificate = [] if stated.certificate is None else [(str(stated.certificate), bool(stated.certificate.withdrawn))]
    said = [*certificate, *((notice, True) for notice in stated.notices)]
    return [f'<p class="{"alarm" if alarming else "calm"}">{as_html(text)}</p>' for text, alarming in said]


def _tiles(summary: Summary) -> str:
    tiles = [("finished subjects", f"{summary.finished:,}"), ("open", f"{summary.open:,}")]
    if summary.mean_cost is not None and summary.mean_tests is not None:
        tiles += [
            ("cost a subject", amount(summary.mean_cost, summary.unit, 3)),
            ("tests a subject", number(summary.mean_tests, 3)),
            ("tests saved", f"{summary.tests_saved:,}"),
            ("saved against testing everything", amount(summary.cost_saved, summary.unit)),
        ]
    cells = "".join(f'<div class="tile"><b>{as_html(value)}</b><span>{name}</span></div>' for name, value in tiles)
    return f'<div class="tiles">{cells}</div>'


def draw_costs(summary: Summary) -> Figure:
    """Draw what subjects cost and how many tests they took, over time."""
    figure = new_figure(8.0, 3.0)
    left, right = figure.subplots(1, 2)
    times, unit = scaled(summary.unit)
    middle = [(stretch.first + stretch.last) / 2 for stretch in summary.stretches]
    for axis, values, label, colour in (
        (left, [times * stretch.cost for stretch in summary.stretches], f"cost a subject{in_unit(unit)}", LINES[0]),
        (right, [stretch.tests for stretch in summary.stretches], "tests a subject", LINES[2]),
    ):
        axis.plot(middle, values, color=colour, lw=1.8, marker="o", ms=3)
        axis.set_ylim(bottom=0)
        label_axes(axis, "finished subjects", label)
        axis.grid(color=GRID, lw=0.6)
        axis.tick_params(labelsize=SMALL)
        for each in (axis.xaxis, axis.yaxis):
            each.set_major_formatter(lambda value, _: marked(value))
    figure.tight_layout()
    return figure


def draw_decisions(summary: Summary) -> Figure:
    """Draw how often each decision was taken."""
    names = list(summary.decisions)[:20]
    counts = [summary.decisions[name] for name in names]
    figure = new_figure(8.0, 0.7 + 0.32 * len(names))
    axis = figure.subplots()
    axis.barh(range(len(names)), counts, color=LINES[0], height=0.6)
    for n, count in enumerate(counts):
        axis.annotate(f"{count:,}", (count, n), xytext=(4, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axis.set_yticks(range(len(names)), map(literal, names), fontsize=SMALL, color=INK)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.15 * max(counts))
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.spines["left"].set_color(FAINT)
    axis.set_xticks([])
    figure.tight_layout()
    return figure


def _learned(tree: Tree | None) -> str:
    if tree is None:
        return "<p>There is no tree to show: nothing was planned yet, or the tests are measured.</p>"
    nodes = sum(1 for _ in tree.nodes())
    if nodes > MOST_NODES:
        return (
            f"<p>The tree has {nodes:,} nodes, too many for a picture here: <code>proband.Study.tree</code> returns "
            "it, cut at any depth, and <code>proband.figures.save_tree</code> draws it.</p>"
        )
    return f"<p>The present plan, to a depth of four tests.</p>{svg_of(draw_tree(tree))}"


def _exploration(summary: Summary) -> str:
    explored = summary.exploration
    if explored is None:
        return "Not worked out."
    left = "stays for good" if explored.commitment is None else f"stays for {explored.commitment:,} more subjects"
    if explored.completing is None:
        return f"The present policy {left}."
    return f"The present policy {left}; {percent(explored.completing)} of the subjects are tested completely to learn."


def _record(summary: Summary) -> str:
    rows: Sequence[tuple[str, str]] = [
        ("tests against advice", f"{summary.tests_against_advice:,}"),
        ("decisions against advice", f"{summary.decisions_against_advice:,}"),
        ("corrections", f"{summary.corrections:,}"),
        ("voided subjects", f"{summary.voided:,}"),
        ("truths that came later", f"{summary.revelations:,}"),
        ("past records", f"{summary.imported:,}"),
        ("clock warnings", f"{len(summary.clock):,}"),
    ]
    cells = "".join(f'<tr><th>{name}</th><td class="n">{value}</td></tr>' for name, value in rows)
    kept = f"Last hash <code>{as_html(summary.hash)}</code>: keep it to verify later that nothing was dropped."
    return f"<table>{cells}</table><p>{kept}</p>"
