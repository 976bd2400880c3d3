"""An agent looks the same in all figures, no two in a figure alike, and what is moved has a leader."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from proband.agents import AGENTS
from proband.experiments import EXPERIMENTS
from proband.figures.agents import KNOWN, OTHERS, SAME, looks
from proband.figures.regret import Curve, Words, draw_mean, draw_regret, draw_sweep


def test_every_agent_has_a_look_of_its_own() -> None:
    assert {name for name in AGENTS if name != "elimination"} <= set(KNOWN)
    colours = [look.colour for name, look in KNOWN.items() if name not in SAME]
    assert len({*colours, *OTHERS}) == len(colours) + len(OTHERS)
    assert all(KNOWN[name] == KNOWN[other] for name, other in SAME.items())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_two_agents_of_an_experiment_look_alike(name: str) -> None:
    found = looks(entrant.name for entrant in EXPERIMENTS[name].agents)
    assert len(set(found.values())) == len(found)
    alone = {agent: looks([agent])[agent].colour for agent in found}
    for agent, look in found.items():
        assert look.colour == alone[agent] or agent[-1].isdigit()  # but members of a family, which differ in a number


def test_others_have_a_look_too_and_keep_it() -> None:
    found = looks(["explore-then-commit", "mine", "theirs:Patient"])
    assert found["mine"] == looks(["mine"])["mine"]
    assert len({look.colour for look in found.values()}) == 3


def curves(*ends: float) -> list[Curve]:
    t = np.array([64.0, 512.0, 4096.0])
    names = itertools.chain(KNOWN)
    return [Curve(name, t, end * t / t[-1], 0.1 * t / t[-1], "-0.50") for name, end in zip(names, ends, strict=False)]


def test_labels_that_are_moved_have_leaders_and_others_none() -> None:
    shown = curves(1000.0, 10.0, 9.0, 8.0)
    linear = draw_regret(shown, shown, Words("Title", "", shown[0].agent)).axes[0]
    leaders = [line for line in linear.get_lines() if line.get_label() == "_leader"]
    assert len(leaders) == 2
    assert all(line.get_xdata()[0] == pytest.approx(1.0) for line in leaders)  # where the lines end
    sweep = draw_sweep(shown, shown, Words("Title", "", shown[0].agent, "x")).axes[1]
    ends = [line.get_xdata()[0] for line in sweep.get_lines() if line.get_label() == "_leader"]
    last = (sweep.transData + sweep.transAxes.inverted()).transform((4096.0, 1.0))[0]
    assert len(ends) == 2
    assert ends == pytest.approx([last, last])
    for line in leaders:
        assert line.get_color() in {look.colour for look in looks(c.agent for c in shown[1:]).values()}


def test_ticks_never_repeat_and_signs_are_true() -> None:
    for scale in (2.0, 30.0, 1e6):
        shown = curves(scale, scale / 2)
        figure = draw_regret(shown, shown, Words("Title", "", shown[0].agent))
        figure.draw_without_rendering()
        for axes in figure.axes:
            for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
                texts = [label.get_text() for label in labels if label.get_text()]
                assert len(set(texts)) == len(texts)
        legend = figure.axes[1].get_legend()
        assert legend is not None
        assert "(slope −0.50)" in legend.get_texts()[0].get_text()


def test_what_does_not_add_up_has_no_linear_panel() -> None:
    shown = curves(1000.0, 10.0)
    assert len(draw_regret(shown, shown, Words("Title", "", shown[0].agent, quantity="width")).axes) == 2


def test_bands_are_named_where_there_are_any() -> None:
    shown = curves(1000.0, 10.0)
    without = [replace(curve, spread=0 * curve.spread) for curve in shown]
    for draw, named in ((draw_regret, 3), (draw_sweep, 2)):
        words = Words("Title", "", shown[0].agent, "x")
        assert sum("band ±" in axes.get_title(loc="left") for axes in draw(shown, shown, words).axes) == named
        assert not any("band" in axes.get_title(loc="left") for axes in draw(without, without, words).axes)
    assert draw_mean(without, Words("Title", "", "")).axes[0].get_title(loc="left") == "Cumulative regret: mean"
