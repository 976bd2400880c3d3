from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli import castings
from tests.tables.formats import delimited

from proband.cli import printing
from proband.planners.progress import Progress
from proband.quantities import said


@pytest.fixture
def files(run) -> None:
    castings.write()


def test_a_literal_plan_has_a_report_with_the_names_of_its_subjects(run, files) -> None:
    """The numbers are those of the command that plans; rows are told by where they stand and who they are."""
    arguments = ("castings.toml", "--data", "castings.xlsx", "--sheet", "past", "--complete-only")
    result = run("report", *arguments, "--folds", "3", "--out", "past.md", "--json")
    assert result.status == 0, result.err
    assert result.json["written"] == ["past.md"]
    plan = run("plan", *arguments, "--folds", "3", "--json").json
    assert result.json["value"] == result.json["in_sample"] == plan["value"]
    assert result.json["validation"]["plan"] == plan["cross_validated"]["plan"]
    first = result.json["held_out"]["mistakes"][0]
    number = int(first["row"].split()[1])
    assert first["row"] == f"row {number} (C-{number - 2:04d})"
    assert first["row"] in Path("past.md").read_text(encoding="utf-8")


def test_subjects_are_named_by_the_column_that_is_asked_for(run, files) -> None:
    arguments = ("castings.toml", "--data", "castings-records.csv", "--complete-only", "--folds", "3", "--out", "r.md")
    row = run("report", *arguments, "--subject", "Datum", "--json").json["held_out"]["mistakes"][0]["row"]
    number = int(row.split()[1])
    assert row == f"line {number} ({1 + (number - 2) % 28:02d}.03.2024)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["castings.toml"], "give --data with past subjects, or --distribution"),
        (["castings.toml", "--data", "castings-records.csv", "--subject", "Nummer"], "there is no column 'Nummer'"),
        (["castings.toml", "--data", "-", "--subject", "Nr"], "standard input is read once"),
        (["gout", "--subject", "Nr"], "--subject is about the rows of --data"),
        (["gout", "--out", "report.docx"], "the ending '.docx' is not one of a report"),
        (["network"], "reports are about trees of listed outcomes"),
    ],
)
def test_a_mistake_is_answered_and_nothing_is_written(run, files, arguments: list[str], message: str) -> None:
    before = set(Path().iterdir())
    result = run("report", *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in " ".join(result.err.replace("│", "").split())
    assert set(Path().iterdir()) == before


def test_where_no_row_is_complete_the_report_says_what_it_cannot_tell(run, files) -> None:
    rows = [[*row[:5], "", row[6]] for row in castings.rows(60)]
    Path("castings-records.csv").write_text(delimited(castings.HEADER, rows, mark=";", decimal=","), encoding="utf-8")
    given = ("castings.toml", "--data", "castings-records.csv")
    result = run("fit", *given, "--strength", "0.3", "--folds", "0", "--report", "r.md")
    assert result.status == 0, result.err
    text = Path("r.md").read_text(encoding="utf-8")
    assert "- visual was never run: the column is empty" in text
    assert "- 0 of 60 rows are complete, too few to be treated by plans that have not seen them" in text
    assert "Who is decided wrongly" not in text
    literally = run("report", *given, "--estimate", "empirical-bayes")
    assert (literally.status, literally.out) == (2, "")
    assert "0 rows are complete; there are at least three folds" in literally.err


def test_a_fit_writes_its_report_too(run, files) -> None:
    arguments = ("castings.toml", "--data", "castings-records.csv", "--strength", "0.3", "--folds", "3", "--jobs", "1")
    result = run("fit", *arguments, "--report", "fit.md", "--subject", "Nr", "--json")
    assert result.status == 0, result.err
    assert result.json["written"] == ["fit.md"]
    text = Path("fit.md").read_text(encoding="utf-8")
    assert "value, cross-validated" in text
    assert "(C-0" in text
    assert run("fit", *arguments, "--report", "fit.docx").status == 2
    assert run("fit", *arguments, "--subject", "Nr").status == 2


def test_a_policy_file_is_reported_as_it_is(run, files) -> None:
    """The tree, its value and its sentences, as the command that wrote it told them; not what nobody can know."""
    told = run("fit", "castings.toml", "--data", "castings-records.csv", "--folds", "0", "--out", "p.json", "--json")
    result = run("report", "p.json", "--out", "p.md", "--json")
    assert result.status == 0, result.err
    assert result.json["value"] == pytest.approx(told.json["believed"])
    assert result.json["expected_cost"] == pytest.approx(told.json["expected_cost"])
    assert result.json["expected_tests"] == pytest.approx(told.json["expected_tests"])
    assert result.json["decisions"] == pytest.approx(told.json["decisions"])
    written = Path("p.md").read_text(encoding="utf-8")
    assert [line for line in written.splitlines() if line.startswith("## ")] == [
        "## The tree",
        "## The tree in sentences",
    ]
    assert "what it states of itself, by the law it was made with" in written
    leaf = max(told.json["leaves"], key=lambda leaf: leaf["share"])
    [first, *_] = [line for line in written.splitlines() if f"| {leaf['decision']} | {leaf['matters']} |" in line]
    assert first.endswith(f" {said(leaf['count'], 3)} |")  # the most frequent leaf is the first one


def test_a_policy_that_names_whole_outcome_vectors_is_reported(run) -> None:
    run("plan", "paper-discrete", "--depth", "2", "--out", "p.json")
    assert run("report", "p.json", "--out", "p.md").status == 0
    assert "Decisions: x1=" in Path("p.md").read_text(encoding="utf-8")


def test_a_policy_file_is_not_planned_again(run, files) -> None:
    run("fit", "castings.toml", "--data", "castings-records.csv", "--folds", "0", "--out", "p.json")
    result = run("report", "p.json", "--data", "castings-records.csv")
    assert result.status == 2
    assert "p.json is a policy, which is reported as it is" in " ".join(result.err.replace("│", "").split())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            "castings-records.csv",
            "it is a table, and here the problem is needed, which says what tests cost; draft one",
        ),
        ("castings.xlsx", "it is a table, and here the problem is needed"),
        ("p.json", "it looks like JSON, such as a policy file, and here the problem is needed; give the problem file"),
    ],
)
def test_what_is_no_problem_is_told_by_what_it_seems_to_be(run, files, given: str, sentence: str) -> None:
    Path("p.json").write_text('{"format": "proband policy"}\n', encoding="utf-8")
    result = run("plan", given)
    assert result.status == 2
    assert sentence in result.err


def test_the_bar_counts_to_as_many_steps_as_there_turn_out_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many tests a plan uses is known once it was made: each of them adds steps."""
    bar = printing.progress_bar(counting=True)
    monkeypatch.setattr(printing, "progress_bar", lambda **_: bar)
    with printing.counting("writing", 76) as progress:
        progress(Progress(seconds=0.0, value=0.0, bound=0.0, what="steps", done=150, total=157))
    assert (bar.tasks[0].completed, bar.tasks[0].total) == (150, 157)
