"""The operator's page: by keyboard, by scanner, side by side, taken over, corrected, skipped."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.service.conftest import Verb
from tests.service.page.conftest import Visit, Visitor
from tests.service.running import Running, at, new_study
from tests.service.test_removed import rows_go

from proband import Problem, Test
from proband.rewards import Piece, Projection, Score, Table

pytestmark = pytest.mark.browser


def card(page: Page, subject: str) -> Locator:
    return page.locator(f'.card[data-subject="{subject}"][aria-busy="false"]')


def action(page: Page, subject: str) -> Locator:
    return card(page, subject).locator(".next .action")


def subjects(service: Running, tokens: dict[str, str], study: str) -> dict[str, dict[str, Any]]:
    items = service.call("GET", at(study, "subjects"), token=tokens["viewer"]).json["items"]
    return {item["name"]: item for item in items}


@pytest.fixture
def operator(visit: Visit, study: str) -> Visitor:
    visitor = visit("operator")
    visitor.goes(f"study/{study}/operate")
    expect(visitor.page.locator("#entry")).to_be_focused()
    return visitor


def test_three_subjects_are_inspected_by_keyboard_alone(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str
) -> None:
    page = operator.page
    for name, shown, decision in (("bolt 1", "11", "pass"), ("bolt 2", "22", "fail"), ("bolt 3", "12", "fail")):
        operator.enters(name)
        expect(action(page, name)).to_have_text("visual")
        operator.enters(shown[0])
        expect(action(page, name)).to_have_text("ultrasonic")
        for _ in ("Enter", "Next number arrives", "the card"):
            page.keyboard.press("Tab")
        expect(card(page, name)).to_be_focused()
        page.keyboard.press(shown[1])  # on a card a key alone acts
        expect(card(page, name).locator(".kind")).to_have_text("Decide")
        expect(card(page, name)).to_be_focused()
        page.keyboard.press("a")  # the advised decision
        expect(page.locator(".recent li").first).to_contain_text(f"{name} {decision}")
        expect(page.locator("#entry")).to_be_focused()
    found = subjects(service, tokens, study)
    assert [found[f"bolt {i}"]["decision"] for i in (1, 2, 3)] == ["pass", "fail", "fail"]
    assert found["bolt 2"]["known"] == {"visual": "rusty", "ultrasonic": "crack"}


def test_a_scanner_alone_is_enough(operator: Visitor, service: Running, tokens: dict[str, str], study: str) -> None:
    page = operator.page
    for scan in ("bolt 7", "rusty", "crack", "fail"):  # in one go: each waits until the one before was answered
        operator.enters(scan)
    expect(page.locator(".recent li").first).to_contain_text("bolt 7")
    expect(page.locator("#entry")).to_be_focused()
    expect(page.locator("#entry")).to_have_value("")
    found = subjects(service, tokens, study)["bolt 7"]
    assert (found["decision"], found["ran"]) == ("fail", ["visual", "ultrasonic"])


def test_what_a_scanner_sends_to_a_card_is_no_outcome(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str
) -> None:
    page = operator.page
    operator.enters("bolt 1")
    expect(action(page, "bolt 1")).to_have_text("visual")
    card(page, "bolt 1").focus()
    operator.enters("12-2")
    expect(action(page, "12-2")).to_have_text("visual")
    found = subjects(service, tokens, study)
    assert found["bolt 1"]["known"] == {}
    assert set(found) == {"bolt 1", "12-2"}


def test_a_double_click_is_recorded_once(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str
) -> None:
    page = operator.page
    operator.enters("bolt 1")
    card(page, "bolt 1").get_by_role("button", name="visual: clean").dblclick()
    expect(action(page, "bolt 1")).to_have_text("ultrasonic")
    events = service.call("GET", at(study, "events"), token=tokens["viewer"]).json["items"]
    assert [event["kind"] for event in events] == ["created", "arrived", "observed"]


def test_an_outcome_is_taken_back(operator: Visitor, service: Running, tokens: dict[str, str], study: str) -> None:
    page = operator.page
    operator.enters("bolt 1")
    card(page, "bolt 1").get_by_role("button", name="visual: rusty").click()
    expect(action(page, "bolt 1")).to_have_text("ultrasonic")
    page.get_by_role("button", name="Undo").click()
    expect(action(page, "bolt 1")).to_have_text("visual")
    assert subjects(service, tokens, study)["bolt 1"]["known"] == {}


def test_skipped_is_not_failed(operator: Visitor, service: Running, tokens: dict[str, str], study: str) -> None:
    page = operator.page
    operator.enters("bolt 1")
    operator.enters("x")
    expect(action(page, "bolt 1")).to_have_text("ultrasonic")
    expect(card(page, "bolt 1").locator(".reason")).to_contain_text("nothing is recorded")
    page.reload()  # it is remembered
    expect(action(page, "bolt 1")).to_have_text("ultrasonic")
    card(page, "bolt 1").get_by_role("button", name="ultrasonic: ok").first.click()
    expect(card(page, "bolt 1").locator(".kind")).to_have_text("Decide")
    card(page, "bolt 1").get_by_role("button", name="fail", exact=True).click()
    expect(page.locator(".recent li").first).to_contain_text("bolt 1")
    found = subjects(service, tokens, study)["bolt 1"]
    assert (found["known"], found["decision"], found["deviations"]) == ({"ultrasonic": "ok"}, "fail", 1)


def test_a_test_that_is_not_advised_and_another_decision(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str
) -> None:
    page = operator.page
    operator.enters("bolt 1")
    card(page, "bolt 1").get_by_text("Another way").click()
    card(page, "bolt 1").get_by_role("button", name="ultrasonic: crack").click()
    expect(card(page, "bolt 1").locator(".chips")).to_contain_text("ultrasonic crack")
    card(page, "bolt 1").locator("details").get_by_role("button", name="pass", exact=True).click()
    expect(page.locator(".recent li").first).to_contain_text("not as advised")
    found = subjects(service, tokens, study)["bolt 1"]
    assert (found["decision"], found["followed"], found["deviations"]) == ("pass", False, 1)


def test_a_finished_subject_is_corrected_and_voided(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str
) -> None:
    page = operator.page
    for scan in ("bolt 1", "1", "1", "a"):
        operator.enters(scan)
    page.get_by_role("button", name="Correct or void bolt 1").click()
    page.get_by_role("button", name="Correct visual").click()
    page.get_by_label("visual was rather").select_option("rusty")
    page.get_by_label("Reason").first.fill("wrong tray")
    page.get_by_role("button", name="Correct", exact=True).click()
    expect(page.get_by_role("dialog").locator(".rows")).to_contain_text("visual rusty")
    assert subjects(service, tokens, study)["bolt 1"]["known"]["visual"] == "rusty"
    page.get_by_text("It does not count").click()
    page.get_by_role("dialog").locator("details[open]").get_by_label("Reason").fill("dropped")
    page.get_by_role("button", name="Void it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert subjects(service, tokens, study)["bolt 1"]["status"] == "voided"


def test_a_subject_of_another_station_is_taken_over_only_when_somebody_says_so(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str, verb: Verb
) -> None:
    page = operator.page
    verb("arrive", subject="bolt 9", station="line 2")
    row = page.locator(".elsewhere li", has_text="bolt 9")
    expect(row).to_contain_text("at line 2, held until")  # it came by itself, live
    row.get_by_role("button", name="Take over bolt 9").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert subjects(service, tokens, study)["bolt 9"]["station"] == "line 2"
    expect(page.locator("#entry")).to_be_focused()  # it goes back there by itself
    operator.enters("bolt 9")
    page.get_by_role("dialog").get_by_role("button", name="Take it over").click()
    expect(action(page, "bolt 9")).to_have_text("visual")
    assert subjects(service, tokens, study)["bolt 9"]["station"] == "the operator"


def test_two_stations_and_a_subject_that_somebody_took(
    operator: Visitor, service: Running, tokens: dict[str, str], study: str, verb: Verb
) -> None:
    page = operator.page
    page.get_by_role("button", name="This station").click()
    page.get_by_label("Name").fill("line 1")
    page.get_by_role("button", name="Be this station").click()
    expect(page.get_by_role("button", name="This station: line 1")).to_be_visible()
    operator.enters("bolt 1")
    expect(action(page, "bolt 1")).to_have_text("visual")
    assert subjects(service, tokens, study)["bolt 1"]["station"] == "line 1"
    verb("take", subject="bolt 1", at_once=True, station="line 2")
    expect(page.locator(".elsewhere li", has_text="bolt 1")).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)


def test_a_study_that_is_removed_under_an_open_page(operator: Visitor, store: str, study: str) -> None:
    page = operator.page
    operator.enters("bolt 1")
    expect(action(page, "bolt 1")).to_have_text("visual")
    rows_go(store, study)
    operator.enters("1")
    expect(page.locator(".toasts .wrong")).to_contain_text(f"there is no study '{study}'")
    page.get_by_role("link", name="Dashboard").click()
    expect(page.get_by_role("heading", name="There is no such study")).to_be_visible()
    page.get_by_role("link", name="All studies").click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(study)


def test_who_may_only_look_sees_no_field_and_can_press_nothing(visit: Visit, study: str, verb: Verb) -> None:
    verb("arrive", subject="bolt 1", station="the viewer")
    page = visit("viewer").goes(f"study/{study}/operate")
    expect(page.locator(".notice")).to_contain_text("needs the role operator")
    expect(action(page, "bolt 1")).to_have_text("visual")
    expect(page.locator("#entry")).to_have_count(0)
    expect(page.locator(".card button:enabled")).to_have_count(0)


def test_what_is_measured_is_typed_with_its_unit(
    visit: Visit, service: Running, tokens: dict[str, str], study: str
) -> None:
    tests = [Test("hardness", 0.08, outcomes=None, unit="HRC"), Test("strength", 0.6, outcomes=None, unit="MPa")]
    reward = Projection((Score("strength", {"strength": 1.0}),), (Piece("ship", value=1.0),))
    problem = Problem(tests, ["ship", "scrap"], reward, name="x")
    name = f"measured {study}"
    made = service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"])
    assert made.status == 201, made
    visitor = visit("operator")
    page = visitor.goes(f"study/{name}/operate")
    expect(page.locator("#entry")).to_be_focused()
    visitor.enters("part 1")
    field = page.get_by_label("hardness in HRC").first
    field.fill("31,5")
    field.press("Enter")
    expect(card(page, "part 1").locator(".chips")).to_contain_text("hardness 31.5 HRC")
    expect(action(page, "part 1")).to_have_text("strength")
    page.locator("#entry").focus()
    visitor.enters("905")
    page.get_by_role("button", name="What was measured on part 1").click()
    expect(card(page, "part 1").locator(".chips")).to_contain_text("strength 905 MPa")
    assert subjects(service, tokens, name)["part 1"]["known"] == {"hardness": 31.5, "strength": 905.0}


def test_what_is_no_number_measures_corrects_and_lets_arrive_nothing(
    visit: Visit, service: Running, tokens: dict[str, str], study: str
) -> None:
    """In JSON it is null, by which a correction withdraws an outcome; in the field it would be a subject's name."""
    tests = [Test("hardness", 0.08, outcomes=None, unit="HRC"), Test("strength", 0.6, outcomes=None, unit="MPa")]
    reward = Projection((Score("strength", {"strength": 1.0}),), (Piece("ship", value=1.0),))
    name = f"mistyped {study}"
    given = new_study(Problem(tests, ["ship", "scrap"], reward, name="x"), name=name)
    assert service.call("POST", "/api/studies", given, token=tokens["engineer"]).status == 201
    visitor = visit("operator")
    page = visitor.goes(f"study/{name}/operate")
    expect(page.locator("#entry")).to_be_focused()
    visitor.enters("part 1")
    page.get_by_label("hardness in HRC").first.fill("31.5 HRC")
    page.get_by_label("hardness in HRC").first.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("waits for a number, and this is none")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_label("hardness in HRC").first.fill("31.5")
    page.get_by_label("hardness in HRC").first.press("Enter")
    expect(card(page, "part 1").locator(".chips")).to_contain_text("hardness 31.5 HRC")
    card(page, "part 1").get_by_role("button", name="Correct, void").click()
    box = page.get_by_role("dialog")
    box.get_by_role("button", name="Correct hardness").click()
    for wrong in ("32 HRC", "1.000,5", "Infinity"):
        box.get_by_label("hardness was rather").fill(wrong)
        box.get_by_label("Reason").first.fill("misread")
        box.get_by_role("button", name="Correct", exact=True).click()
        expect(box.get_by_role("alert")).to_contain_text(f"“{wrong}” is no number")
    assert subjects(service, tokens, name)["part 1"]["known"] == {"hardness": 31.5}
    box.get_by_label("hardness was rather").fill("−32,5")
    box.get_by_role("button", name="Correct", exact=True).click()
    expect(box.get_by_role("alert")).to_have_count(0)
    expect(box).to_contain_text("hardness −32.5")
    assert list(subjects(service, tokens, name)) == ["part 1"]


