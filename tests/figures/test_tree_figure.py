from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from proband import Discrete, Problem, Test, plan
from proband.errors import MissingExtraError, TooLargeError, UnknownNameError
from proband.figures import draw_tree, save_tree
from proband.instances import INSTANCES, paper_discrete
from proband.policies import Tree
from proband.rewards import Match, Table


@pytest.fixture(scope="module")
def bolts_tree() -> Tree:
    instance = INSTANCES["bolts"]()
    return plan(instance.problem, instance.distribution).tree()


def texts(tree: Tree) -> list[str]:
    return [text.get_text() for text in draw_tree(tree).axes[0].texts]


def test_a_png_is_a_png(bolts_tree: Tree, tmp_path: Path) -> None:
    save_tree(bolts_tree, tmp_path / "tree.png")
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def test_an_svg_holds_searchable_names_and_is_reproducible(bolts_tree: Tree, tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        save_tree(bolts_tree, tmp_path / name)
    content = (tmp_path / "one.svg").read_text()
    assert content == (tmp_path / "two.svg").read_text()
    words = {element.text for element in ET.fromstring(content).iter("{http://www.w3.org/2000/svg}text")}
    assert {"bolt weight", "Bolt inspection", "pass", "fail"} <= words


def test_every_node_and_every_edge_is_named(bolts_tree: Tree) -> None:
    nodes = list(bolts_tree.nodes())
    shown = texts(bolts_tree)
    assert len(shown) == 2 + 2 * len(nodes) + (len(nodes) - 1)  # head, two texts a box, one an edge
    assert sum(text in ("pass", "fail") for text in shown) == sum(not node.children for node in nodes)


def test_prices_are_those_paid_within_a_group(bolts_tree: Tree) -> None:
    shown = texts(bolts_tree)
    details = {shown[n + 1] for n, text in enumerate(shown) if text == "tensile strength"}
    assert all(detail.startswith("cost 1.6 ") for detail in details)


def test_a_share_that_is_hardly_any_is_no_row_of_zeros(bolts_tree: Tree) -> None:
    rare = [node.probability for node in bolts_tree.nodes() if 0 < node.probability < 1e-4]
    assert len(rare) > 0
    assert sum(text.endswith("· under 0.01 %") for text in texts(bolts_tree)) == len(rare)


def test_the_letters_stay_inside_the_picture(bolts_tree: Tree) -> None:
    figure = draw_tree(bolts_tree)
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= width
        assert box.y0 >= 0
        assert box.y1 <= height


def test_boxes_do_not_overlap(bolts_tree: Tree) -> None:
    figure = draw_tree(bolts_tree)
    boxes = [patch.get_bbox() for patch in figure.axes[0].patches]
    for n, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[n + 1 :])


def test_decisions_have_colours_of_their_own(bolts_tree: Tree) -> None:
    colours = {patch.get_facecolor() for patch in draw_tree(bolts_tree).axes[0].patches}
    assert len(colours) == 3  # tests, pass, fail


def test_a_match_shows_the_outcome_vector(rng: np.random.Generator) -> None:
    instance = paper_discrete(rng, d=3)
    assert any(
        set(text) <= {"0", "1"} and len(text) == 3
        for text in texts(plan(instance.problem, instance.distribution).tree())
    )
    words = Problem([Test("a", 0.0, outcomes=("ok", "bad"))], reward=Match())
    assert "bad" in texts(plan(words, Discrete([[0], [1]], [0.5, 0.5])).tree())


def test_strange_names_and_unseen_outcomes_are_drawn(tmp_path: Path) -> None:
    tests = [Test("cost $5 & $6 <b>", 0.1, outcomes=("a_b^c", "\\frac{", "$")), Test("known", on_arrival=True)]
    problem = Problem(tests, ["yes", "no"], Table(["cost $5 & $6 <b>"], [[1, 0], [0, 1], [0, 1]]))
    tree = plan(problem, Discrete([[0, 0], [1, 0], [0, 1], [1, 1]], [0.25] * 4)).tree()
    shown = texts(tree)
    assert "cost $5 & $6 <b>" in shown
    assert "$ · never seen" in shown
    assert any(text.startswith("on arrival") for text in shown)
    for ending in ("svg", "png", "pdf"):
        save_tree(tree, tmp_path / f"tree.{ending}")


def test_a_single_leaf_is_a_tree_too(tmp_path: Path) -> None:
    instance = INSTANCES["single-test"]()
    save_tree(plan(instance.problem, instance.distribution).tree(), tmp_path / "leaf.png")


def test_unknown_endings_are_refused_before_drawing(bolts_tree: Tree, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"\.svg, \.png"):
        save_tree(bolts_tree, tmp_path / "tree.docx")


def test_a_forest_is_refused(bolts_tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proband.figures.tree.MOST_LEAVES", 10)
    with pytest.raises(TooLargeError, match="leaves; a picture shows up to 10"):
        draw_tree(bolts_tree)


def test_without_matplotlib_the_remedy_is_named(bolts_tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "proband\[figures\]"'):
        draw_tree(bolts_tree)
