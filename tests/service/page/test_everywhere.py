"""Every page: readable for all, in both themes and all sizes; names that are markup act nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.service.page.conftest import Visit, Visitor, violations
from tests.service.page.living import inspected
from tests.service.running import Running, at, new_study

from proband import Problem, Test
from proband.rewards import Table
from proband.studies import open_store

pytestmark = pytest.mark.browser

PLACES = {
    "": "table.studies tbody th",
    "new": ".editor",
    "tokens": "table.tokens tbody th",
    "study/lines": ".chart svg",
    "study/lines/operate": ".card .next",
    "study/lines/policy": ".tree .node",
    "study/lines/subjects": "table.subjects tbody th",
    "study/lines/trail": "table.trail tbody th",
    "study/sites/policy": ".set",
}
"""Each page, and what is there when it is complete."""


@pytest.fixture(scope="module")
def living(store: str, service: Running) -> None:
    where = open_store(store)
    inspected(where, "bolts", "lines", 80)
    inspected(where, "network", "sites", 30, agent="certified", called="round")
    where.close()


def complete(visitor: Visitor, place: str) -> Page:
    page = visitor.goes(place)
    if place.endswith("operate"):
        page.evaluate("localStorage.setItem('proband station', JSON.stringify('line 1'))")
        visitor.goes(place)
    expect(page.locator(PLACES[place]).first).to_be_visible()
    expect(page.locator(".waiting")).to_have_count(0)
    return page


@pytest.mark.usefixtures("living")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(visit: Visit, scheme: str) -> None:
    stranger = visit(None, color_scheme=scheme)
    assert violations(stranger.goes()) == []
    visitor = visit("admin", color_scheme=scheme)
    found = {place: violations(complete(visitor, place)) for place in PLACES}
    page = complete(visitor, "study/lines/subjects")
    page.locator("table.subjects tbody button").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    found["dialog"] = violations(page)
    assert {place: each for place, each in found.items() if each} == {}


@pytest.mark.usefixtures("living")
@pytest.mark.parametrize("width", [360, 768, 1920])
def test_no_page_is_wider_than_the_screen(visit: Visit, width: int) -> None:
    visitor = visit("admin", viewport={"width": width, "height": 800})
    for place in PLACES:
        page = complete(visitor, place)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
    page = complete(visitor, "")
    assert page.evaluate("""[...document.querySelectorAll('table.studies tbody td:last-child a')]
        .every((each) => each.getBoundingClientRect().right <= innerWidth)"""), "the way to a study is out of sight"


SMALL = """[...document.querySelectorAll('button, a.button, select, input:not([type=checkbox]), nav a')]
    .filter((each) => each.checkVisibility() && each.id !== 'skip')
    .map((each) => [each.textContent || each.ariaLabel || each.id, each.getBoundingClientRect()])
    .filter(([, box]) => box.height < 44).map(([text, box]) => `${text} ${box.height}`)"""


@pytest.mark.usefixtures("living")
def test_fingers_find_every_button_of_a_phone(visit: Visit) -> None:
    visitor = visit("admin", viewport={"width": 360, "height": 740}, has_touch=True)
    for place in PLACES:
        page = complete(visitor, place)
        assert page.evaluate(SMALL) == [], place
    page = complete(visitor, "study/lines/trail")
    for each in (page.get_by_role("link", name="Trail"), page.locator("table.trail td.detail b").first):
        box = each.bounding_box()
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= 360, "what the page is about is out of sight"


@pytest.mark.usefixtures("living")
def test_numbers_have_true_minus_signs_and_units(visit: Visit) -> None:
    visitor = visit("viewer")
    for place in PLACES:
        if place not in ("new", "tokens"):
            assert re.findall(r"(?:^|[\s(])-\d.*", complete(visitor, place).locator("main").inner_text(), re.M) == []
    assert "−" in complete(visitor, "study/lines/policy").locator("main").inner_text()
    certified = complete(visitor, "study/sites/policy").locator("main").inner_text()
    for bound in re.findall(r"within (.*) a round", certified):
        assert bound.endswith(" EUR/month")


@pytest.mark.usefixtures("living")
def test_the_colours_are_the_systems_or_chosen(visit: Visit) -> None:
    visitor = visit("viewer", color_scheme="dark")
    page = visitor.goes()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name=re.compile("Colours")).click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    expect(page.get_by_role("button", name="Colours: light")).to_be_visible()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Colours: light").click()
    assert page.evaluate(ground) == dark


@pytest.mark.usefixtures("living")
def test_every_page_is_reached_by_keyboard(visit: Visit) -> None:
    page = visit("admin").goes("study/lines")
    for tab in ("Operate", "Policy", "Subjects", "Trail", "Dashboard"):
        page.get_by_role("link", name=tab, exact=True).first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name=tab, exact=True).first).to_have_attribute("aria-current", "page")
        expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".chart svg").first).to_be_visible()  # what is skipped to is there
    page.locator("#skip").focus()
    expect(page.locator("#skip")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()


MARKUP = "<img src=x onerror=alert(1)>\"'{{7*7}}</title><script>alert(1)</script>"


@pytest.fixture
def hostile(service: Running, tokens: dict[str, str], store: str) -> Iterator[str]:
    """A study in which every name is markup; the subject is open at a station of such a name, told by such a user."""
    tests = [Test(f"t{MARKUP}", 0.1, outcomes=(f"o{MARKUP}", "other"))]
    reward = Table([f"t{MARKUP}"], [[1.0, 0.0], [-4.0, 0.0]])
    problem = Problem(tests, [f"d{MARKUP}", "fail"], reward, name="x", unit="E<b>")
    study, user = f"s{MARKUP}", f"u{MARKUP}"
    given = new_study(
        problem,
        name=study,
        agent="greedy",
        past={"records": f'"{tests[0].name.replace(chr(34), chr(34) * 2)}"\nother\nother\n'},
    )
    made = service.call("POST", "/api/studies", given, token=tokens["engineer"])
    assert made.status in (201, 409), made
    mine = service.call("POST", "/api/tokens", {"user": user, "role": "operator"}, token=tokens["admin"]).json["secret"]
    for subject in (f"a{MARKUP}", f"b{MARKUP}"):
        sent = {"subject": subject, "station": f"l{MARKUP}"}
        service.call("POST", at(study, "arrive"), sent, token=mine)
    told = {"outcomes": {f"t{MARKUP}": f"o{MARKUP}"}, "station": f"l{MARKUP}"}
    service.call("POST", at(study, "subjects", f"a{MARKUP}", "tell"), told, token=mine)
    service.call("POST", at(study, "subjects", f"a{MARKUP}", "decide"), {"station": f"l{MARKUP}"}, token=mine)
    return study


def test_names_that_are_markup_are_text_on_every_page(visit: Visit, hostile: str, tokens: dict[str, str]) -> None:
    from urllib.parse import quote

    visitor = visit("admin")
    acted: list[str] = []
    visitor.page.on("dialog", lambda dialog: acted.append(dialog.message))
    where = f"study/{quote(hostile, safe='')}"
    for place, shows in {
        "": "table.studies tbody th", "tokens": "table.tokens tbody th", where: ".bars tbody th",
        f"{where}/operate": ".elsewhere li", f"{where}/policy": ".what-if .action",
        f"{where}/subjects": "table.subjects tbody th", f"{where}/trail": "table.trail tbody th",
    }.items():  # fmt: skip
        page = visitor.goes(place)
        expect(page.locator(shows).first).to_be_visible()
        expect(page.locator("main")).to_contain_text("<img src=x onerror=alert(1)>")
        expect(page.locator("main img, main script, main b > b > b, body iframe")).to_have_count(0)
    page = visitor.goes(f"{where}/operate")
    page.get_by_role("button", name="Take over").click()
    page.get_by_role("dialog").get_by_role("button", name="Take it over").click()
    expect(page.locator(".card .next")).to_be_visible()
    page.locator(".card .next button").first.click()
    expect(page.locator(".toasts")).to_contain_text("<img src=x")
    expect(page.locator("main img, .toasts img, dialog img")).to_have_count(0)
    page.locator(".recent button").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("<img src=x")
    expect(page.locator("dialog img")).to_have_count(0)
    assert acted == []
