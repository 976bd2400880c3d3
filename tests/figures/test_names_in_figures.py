"""Whatever people call things, figures and reports show it as it is: no formula, no markup, no page of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from proband import Discrete, Gaussian, Problem, Study, Test, plan
from proband.figures import draw_chosen, draw_demo, draw_map, draw_regions, draw_sizes, draw_tree, save_figure
from proband.figures.demo import DemoCurves
from proband.figures.regret import Curve, Words, draw_regret
from proband.figures.study import study_report
from proband.planners.gaussian.plan import GaussianPlan
from proband.rewards import Entropy, Piece, Projection, Score, Table

ODD = [r"$\frac$", r"$\frac", r"$x^$", r"a $\alpha$ b", r"\$5 $", "$$", "<b>&amp;</b>", r"\frac{1}{2}", "{x}", "100 %"]


def listed(name: str, unit: str | None = None) -> Problem:
    return Problem(
        [Test(name, 0.1, outcomes=(f"{name}0", f"{name}1"))],
        [name, f"no {name}"],
        Table([name], [[1.0, 0.0], [0.0, 1.0]]),
        name=f"{name} study",
        unit=name if unit is None else unit,
    )


def measured(name: str) -> GaussianPlan:
    scores = [Score(name, {name: 1.0}, unit=name)]
    reward = Projection(scores, [Piece(f"_{name}", slope={name: 1.0})])  # legends leave out what begins with a low line
    tests = [Test(name, 0.1, outcomes=None, unit=name)]
    best = plan(Problem(tests, [f"_{name}", "fail"], reward, name=name, unit=name), Gaussian([0.0], [[1.0]]))
    assert isinstance(best, GaussianPlan)
    return best


def tree(name: str) -> Figure:
    return draw_tree(plan(listed(name), Discrete([[0], [1]], [0.5, 0.5])).tree())


def sites(name: str) -> Figure:
    problem = Problem([Test(name, 0.1, outcomes=None)], ["stop"], Entropy(), name=name, unit=name)
    return draw_chosen(plan(problem, Gaussian([0.0], [[9.0]])))


def demonstration(name: str) -> Figure:
    agents, costs = ("explore-then-commit", "doubling", "safe-leaf-completion"), np.array([9.0, 2.0])
    curve = {agent: np.array([1.0, 2.0]) for agent in agents}
    every = dict.fromkeys(agents, costs)
    return draw_demo(
        DemoCurves(np.array([50, 100]), curve, np.array([0, 50, 100]), every, 2.3, {name: (0.1, 0.2)}, name)
    )


def regrets(name: str) -> Figure:
    curve = Curve(name, np.array([64.0, 128.0]), np.array([1.0, 2.0]), np.array([0.1, 0.1]))
    return draw_regret([curve], [curve], Words(name, name, "explore-then-commit"))


def map_of(name: str) -> Figure:
    return draw_map(np.array([[0.0, 1.0], [1.0, 0.0]]), [name, "b"], ["in", "out"], np.array([1.0, 2.0]), title=name)


FIGURES: dict[str, Callable[[str], Figure]] = {
    "tree": tree,
    "regions": lambda name: draw_regions(measured(name)),
    "chosen": sites,
    "sizes": lambda name: draw_sizes([1, 2], [1.0, 2.0], [1.0, 2.5], title=name, best=1),
    "map": map_of,
    "demo": demonstration,
    "regret": regrets,
}


def shown(path: Path) -> str:
    """Return the texts of a picture."""
    return "\n".join("".join(element.itertext()) for element in ElementTree.parse(path).iter() if "text" in element.tag)


@pytest.mark.parametrize("kind", FIGURES)
def test_a_figure_shows_a_name_as_it_is(kind: str, tmp_path: Path) -> None:
    for name in ODD[::4] if kind in ("regions", "demo", "regret") else ODD:  # these take a second each
        save_figure(FIGURES[kind](name), tmp_path / "figure.svg")
        assert name in shown(tmp_path / "figure.svg")


class Reader(HTMLParser):
    """What a page is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags[tag] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


def report_of(name: str, unit: str | None = None) -> Reader:
    problem = listed(name, unit)
    tree = plan(problem, Discrete([[0], [1]], [0.5, 0.5])).tree()
    with Study.create(problem, name=name, agent="test-everything", store="memory:", replan="now") as study:
        for n in range(12):
            subject = study.arrive()
            study.tell(subject, name, f"{name}{n % 2}")
            study.decide(subject, name)
        return Reader(study_report(study.summary(), tree=tree))


@pytest.mark.parametrize("name", [*ODD, "<script>alert(1)</script>", '"><img src=x onerror=y>', "--><u>x</u>"])
def test_a_report_shows_names_as_they_are(name: str) -> None:
    page, plain = report_of(name), report_of("plain")
    assert page.tags == plain.tags
    assert page.text.count(name) == page.text.replace(name, "plain").count("plain") >= 5


def test_a_unit_that_holds_a_number_is_multiplied_out() -> None:
    page = report_of("plain", "100 EUR/month")
    assert "10 EUR/month" in page.text  # each test costs 0.1 of them
    assert "cost a subject (EUR/month)" in page.text
    assert "100 EUR" not in page.text
