"""A study begins from files: read in the browser, checked as they are, every mistake at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.service.page.conftest import Visit
from tests.service.running import Running, at, new_study
from tests.tables.formats import FORMATS, workbook

from proband import Problem

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
PAST = "visual,ultrasonic\nclean,ok\nrusty,\n"


def part(page: Page, title: str) -> Locator:
    return page.locator("section.panel", has=page.get_by_role("heading", name=title, exact=True))


@pytest.fixture
def files(tmp_path: Path, problem: Problem, study: str) -> Path:
    """The files of a study that is called like another one, and new."""
    text = new_study(problem)["problem"].replace('"bolts"', f'"new {study}"')
    (tmp_path / "problem.toml").write_text(text)
    (tmp_path / "past.csv").write_text(PAST)
    return tmp_path


def test_a_study_is_begun_from_files(
    visit: Visit, service: Running, tokens: dict[str, str], files: Path, study: str
) -> None:
    page = visit("engineer").goes("new")
    part(page, "The problem").get_by_label("From a file").set_input_files(files / "problem.toml")
    part(page, "Past records").get_by_label("From a file").set_input_files(files / "past.csv")
    expect(part(page, "The problem")).to_contain_text("It is right: 2 tests, to decide pass or fail.")
    expect(part(page, "Past records")).to_contain_text("They are right: 2 past subjects.")
    page.get_by_label("Agent").select_option("test-everything")
    page.get_by_role("button", name="Begin the study").dblclick()
    expect(page.locator("#entry")).to_be_focused()
    name = f"new {study}"
    about = service.call("GET", at(name), token=tokens["viewer"]).json
    assert (about["agent"], about["events"]) == ("test-everything", 2)
    events = service.call("GET", at(name, "events"), token=tokens["viewer"]).json["items"]
    assert events[1]["data"]["source"] == "past.csv"
    assert events[0]["actor"] == "the engineer"


MISTAKES = (
    # what stands in the file, what shall stand there, the line that is pointed out, and what is said
    ("cost = 0.6", "cosst = 0.6", "cosst", "did you mean 'cost'?"),
    ("cost = 0.1", "cost = -1", "[[tests]]", "a cost must be finite and 0 or more"),
    ('kind = "table"', 'kind = "tabel"', "kind", "kinds are table, match"),
    ("[reward]", "[rewad]", "[rewad]", "did you mean 'reward'?"),
    ("cost = 0.6", 'cost = "?"', "cost", "are not filled in"),
    ('["clean", "rusty"]', '["clean", "rusty"', "[[tests]]", "it is not valid TOML"),
    ("schema = 1", "schema = 7", "schema", "this version reads 1"),
)
MARKED = """(() => {
  const area = document.activeElement;
  return area.value.slice(area.selectionStart, area.selectionEnd);
})()"""


def test_a_mistake_in_the_problem_is_pointed_out_at_its_line(visit: Visit, files: Path) -> None:
    text = (files / "problem.toml").read_text()
    page = visit("engineer").goes("new")
    problem = part(page, "The problem")
    for right, wrong, line, said in MISTAKES:
        assert right in text
        (files / "wrong.toml").write_text(text.replace(right, wrong, 1))
        problem.get_by_label("From a file").set_input_files(files / "wrong.toml")
        expect(problem.locator(".mistakes")).to_contain_text(said)
        expect(page.get_by_role("button", name="Begin the study")).to_be_disabled()
        expect(problem.locator(".gutter .bad")).not_to_have_count(0)
        problem.locator(".mistakes button").first.click()
        if "TOML" not in said:  # its line is the one where the reader gave up
            assert page.evaluate(MARKED).startswith(line), said
    problem.locator("textarea").fill(text)
    expect(problem.locator(".fine")).to_be_visible()
    expect(problem.locator(".gutter .bad")).to_have_count(0)


def test_mistakes_in_the_records_are_pointed_out_at_their_lines(visit: Visit, files: Path) -> None:
    page = visit("engineer").goes("new")
    part(page, "The problem").get_by_label("From a file").set_input_files(files / "problem.toml")
    past = part(page, "Past records")
    past.locator("textarea").fill("visual,ultrasonic\nclean,ok\nclaen,ok\nrusty,yes\n")
    expect(past.locator(".mistakes li")).to_have_count(2)
    expect(past.locator(".mistakes li").first).to_contain_text(
        "line 3, column 'visual': the outcome 'claen' is unknown"
    )
    assert past.locator(".gutter .bad").all_inner_texts() == ["3", "4"]
    expect(page.get_by_role("button", name="Begin the study")).to_be_disabled()
    past.locator("textarea").fill(PAST)
    expect(page.get_by_role("button", name="Begin the study")).to_be_enabled()


def test_all_mistakes_of_a_problem_are_pointed_out_at_once(visit: Visit, files: Path) -> None:
    text = (files / "problem.toml").read_text()
    for right, wrong, *_ in (MISTAKES[0], MISTAKES[1], ('"pass" = -4.0', '"pass" = "less"')):
        assert right in text
        text = text.replace(right, wrong, 1)
    page = visit("engineer").goes("new")
    problem = part(page, "The problem")
    problem.locator("textarea").fill(text)
    mistakes = problem.locator(".mistakes li")
    expect(mistakes).to_have_count(3)
    lines = text.split("\n")
    wanted = ["[[tests]]", "cosst = 0.6", next(line for line in lines if '"less"' in line)]
    assert problem.locator(".gutter .bad").all_inner_texts() == [str(lines.index(line) + 1) for line in wanted]
    expect(mistakes.nth(2)).to_contain_text("must be a finite number")
    mistakes.nth(1).get_by_role("button").press("Enter")
    assert page.evaluate(MARKED) == "cosst = 0.6"


def test_a_name_that_is_taken_and_files_that_are_something_else(visit: Visit, files: Path, study: str) -> None:
    page = visit("engineer").goes("new")
    part(page, "The problem").get_by_label("From a file").set_input_files(files / "problem.toml")
    page.get_by_label("Name", exact=True).fill(study)
    expect(page.locator(".checked")).to_contain_text("choose another name")
    (files / "past.xlsx").write_bytes(b"PK\x03\x04 and more")
    past = part(page, "Past records")
    past.get_by_label("From a file").set_input_files(files / "past.xlsx")
    expect(past.locator(".mistakes")).to_contain_text("save it again")
    part(page, "The problem").get_by_label("From a file").set_input_files(files / "past.xlsx")
    expect(part(page, "The problem").locator(".mistakes")).to_contain_text("a problem is a text (TOML)")


def test_a_study_begins_from_a_workbook_and_learns_from_another(
    visit: Visit, service: Running, tokens: dict[str, str], files: Path, study: str
) -> None:
    header, good = ["visual", "ultrasonic"], [["clean", "ok"], ["rusty", "crack"], ["rusty", None]]
    wrong = [["claen", "ok"], ["rusty", "yes"]]
    (files / "past.xlsx").write_bytes(workbook({"2024": (header, wrong), "2025": (header, good)}))
    page = visit("engineer").goes("new")
    part(page, "The problem").get_by_label("From a file").set_input_files(files / "problem.toml")
    past = part(page, "Past records")
    past.get_by_label("From a file").set_input_files(files / "past.xlsx")
    expect(past.locator(".mistakes")).to_contain_text("it has the sheets ['2024', '2025']")
    past.get_by_label("Sheet").fill("2024")
    expect(past.locator(".mistakes li")).to_have_count(2)
    expect(past.locator(".mistakes li").first).to_contain_text("row 2, column 'visual': the outcome 'claen' is unknown")
    expect(page.get_by_role("button", name="Begin the study")).to_be_disabled()
    past.get_by_label("Sheet").fill("2025")
    expect(past).to_contain_text("They are right: 3 past subjects.")
    page.get_by_role("button", name="Begin the study").click()
    expect(page.locator("#entry")).to_be_focused()
    name = f"new {study}"
    events = service.call("GET", at(name, "events"), token=tokens["viewer"]).json["items"]
    assert (events[1]["data"]["source"], sum(events[1]["data"]["counts"])) == ("past.xlsx", 3)
    (files / "more.parquet").write_bytes(FORMATS["table.parquet"](header, [*good, ["clean", None]]))
    page.get_by_role("link", name="Dashboard").click()
    page.get_by_role("button", name="Learn from past records").click()
    page.get_by_role("dialog").get_by_label("A table").set_input_files(files / "more.parquet")
    page.get_by_role("button", name="Learn", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("4 past subjects added, 0 known already")


def test_a_problem_is_drafted_from_records_as_spreadsheets_write_them(visit: Visit) -> None:
    page = visit("engineer").goes("new")
    past, problem = part(page, "Past records"), part(page, "The problem")
    past.get_by_label("From a file").set_input_files(ROOT / "examples" / "castings.csv")
    past.get_by_role("button", name="Draft the problem from these records").click()
    expect(problem.locator(".mistakes")).to_contain_text('are not filled in; this file is a draft until every "?"')
    assert "Façade" in problem.locator("textarea").input_value()
    expect(problem.locator(".gutter .bad")).to_have_count(8)


def test_who_may_not_begin_a_study_is_told(visit: Visit) -> None:
    page = visit("operator").goes("new")
    expect(page.locator(".notice")).to_contain_text("needs the role engineer")
    expect(page.locator("textarea")).to_have_count(0)