def test_a_number_is_cut_into_outcomes(visit: Visit, service: Running, tokens: dict[str, str], study: str) -> None:
    tests = [Test("hardness", 0.08, cuts=(60, 75), outcomes=("soft", "good", "hard"), unit="HRC")]
    problem = Problem(tests, ["pass", "fail"], Table(["hardness"], [[0, 1], [1, 0], [0, 1]]), name="x")
    name = f"cut {study}"
    assert service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"]).status == 201
    visitor = visit("operator")
    page = visitor.goes(f"study/{name}/operate")
    expect(page.locator("#entry")).to_be_focused()
    visitor.enters("part 1")
    visitor.enters("=63,2")
    expect(card(page, "part 1").locator(".chips")).to_contain_text("hardness good")


def test_the_list_of_studies_says_what_stands_in_each_and_is_searched(visit: Visit, study: str, verb: Verb) -> None:
    verb("arrive", subject="bolt 1")
    page = visit("viewer").goes()
    row = page.get_by_role("row", name=study, exact=False).first
    page.get_by_label("Search").fill(study.upper())
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(row.get_by_role("cell").nth(0)).to_have_text("1")
    expect(row.get_by_role("cell").nth(1)).to_have_text("1")
    expect(row).to_contain_text("arrived bolt 1 by the operator")
    page.get_by_label("Search").fill("no such study")
    expect(page.locator("main")).to_contain_text("No study is called like")
