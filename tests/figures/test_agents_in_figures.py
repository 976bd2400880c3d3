"""An agent looks the same in all figures, no two in a figure alike, and what is moved has a leader."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from proband.agents import AGENTS
from proband.experiments import EXPERIMENTS
from proband.figures.agents import KNOWN, looks
from proband.figures.regret import Curve, Words, draw_regret


def test_every_agent_has_a_look_of_its_own() -> None:
    assert {name for name in AGENTS if name != "elimination"} <= set(KNOWN)
    agents = [KNOWN[name] for name in AGENTS]
    assert len(set(agents)) == len(agents) == len({look.colour for look in agents} | {"#000000"})


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
