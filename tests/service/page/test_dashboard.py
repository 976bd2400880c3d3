"""The dashboard moves with every event, in seven pages at once, and over a restart of the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.service.conftest import Verb
from tests.service.page.conftest import Visit, Visitor
from tests.service.page.living import inspected
from tests.service.running import Running, at, free_port, new_study

from proband import Problem
from proband.studies import open_store

pytestmark = pytest.mark.browser


def figure(page: Page, title: str) -> Locator:
    return page.locator(".figure", has=page.get_by_text(title, exact=True)).locator(".value")


def finish(verb: Verb, subject: str) -> None:
    verb("arrive", subject=subject)
    verb("tell", subject, outcomes={"visual": "clean", "ultrasonic": "ok"})
    verb("decide", subject)


def test_the_dashboard_moves(visit: Visit, study: str, verb: Verb) -> None:
    page = visit("viewer").goes(f"study/{study}")
    expect(figure(page, "Finished")).to_have_text("0")
    finish(verb, "bolt 1")
    expect(figure(page, "Finished")).to_have_text("1")
    expect(figure(page, "Cost a subject")).to_have_text("0.70 EUR")
    expect(page.locator(".lately li").first).to_contain_text("bolt 1 decided pass")
    expect(page.get_by_role("img", name=re.compile("Cost a subject in EUR"))).to_be_visible()
    verb("arrive", subject="bolt 2")
    expect(figure(page, "Open")).to_have_text("1")


def test_seven_pages_of_one_browser_are_live_with_one_stream(visit: Visit, study: str, verb: Verb) -> None:
    visitor = visit("viewer")
    pages = [visitor.page, *(visitor.context.new_page() for _ in range(6))]
    for page in pages:
        visitor.goes(f"study/{study}", page)
        expect(figure(page, "Finished")).to_have_text("0")
    finish(verb, "bolt 1")
    for page in pages:
        expect(figure(page, "Finished")).to_have_text("1")
    assert streams(visitor) == 1
    for number, page in enumerate(pages[:6]):  # whoever keeps the stream leaves, and another one takes over
        page.close()
        finish(verb, f"bolt {number + 2}")
        expect(figure(pages[6], "Finished")).to_have_text(str(number + 2))


def streams(visitor: Visitor) -> int:
    text = visitor.context.request.get(f"{visitor.service.url}/metrics").text()
    [found] = re.findall(r"^proband_streams_open (\d+)", text, flags=re.MULTILINE)
    return int(found)


def test_seven_pages_of_seven_studies_are_live(
    visit: Visit, service: Running, tokens: dict[str, str], problem: Problem
) -> None:
    visitor = visit("viewer")
    pages = {}
    for number in range(7):
        name = f"seven {number}"
        made = service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"])
        assert made.status == 201
        pages[name] = visitor.goes(f"study/{name}", visitor.context.new_page())
        expect(figure(pages[name], "Open")).to_have_text("0")
    for name, page in pages.items():
        answer = service.call("POST", at(name, "arrive"), {"subject": "a"}, token=tokens["operator"])
        assert answer.status == 201
        page.bring_to_front()
        expect(figure(page, "Open")).to_have_text("1")


@pytest.fixture
def ending(chromium: Browser, store: str, tokens: dict[str, str]) -> Iterator[tuple[Running, Visitor]]:
    """A service of its own on the same store, which may be ended, and an operator in front of it."""
    running = Running(store, port=free_port())
    visitor = Visitor(chromium, running, tokens["operator"])
    yield running, visitor
    visitor.context.close()
    if running.process.poll() is None:
        running.stop()


def test_the_page_goes_on_when_the_service_is_started_again(
    ending: tuple[Running, Visitor], study: str, tokens: dict[str, str]
) -> None:
    first, visitor = ending
    page = visitor.goes(f"study/{study}/operate")
    visitor.enters("bolt 1")
    one = page.locator('.card[data-subject="bolt 1"]')
    expect(one.locator(".action")).to_have_text("visual")
    first.stop()
    one.get_by_role("button", name="visual: clean").click()
    expect(page.locator("#away")).to_contain_text("What you entered is kept")
    with Running(first.store, port=first.port) as second:
        expect(one.locator(".chips")).to_contain_text("visual clean")
        expect(page.locator("#away")).to_have_text("")
        answer = second.call(
            "POST", at(study, "arrive"), {"subject": "bolt 2", "station": "x"}, token=tokens["operator"]
        )
        assert answer.status == 201
        expect(page.locator(".elsewhere")).to_contain_text("bolt 2")  # the stream is back, too
        events = second.call("GET", at(study, "events"), token=tokens["viewer"]).json["items"]
        assert [event["kind"] for event in events] == ["created", "arrived", "observed", "arrived"]


def test_an_engineer_fills_proves_and_restarts_a_study(visit: Visit, study: str, tmp_path: Path) -> None:
    page = visit("engineer").goes(f"study/{study}")
    (tmp_path / "past.csv").write_text("visual,ultrasonic\nclean,ok\nrusty,\n")
    for said in ("2 past subjects added, 0 known already", "0 past subjects added, 2 known already"):
        page.get_by_role("button", name="Learn from past records").click()
        page.get_by_label("A table (CSV, .xlsx or Parquet)").set_input_files(tmp_path / "past.csv")
        page.get_by_role("button", name="Learn", exact=True).click()
        expect(page.locator(".toasts")).to_contain_text(said)
    page.get_by_role("button", name="Prove the log").click()
    page.get_by_role("button", name="Prove it").click()
    expect(page.get_by_role("dialog")).to_contain_text("Whole: 2 entries")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Learn afresh").click()
    page.get_by_label("Reason").fill("new supplier")
    page.get_by_role("button", name="Learn afresh", exact=True).click()
    expect(page.locator(".lately li").first).to_contain_text("restarted")


def test_an_entropy_study_shows_its_certificate(visit: Visit, store: str, study: str) -> None:
    name, where = f"network {study}", open_store(store)
    inspected(where, "network", name, 30, agent="certified", called="round")
    where.close()
    page = visit("viewer").goes(f"study/{name}")
    expect(page.locator(".learned")).to_contain_text("Certificate")
    expect(page.locator(".learned")).to_contain_text("undecided")
    expect(page.locator(".chart").first).to_contain_text("Cost a subject in EUR/month")  # the unit is 100 EUR/month
    expect(page.locator("main")).not_to_contain_text("100 EUR/month")
