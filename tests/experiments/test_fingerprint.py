from __future__ import annotations

import shutil
from pathlib import Path

import grimp

import proband
from proband.experiments.fingerprint import FINGERPRINT, PARTS, fingerprint
from proband.fingerprints import LEARNING

TELLING = ["errors", "files", "lazy", "numerals", "quantities", "registries", "showing", "tables", "texts"]
"""What reads tables and tells people."""

PACKAGE = Path(proband.__file__).parent


def test_it_changes_with_what_results_depend_on_and_with_nothing_else(tmp_path: Path) -> None:
    copy = tmp_path / "proband"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = fingerprint(copy)
    assert len(before) == len(FINGERPRINT)
    (copy / "cli" / "app.py").write_text("")
    (copy / "experiments" / "report.py").write_text("")
    (copy / "agents" / "__pycache__").mkdir()
    (copy / "agents" / "__pycache__" / "doubling.cpython-311.pyc").write_text("")
    assert fingerprint(copy) == before
    seen = {before}
    for part in (
        "agents/doubling.py",
        "instances/problems/bolts.toml",
        "planners/gpu_kernel.cu",
        "problem_files.py",
    ):
        with (copy / part).open("a") as file:
            file.write("\n")
        assert fingerprint(copy) not in seen
        seen.add(fingerprint(copy))


def test_every_part_exists() -> None:
    assert all((PACKAGE / part).exists() for part in PARTS)


def test_all_that_agents_import_is_hashed_but_for_what_reads_tables_and_tells_people() -> None:
    graph = grimp.build_graph("proband")
    playing = {"proband.agents", *graph.find_descendants("proband.agents")}
    needed = playing.union(*map(graph.find_upstream_modules, playing)) - {"proband"}
    hashed = tuple(f"proband.{part.removesuffix('.py')}." for part in LEARNING)
    left_out = {module.split(".")[1] for module in needed if not f"{module}.".startswith(hashed)}
    assert left_out == {*TELLING}
