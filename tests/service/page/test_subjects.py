"""The table of subjects, and the trail: filtered, sorted, in pages, taken away as files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.service.conftest import Verb
from tests.service.page.conftest import Visit
from tests.service.running import Running, at

pytestmark = pytest.mark.browser


@pytest.fixture
def bolts(verb: Verb) -> None:
    for name, outcomes, decision in (
        ("bolt 10", {"visual": "clean", "ultrasonic": "ok"}, "pass"),
        ("bolt 9", {"visual": "rusty"}, "fail"),
        ("nut", {"visual": "rusty", "ultrasonic": "crack"}, None),
    ):
        verb("arrive", subject=name)
        verb("tell", name, outcomes=outcomes)
        if decision is not None:
            verb("decide", name, decision=decision)


def names(page: Page) -> list[str]:
    return page.locator("table.subjects tbody th").all_inner_texts()


@pytest.mark.usefixtures("bolts")
def test_subjects_are_sorted_and_filtered(visit: Visit, study: str) -> None:
    page = visit("viewer").goes(f"study/{study}/subjects")
    rows = page.locator("table.subjects tbody tr")
    expect(rows).to_have_count(3)
    assert names(page) == ["nut", "bolt 9", "bolt 10"]
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("NA")
    page.get_by_role("button", name="Subject", exact=True).press("Enter")
    expect(page.get_by_role("columnheader", name="Subject", exact=False)).to_have_attribute("aria-sort", "ascending")
    expect(rows.first).to_contain_text("bolt 9")
    assert names(page) == ["bolt 9", "bolt 10", "nut"]
    page.get_by_role("button", name="Subject", exact=False).first.press("Enter")
    expect(rows.first).to_contain_text("nut")
    page.get_by_label("Test").select_option("ultrasonic")
    page.get_by_label("showed").select_option("not run")
    expect(rows).to_have_count(1)
    assert names(page) == ["bolt 9"]
    page.get_by_label("showed").select_option("crack")
    expect(rows.first).to_contain_text("nut")
    page.get_by_label("Status").select_option("finished")
    expect(page.locator("main")).to_contain_text("No subject is like this.")


@pytest.mark.usefixtures("bolts")
def test_a_row_opens_and_new_subjects_appear(visit: Visit, study: str, verb: Verb) -> None:
    page = visit("viewer").goes(f"study/{study}/subjects")
    page.get_by_role("button", name="bolt 9").click()
    expect(page.get_by_role("dialog")).to_contain_text("as advised")
    expect(page.get_by_role("dialog").get_by_role("button", name="Correct")).to_have_count(0)  # a viewer looks
    page.keyboard.press("Escape")
    verb("arrive", subject="washer")
    expect(page.locator("table.subjects tbody tr").first).to_contain_text("washer")


def test_many_subjects_come_in_pages(visit: Visit, service: Running, tokens: dict[str, str], study: str) -> None:
    for number in range(60):
        content = {"subject": f"bolt {number}", "station": "line 1"}
        assert service.call("POST", at(study, "arrive"), content, token=tokens["operator"]).status == 201
    page = visit("viewer").goes(f"study/{study}/subjects")
    expect(page.locator(".pages")).to_contain_text("1 to 50 of 60 subjects")
    page.get_by_role("button", name="After").click()
    expect(page.locator(".pages")).to_contain_text("51 to 60 of 60 subjects")
    assert len(names(page)) == 10
    page = visit("viewer").goes(f"study/{study}/trail")
    expect(page.locator("tbody tr")).to_have_count(61)


def test_no_cell_of_a_downloaded_table_is_a_formula(visit: Visit, study: str, verb: Verb, tmp_path: Path) -> None:
    for formula in ("=1+1", "@SUM(1)", "+cmd|' /C calc'!A0"):
        verb("arrive", subject=formula, station=formula)
    page = visit("viewer").goes(f"study/{study}/subjects")
    expect(page.locator("table.subjects")).to_contain_text("=1+1")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download 3 subjects (CSV)").click()
    downloading.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-"))]
    assert "'=1+1" in cells
    page.get_by_label("Name").fill("@")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download 1 subject (CSV)").click()
    text = downloading.value.path().read_text(encoding="utf-8")
    assert [row["subject"] for row in csv.DictReader(text.splitlines())] == ["'@SUM(1)"]


@pytest.mark.usefixtures("bolts")
def test_what_is_taken_away_is_what_the_filter_shows(visit: Visit, study: str) -> None:
    page = visit("viewer").goes(f"study/{study}/subjects")
    page.get_by_label("Test").select_option("visual")
    page.get_by_label("showed").select_option("rusty")
    page.get_by_role("button", name="Subject", exact=True).click()
    expect(page.locator("table.subjects tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Download 2 subjects (CSV)").focus()
    for link in ("Download 2 subjects (CSV)", "JSON"):
        with page.expect_download() as downloading:
            page.get_by_role("link", name=link).press("Enter")
        text = downloading.value.path().read_text(encoding="utf-8")
        rows = json.loads(text) if link == "JSON" else list(csv.DictReader(text.splitlines()))
        assert [row["subject"] for row in rows] == names(page) == ["bolt 9", "nut"]
        assert [row["ultrasonic"] or None for row in rows] == [None, "crack"]
    page.get_by_label("Status").select_option("voided")
    expect(page.locator("main")).to_contain_text("No subject is like this.")
    expect(page.get_by_role("link", name="Download")).to_have_count(0)


@pytest.mark.usefixtures("bolts")
def test_the_trail_says_who_did_what(visit: Visit, study: str, verb: Verb) -> None:
    verb("correct", "bolt 9", test="visual", outcome="clean", reason="wrong tray")
    page = visit("viewer").goes(f"study/{study}/trail")
    rows = page.locator("table.trail tbody tr")
    expect(rows.first).to_contain_text("visual rusty → clean: wrong tray")
    expect(rows.first).to_contain_text("the operator")
    page.get_by_label("What").select_option("decided")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("fail")
    page.get_by_label("Subject").fill("BOLT 10")
    expect(rows).to_have_count(1)
    page.get_by_label("Who").fill("nobody")
    expect(page.locator("main")).to_contain_text("No event is like this.")
    verb("arrive", subject="nobody's")
    page.get_by_label("Who").fill("")
    page.get_by_label("Subject").fill("")
    page.get_by_label("What").select_option("everything")
    expect(rows.first).to_contain_text("nobody's")
    rows.first.get_by_role("link").click()
    expect(page.get_by_role("dialog")).to_contain_text("nobody's")
