"""Reports as files: names are names, nothing is fetched, and a tree fits its sheets."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt
from tests.strict_json import strict

from proband import Discrete, Problem, Records, Test, fit, plan
from proband.errors import UnknownNameError
from proband.figures import save_tree
from proband.figures.tree_parts import ROOM, parts
from proband.instances import INSTANCES, bolts
from proband.reporting import Planned, Report, planned, report_on
from proband.rewards import Table

ODD = [
    "<script>alert(1)</script>", '"><img src=x onerror=y>', "--><u>x</u>", "<b>&amp;</b>", r"$\frac$", "$$", "a|b|c",
    "`code` *b* _i_", "[x](javascript:alert(1))", "![x](http://x.example/y.png)", "http://x.example", "www.x.example",
    "me@x.example", "=1+1", "- item", "1. item", "# head", "```", "100 %", "~~no~~", "&lt;", "a very long name, " * 9,
]  # fmt: skip


class Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.addresses: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href", "xlink:href", "action")]
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


PLAIN = [f"plain{n}" for n in range(len(ODD))]


def report_of(names: list[str]) -> Report:
    """Return a report in which every name stands somewhere, the first ones in several places."""
    title, unit, note, row, test, one, other, *outcomes = (name.strip() for name in names)
    tests = [Test(test, 0.1, outcomes=outcomes), Test("label", available=False)]
    problem = Problem(tests, [one, other], Table(["label"], [[1.0, 0.0], [0.0, 1.0]]), name=title, unit=unit)
    rows = Records([[k, (k + (n == 3)) % 2] for k in range(len(outcomes)) for n in range(8 + k)])
    recipe = Planned(problem, Discrete.from_records(rows), plan, rows, Discrete.from_records, (note,))
    return report_on(recipe, names=[f"{n} {row}" for n in range(len(rows))], folds=3, multipliers=(0.5, 1.0))


@pytest.mark.parametrize("turn", [0, 7, 14])
def test_names_are_shown_as_they_are(turn: int) -> None:
    names = ODD[turn:] + ODD[:turn]
    found, usual = report_of(names), report_of(PLAIN)
    page = Reader(found.html())
    assert page.tags["table"] == Reader(usual.html()).tags["table"]
    assert not page.tags["script"] + page.tags["img"] + page.tags["link"] + page.tags["iframe"] + page.tags["u"]
    assert all(address.startswith("#") for address in page.addresses)
    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    shown = Reader(renderer.render(found.markdown()))
    assert shown.tags == Reader(renderer.render(usual.markdown())).tags
    for name in names:
        assert name.strip() in page.text, name
        assert name.strip() in shown.text, name


def test_a_report_fetches_nothing() -> None:
    page = report_on(planned(bolts().problem, bolts().distribution)).html()
    assert set(re.findall(r"""(?:https?:)?//[^\s"'<>]+""", page)) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    assert "<script" not in page
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_without_matplotlib_tables_stand_for_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report_on(planned(bolts().problem, bolts().distribution), multipliers=(1.0,))
    monkeypatch.setattr("proband.reporting.writing.can_draw", lambda: False)
    page = Reader(found.html())
    assert (page.tags["svg"], page.tags["pre"]) == (0, 1)
    assert "bolt weight (0.05 USD)" in page.text


def test_a_report_of_a_fit_has_its_values_and_notes(tmp_path: Path) -> None:
    tests = [Test("weight", 0.1), Test("sound", 0.3, outcomes=["clear", "dull"]), Test("crack", available=False)]
    problem = Problem(tests, ["pass", "fail"], Table(["crack"], [[1.0, -0.5], [-9.0, -0.5]]), name="bells", unit="EUR")
    rng = np.random.default_rng(0)
    rows = (rng.random((150, 3)) < 0.3).astype(float)
    rows[:, 1] = np.where(rng.random(150) < 0.9, rows[:, 2], 1 - rows[:, 2])
    rows[3, 0] = np.nan
    found = report_on(fit(problem, Records(rows), strength=0.3, folds=3), folds=3, multipliers=(1.0, 2.0))
    for ending in ("html", "md"):
        found.save(tmp_path / f"report.{ending}")
        text = (tmp_path / f"report.{ending}").read_text(encoding="utf-8")
        for words in (
            "value, cross-validated",
            "value, in-sample",
            "testing everything",
            "1 of 150 rows lack an entry",
        ):
            assert words in text, words
        pages = text.partition("The tree in sentences")[0]
        words = re.sub(r"```.*?```|<style>.*?</style>|<[^>]*>", "", pages, flags=re.DOTALL)
        assert not re.search(r"(?<![0-9a-zA-Z])-[0-9]", words)  # a minus sign is no hyphen
    assert strict(json.dumps(found.to_dict()))["validation"]["folds"] == 3


def test_other_endings_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    found = report_on(planned(bolts().problem, bolts().distribution), multipliers=(1.0,))
    with pytest.raises(UnknownNameError, match=r"report.pdf: the ending '.pdf' is not one of a report"):
        found.save(tmp_path / "report.pdf")


@pytest.mark.parametrize("name", ["bolts", "gout"])
@pytest.mark.parametrize("room", [ROOM, (8.0, 4.0)])
def test_parts_of_a_tree_show_every_node_once_and_fit(name: str, room: tuple[float, float]) -> None:
    instance = INSTANCES[name]()
    tree = plan(instance.problem, instance.distribution).tree()
    found = parts(tree, room=room)
    places = [place for part in found for place in part.places]
    onward = [place.step.onward for place in places if place.step.onward]
    assert sorted(onward) == [part.number for part in found[1:]]
    assert len(places) - len(onward) == sum(1 for _ in tree.nodes())
    assert all(part.width <= room[0] and part.height <= room[1] for part in found)
    for part in found:
        middles = [place.row for place in part.places]
        assert middles == sorted(middles)
        assert min(np.diff(middles)) > 0.25


def test_a_tree_as_pdf_stands_on_sheets_of_a4(tmp_path: Path) -> None:
    save_tree(plan(bolts().problem, bolts().distribution).tree(), tmp_path / "tree.pdf")
    boxes = re.findall(rb"/MediaBox \[ ?([0-9. ]+) ?\]", (tmp_path / "tree.pdf").read_bytes())
    assert len(boxes) == 2
    for box in boxes:
        left, top, width, height = map(float, box.split())
        assert (left, top, round(width), round(height)) == (0, 0, 595, 842)
