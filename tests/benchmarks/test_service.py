"""The page about the service under load: its aims by hand, and that it says what was measured and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service import aims, report

FOLDER = Path(__file__).parents[2] / "docs" / "benchmarks"
ABOUT = {"machine": "2 cores", "load": 0.1, "versions": "Python", "date": "2026-01-01", "minutes": 5.0}


def row(case: str, **other: Any) -> dict[str, Any]:
    return {
        "case": case, "rate": 320.0, "ask": [0.001, 0.018, 0.1], "tell": [0.002, 0.099, 0.2], "pairs": 96_000,
        "errors": 0, "acknowledged": 150_000, "lost": 0, "doubled": 0, "bytes": 600.0, "cpu": [0.002, 0.0003], **other,
    }  # fmt: skip


def grown(**other: Any) -> dict[str, Any]:
    return {
        "ask": [0.001, 0.02], "tell": [0.002, 0.05], "rate": 100.0, "pairs": 30_000, "errors": 0, "first": [0.01, 0.02],
        "cpu": 60.0, "planners": 3.0, "memory": [2e8], "planner_memory": [1e8], "made": 10.0, "taken": 10.0,
        "planning": 2.0, "open": [1.0], "closed": [0.0], **other,
    }  # fmt: skip


def studies(n: int, **other: Any) -> dict[str, Any]:
    return grown(studies=n, active=min(n, 200), list=[0.01] * 20, opening=[0.02], open=[min(n, 200)], **other)


PROCESSES = [grown(processes=n, planning=2.0 + 0.1 * n) for n in (1, 2, 4)]
STUDIES = [studies(10), studies(10_000, memory=[3e8, 3.5e8])]


@pytest.mark.parametrize(
    ("case", "other", "met"),
    [
        (aims.SQLITE, {}, True),
        (aims.SQLITE, {"rate": 299.0}, False),
        (aims.SQLITE, {"ask": [0.001, 0.151, 0.2]}, False),
        (aims.SQLITE, {"tell": [0.001, 0.151, 0.2]}, False),
        (aims.POSTGRESQL, {}, True),
        (aims.POSTGRESQL, {"errors": 1}, False),
        (aims.POSTGRESQL, {"lost": 1}, False),
        (aims.KILLED, {"ask": [0.001, 0.6, 1.2]}, True),
        (aims.KILLED, {"doubled": 1}, False),
        (aims.KILLED, {"acknowledged": 0}, False),
        (aims.PLANNING, {"rate": 32.0}, True),
        (aims.PLANNING, {"ask": [0.001, 0.2, 4.0]}, False),
    ],
)
def test_an_aim_is_met_or_not(case: str, other: dict[str, Any], met: bool) -> None:
    aim, *minutes = aims.of_load(ABOUT, [row(case, **other)])
    assert (aim.what, aim.met, all(each.met for each in minutes)) == (case, met, True)


def test_a_case_of_the_load_that_was_shorter_is_told() -> None:
    *_, minutes = aims.of_load(ABOUT, [row(aims.SQLITE), row(aims.KILLED, minutes=0.5)])
    assert (minutes.measured, minutes.met) == ("0.5 minutes", False)
    *_, minutes = aims.of_load(ABOUT, [row(aims.SQLITE), row(aims.PLANNING, minutes=0.5)])
    assert (minutes.measured, minutes.met) == ("5 minutes", True)


@pytest.mark.parametrize(
    ("processes", "last", "met"),
    [
        (PROCESSES, {}, (True, True)),
        ([*PROCESSES[:2], grown(processes=4, planning=4.2)], {}, (False, True)),
        (PROCESSES[:1], {}, (False, True)),
        (PROCESSES, {"errors": 2}, (True, False)),
        (PROCESSES, {"memory": [5e8]}, (True, False)),
        (PROCESSES, {"ask": [0.01, 0.3]}, (True, False)),
    ],
)
def test_growth_is_held_to_its_aims(
    processes: list[dict[str, Any]], last: dict[str, Any], met: tuple[bool, bool]
) -> None:
    assert tuple(aim.met for aim in aims.of_growth(processes, [studies(10), studies(10_000, **last)])) == met
    assert not list(aims.of_growth(processes, STUDIES[:1]))[1].met


def test_a_thousand_plants_are_worked_out_from_what_was_measured() -> None:
    load = {"about": ABOUT, "rows": [row(aims.SQLITE), row(aims.POSTGRESQL)]}
    growth = {"about": ABOUT, "processes": PROCESSES, "studies": STUDIES}
    page = report.page({"load": load, "growth": growth}, 50)
    assert "**not met**" not in page
    said = page.partition("## On paper: a thousand plants")[2]
    # 50,000 stations ask and tell every 10 s: 5,000 pairs a second at 2 and 0.3 ms, cores busy to 60 %
    assert "| service processes, one for each core | 17 | 2.0 ms a pair |" in said
    assert "| cores for plans | 3 | 0.3 ms a pair |" in said
    assert "| memory of the processes | 5.10 GB | 200 MB + 100 MB each |" in said
    # 150,000 writes in 96,000 pairs
    assert "| writes a second, each a commit | 7,812 | 7.8 a second in each study |" in said
    # 150 MB more for 190 more open studies
    assert "| memory of the studies, each open in one process | 789 MB | 1 MB a study" in said
    assert "(service.png)" in page


def test_the_page_is_written_from_the_figures_beside_it() -> None:
    kept = json.loads((FOLDER / "service.json").read_text(encoding="utf-8"))
    assert (FOLDER / "service.md").read_text(encoding="utf-8") == report.page(kept, 50)
