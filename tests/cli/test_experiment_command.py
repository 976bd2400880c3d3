from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from proband.cli.experiment import experiment_app
from proband.experiments import EXPERIMENTS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(experiment_app).commands  # type: ignore[attr-defined]
SMALL = ("--horizon", "128", "--replications", "2", "--agents", "explore-then-commit,greedy")


def test_experiments_are_listed(run) -> None:
    result = run("experiment", "list")
    assert result.status == 0
    assert [line.split()[0] for line in result.out.splitlines()] == list(EXPERIMENTS)
    assert run("experiment", "list", "--json").json["easy"] == EXPERIMENTS["easy"].title


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_shown(run, name) -> None:
    result = run("experiment", "show", name)
    assert result.status == 0
    assert EXPERIMENTS[name].shows in result.out
    content = run("experiment", "show", name, "--json").json
    assert content["agents"] == [entrant.name for entrant in EXPERIMENTS[name].agents]
    assert content["horizon"] == EXPERIMENTS[name].horizon


def test_a_run_prints_a_summary_and_is_drawn_and_reported(run) -> None:
    result = run("experiment", "run", "easy", *SMALL)
    assert result.status == 0
    assert result.err == ""
    header, first, second = result.out.splitlines()[1:4]
    assert header.split() == ["agent", "mean", "error", "sd", "of", "ETC", "wins"]
    assert first.split()[0] == "explore-then-commit"
    assert second.split()[0] == "greedy"
    folder = Path("out/experiments/easy")
    assert {path.name for path in folder.iterdir()} == {"cells", "manifest.json", "table.csv", "table.parquet"}
    assert run("experiment", "plot", "easy").out.split() == ["out/experiments/easy/regret.png"]
    written = run("experiment", "report", "easy", "--to", "pages").out.split()
    assert written == ["pages/easy.md", "pages/easy.csv", "pages/easy-curves.json", "pages/easy-regret.png"]
    assert run("experiment", "redraw", "pages").out.splitlines() == written[3:]
    assert all(Path(path).exists() for path in written)


def test_a_sweep_prints_slopes_and_parameters(run) -> None:
    options = ("--set", "m=0.5,1,2", "--set", "horizon=256", "--agents", "explore-then-commit", "--replications", "2")
    result = run("experiment", "run", "lower-bound-single", *options)
    assert "slopes of final regret" in result.out
    assert "in m" in result.out
    content = run("experiment", "run", "lower-bound-single", *options, "--json").json
    assert [summary["m"] for summary in content["summaries"]] == [0.5, 1, 2]
    assert content["slopes"]["m"]["explore-then-commit"]["slope"] == pytest.approx(
        float(result.out.splitlines()[-3].split()[1].replace("−", "-")), abs=1e-3
    )


def test_a_run_goes_on_in_the_same_folder(run) -> None:
    run("experiment", "run", "easy", *SMALL, "--out", "there")
    before = {path.name: path.stat().st_mtime_ns for path in Path("there/cells").iterdir()}
    more = ("--replications", "3")
    assert run("experiment", "run", "easy", *SMALL, *more, "--out", "there", "--seed", "1000").status == 0
    after = {path.name: path.stat().st_mtime_ns for path in Path("there/cells").iterdir()}
    assert before.items() <= after.items()
    assert len(after) == 6
    assert json.loads(Path("there/manifest.json").read_text())["replications"] == 3
    assert run("experiment", "run", "easy", *SMALL, "--out", "there", "--fresh").status == 0
    assert {path.name: path.stat().st_mtime_ns for path in Path("there/cells").iterdir()} != after


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("run", "nothing"), 2, "choose one of paper-discrete"),
        (("show", "nothing"), 2, "choose one of paper-discrete"),
        (("run", "easy", "--agents", "nobody"), 2, "choose one of clairvoyant, test-everything, explore-then-commit"),
        (("run", "easy", "--set", "m=1"), 2, "it has horizon"),
        (("run", "easy", "--set", "m"), 2, "m=1,2,4"),
        (("run", "easy", "--horizon", "long"), 2, "2^16"),
        (("run", "paper-discrete", "--set", "d=x"), 2, "number of binary tests"),
        (("run", "easy", "--jobs", "2", "--cluster", "tcp://127.0.0.1:9"), 2, "not both"),
        (("plot", "easy"), 2, "run the experiment first"),
        (("report", "easy"), 2, "run the experiment first"),
    ],
)
def test_mistakes_are_explained(run, arguments, status, words) -> None:
    result = run("experiment", *arguments)
    assert result.status == status
    assert words in " ".join(result.err.replace("│", " ").split())
    assert result.out == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_subcommand_is_documented(name: str) -> None:
    _, found, rest = DOCUMENT.partition(f"### `proband experiment {name}`\n")
    assert found, f"docs/command-line.md has no section on proband experiment {name}"
    text = rest.partition("\n#")[0]
    for parameter in COMMANDS[name].params:
        for option in parameter.opts if parameter.opts[0].startswith("-") else ["NAME"]:
            if option not in ("--help", "-h"):
                assert option in text, f"docs/command-line.md does not mention {option} of proband experiment {name}"


def test_every_experiment_is_documented() -> None:
    for name in EXPERIMENTS:
        assert f"| `{name}` |" in DOCUMENT


def test_a_table_of_ones_own_is_run_and_compared_in_hindsight(run) -> None:
    lines = ["kind,a,b", *(f"{'yes' if n % 3 else 'no'},{n % 3},{n % 7}" for n in range(60))]
    Path("mine.csv").write_text("\n".join(lines) + "\n")
    options = ["--set", "table=mine.csv", "--set", "label=kind", "--set", "truth=bought", "--set", "size=500"]
    agents = "raw-50,decide-at-once,full-information"
    result = run(
        "experiment", "run", "many-tests", *options, "--horizon", "100", "--replications", "1", "--agents", agents
    )
    assert result.status == 0
    assert "raw-50 (best of raw)" in result.out
    assert "of full-information" in result.out
