"""The policy page: the tree, what if, what would change the advice, sets."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.service.page.conftest import Visit
from tests.service.page.living import inspected
from tests.service.running import Running, at, new_study

from proband import Problem, Study
from proband.planners.dense_plan import BorrowedPlan
from proband.studies import open_store
from proband.studies.learning.acting import plan_of

pytestmark = pytest.mark.browser

PAST = "visual,ultrasonic\n" + "clean,ok\n" * 70 + "clean,crack\n" * 5 + "rusty,ok\n" * 5 + "rusty,crack\n" * 20


@pytest.fixture
def planned(service: Running, tokens: dict[str, str], problem: Problem, study: str) -> str:
    """A study that has learned from past records: rusty bolts are scanned, clean ones pass."""
    name = f"planned {study}"
    given = new_study(problem, name=name, agent="greedy", past={"records": PAST})
    assert service.call("POST", "/api/studies", given, token=tokens["engineer"]).status == 201
    return name


def node(page: Page, says: str) -> Locator:
    return page.get_by_role("button", name=re.compile(rf"^{says}"))


def test_the_tree_is_drawn_with_value_cost_probability_and_counts(
    visit: Visit, service: Running, tokens: dict[str, str], planned: str
) -> None:
    operator = tokens["operator"]
    for name, shown in (("a", {"visual": "clean"}), ("b", {"visual": "rusty", "ultrasonic": "crack"})):
        service.call("POST", at(planned, "arrive"), {"subject": name}, token=operator)
        service.call("POST", at(planned, "subjects", name, "tell"), {"outcomes": shown}, token=operator)
        service.call("POST", at(planned, "subjects", name, "decide"), {}, token=operator)
    page = visit("viewer").goes(f"study/{planned}/policy")
    root = node(page, "nothing known: test visual")
    expect(root).to_have_accessible_name(re.compile(r"value [\d.]+, 100 %, 0.10 EUR, 2 subjects"))
    expect(node(page, "visual clean: decide pass")).to_have_accessible_name(re.compile("75 %, 1 subjects"))
    expect(node(page, "visual rusty: decide fail")).to_have_accessible_name(re.compile("25 %, 1 subjects"))


def test_nodes_are_asked_what_if_by_pointer_and_keyboard(visit: Visit, planned: str) -> None:
    page = visit("viewer").goes(f"study/{planned}/policy")
    answer = page.locator(".what-if .answer")
    expect(answer.locator(".action")).to_have_text("visual")
    node(page, "visual rusty: decide fail").click()
    expect(answer).to_contain_text("Known: visual rusty")
    expect(answer.locator(".action")).to_have_text("fail")
    expect(answer).to_contain_text(re.compile(r"ultrasonic would be advised if it were worth [\d.]+ EUR more"))
    expect(answer).to_contain_text("Had visual shown clean: decide pass.")
    page.keyboard.press("ArrowUp")
    expect(node(page, "visual clean: decide pass")).to_be_focused()
    page.keyboard.press("Enter")
    expect(answer).to_contain_text("Known: visual clean")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("f")
    expect(node(page, "visual clean")).to_have_count(0)
    page.keyboard.press("f")
    expect(node(page, "visual clean")).to_be_visible()
    page.get_by_text("Think up another subject").click()
    page.get_by_label("ultrasonic").select_option("crack")
    expect(answer).to_contain_text("ultrasonic crack")
    expect(answer.locator(".action")).to_have_text("fail")


VALUE = re.compile(r"value ([-−]?[\d.,e]*\d)")


def test_the_tree_and_what_if_say_the_same_of_a_node(visit: Visit, store: str, study: str) -> None:
    """Of a plan that was borrowed from another law, and of a drawing that ends before the plan does."""
    name, where = f"lent {study}", open_store(store)
    inspected(where, "bolts", name, 70, open=0)
    with Study.open(name, store=where, replan="now") as known:
        assert isinstance(plan_of(known.policy()), BorrowedPlan)
    where.close()
    page = visit("viewer").goes(f"study/{name}/policy")
    drawing, cut = page.locator(".drawing"), page.locator(".node.cut")
    expect(drawing).to_contain_text(
        re.compile(r"learned up to event \d+\. Values are those of following the plan to its")
    )
    expect(cut).not_to_have_count(0)
    check_nodes(page)
    page.get_by_label("Tests on a path, at most").select_option("12")
    expect(cut).to_have_count(0)
    check_nodes(page)


def check_nodes(page: Page) -> None:
    """Hold what some nodes say to what is answered when they are chosen."""
    answer = page.locator(".what-if .answer")
    for node in (page.locator(".node").first, page.locator(".node").nth(1), page.locator(".node").last):
        said = node.get_attribute("aria-label") or ""
        node.dispatch_event("click")
        way = said.split(":")[0].replace("nothing known", "Nothing is known.")
        for known in way.split(", "):
            expect(answer.locator(".known")).to_contain_text(known)
        action = re.split(r": (?:test|decide) |, value", said)[1]
        expect(answer.locator(".action")).to_have_text(action)
        [value] = VALUE.findall(said)
        row = answer.locator("tr", has=page.get_by_role("rowheader", name=action))
        expect(row.locator("td").first).to_have_text(value)


def test_the_drawing_is_zoomed_and_moved(visit: Visit, planned: str) -> None:
    page = visit("viewer").goes(f"study/{planned}/policy")
    root = node(page, "nothing known")
    expect(root).to_be_visible()
    before = root.bounding_box()
    page.get_by_role("button", name="Larger").click()
    larger = root.bounding_box()
    assert before is not None
    assert larger is not None
    assert larger["width"] == pytest.approx(1.3 * before["width"], rel=0.02)
    box = page.locator("svg.tree").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + box["height"] - 60, steps=4)
    page.mouse.up()
    moved = root.bounding_box()
    assert moved is not None
    assert (moved["x"] - larger["x"], moved["y"] - larger["y"]) == pytest.approx((100, -40), abs=2)
    page.get_by_role("button", name="Show all of it").click()
    fits = root.bounding_box()
    assert fits is not None
    assert fits["x"] >= box["x"]


def test_on_a_phone_nodes_can_be_read_and_come_into_sight(visit: Visit, planned: str) -> None:
    page = visit("viewer", viewport={"width": 390, "height": 800}).goes(f"study/{planned}/policy")
    expect(node(page, "nothing known")).to_be_visible()
    frame = page.locator("svg.tree").bounding_box()
    assert frame is not None
    beyond = page.locator(".node").nth(1)
    before = beyond.bounding_box()
    assert before is not None
    assert before["width"] >= 0.9 * 190, "12 pixels of a text are 11 at least"
    assert before["x"] + before["width"] > frame["x"] + frame["width"], "it is out of sight at first"
    beyond.dispatch_event("click")
    expect(page.locator(".what-if .known")).to_contain_text("Known:")
    after = beyond.bounding_box()
    assert after is not None
    assert frame["x"] <= after["x"] < after["x"] + after["width"] <= frame["x"] + frame["width"]
    assert frame["y"] <= after["y"] < after["y"] + after["height"] <= frame["y"] + frame["height"]


def test_before_there_is_a_plan_the_page_says_so(visit: Visit, study: str) -> None:
    page = visit("viewer").goes(f"study/{study}/policy")
    expect(page.locator(".drawing")).to_contain_text("the first subjects are tested completely")
    expect(page.locator(".drawing")).to_contain_text("0.70 EUR a subject")


def test_an_entropy_study_shows_its_set(visit: Visit, store: str, study: str) -> None:
    name, where = f"network {study}", open_store(store)
    inspected(where, "network", name, 30, agent="certified", called="round")
    where.close()
    page = visit("viewer").goes(f"study/{name}/policy")
    expect(page.locator(".drawing")).to_contain_text("Every subject gets the same measurements")
    expect(page.locator(".drawing")).to_contain_text("Certificate")
    expect(page.locator(".drawing .value")).to_contain_text("EUR/month a subject")
    expect(page.locator(".drawing .value")).not_to_contain_text("100 EUR/month")
    expect(page.locator(".set li").first).to_contain_text("site")


def test_another_policy_is_offered_and_not_thrown_at_who_reads(visit: Visit, planned: str) -> None:
    page = visit("viewer").goes(f"study/{planned}/policy")
    expect(node(page, "nothing known")).to_be_visible()
    visitor = visit("operator")
    visitor.goes(f"study/{planned}/operate")
    expect(visitor.page.locator("#entry")).to_be_focused()
    for scan in ("bolt 1", "rusty", "fail"):
        visitor.enters(scan)
    expect(page.locator(".notice")).to_contain_text("newer numbers, from 1 finished subject")
    page.get_by_role("button", name="Show them").click()
    expect(node(page, "nothing known")).to_have_accessible_name(re.compile("1 subjects"))
