from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from proband.errors import TableError
from proband.experiments import EXPERIMENTS, Experiment, read_table, run, summarise
from proband.experiments.manifest import describe
from proband.experiments.report import commands, report, summary_content

PAGES = sorted((Path(__file__).parents[2] / "docs" / "experiments").glob("*.md"))


def test_a_page_links_to_what_was_written(folder: Path, tmp_path: Path) -> None:
    page, numbers, *pictures = report(EXPERIMENTS["paper-discrete"], folder, tmp_path)
    text = page.read_text()
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert {numbers.name, *(picture.name for picture in pictures)} == set(targets)
    assert "| leaf-completion |" in text
    assert str(folder) not in text


def test_the_numbers_are_those_of_the_table(folder: Path, tmp_path: Path) -> None:
    _, numbers, *_ = report(EXPERIMENTS["paper-discrete"], folder, tmp_path)
    rows = list(csv.DictReader(numbers.read_text().splitlines()))
    found = summarise(read_table(folder))
    assert [float(row["mean"]) for row in rows] == [summary.mean for summary in found]
    assert rows[2]["wins_over_doubling"] == str(found[2].ratios["doubling"].wins)


def test_the_median_over_instances_stands_beside_the_ratio_of_means(folder: Path, tmp_path: Path) -> None:
    page, numbers, *_ = report(EXPERIMENTS["paper-discrete"], folder, tmp_path)
    final = read_table(folder).final()
    own, other = (final.where({"agent": agent})["pseudo_regret"] for agent in ("leaf-completion", "doubling"))
    median = float(np.median(own / other))
    [line] = [line for line in page.read_text().splitlines() if line.startswith("| leaf-completion |")]
    header = next(line for line in page.read_text().splitlines() if line.startswith("| agent |"))
    columns = [cell.strip() for cell in header.split("|")]
    assert line.split("|")[columns.index("of doubling") + 1].strip() == f"{median:.3f}"
    row = list(csv.DictReader(numbers.read_text().splitlines()))[2]
    assert float(row["ratio_median_to_doubling"]) == median
    content = summary_content(summarise(read_table(folder)))[2]["ratios"]["doubling"]
    assert content["median_over_instances"] == median


def test_a_page_names_the_command_that_reproduces_it(small: Experiment) -> None:
    run_line, report_line = commands(EXPERIMENTS["paper-discrete"], describe(small, seed=7, how=""))
    assert shlex.split(run_line)[3:] == [
        "paper-discrete", "--seed", "7", "--replications", "3", "--horizon", "256",
        "--agents", "explore-then-commit,doubling,leaf-completion", "--set", "d=3", "--set", "costs=0.05",
    ]  # fmt: skip
    assert report_line == "proband experiment report paper-discrete"
    plain, _ = commands(EXPERIMENTS["horizon"], describe(EXPERIMENTS["horizon"], seed=1000, how=""))
    assert plain == "proband experiment run horizon --seed 1000 --replications 5"


def test_an_unfinished_run_has_no_page(small: Experiment, tmp_path: Path) -> None:
    run(small.changed(replications=1, agents=["doubling"]), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"finished": None}))
    with pytest.raises(TableError, match="whole run"):
        report(EXPERIMENTS["paper-discrete"], tmp_path, tmp_path)
    for content, message in (
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[" * 9999, "not JSON"),
        (b"[1]", r"it is \[1\]"),
    ):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(TableError, match=message):
            report(EXPERIMENTS["paper-discrete"], tmp_path, tmp_path)


def test_summaries_are_plain_json(folder: Path) -> None:
    content = json.loads(json.dumps(summary_content(summarise(read_table(folder))), allow_nan=False))
    assert content[2]["agent"] == "leaf-completion"
    assert set(content[2]["ratios"]) == {"explore-then-commit", "doubling"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_of_the_committed_pages_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_every_experiment_has_a_committed_page() -> None:
    assert {path.stem for path in PAGES} >= set(EXPERIMENTS)
