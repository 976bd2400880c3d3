"""Every page of the built site in a real browser, without a network, as wide as a desk's screen and as a phone's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

SITE = Path(__file__).parents[1] / "out" / "docs"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
LINKS = "all => all.map(each => each.href)"
ANCHORS = "all => all.map(each => each.id)"
PICTURES = "all => all.filter(each => each.naturalWidth === 0 && each.loading !== 'lazy').map(each => each.src)"
PROSE = "document.querySelector('article').innerText"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def trouble() -> list[str]:
    """What the browser complained of, and what pages asked the network for."""
    return []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    assert program is not None, "there is no chromium; make test-browser installs it where apt-get can"
    assert len(list(SITE.rglob("*.html"))) > 50, "the site is not built; run make docs"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any, trouble: list[str]) -> Iterator[Page]:
    context = browser.new_context(offline=True, viewport=DESK)
    page = context.new_page()
    page.on("console", lambda told: trouble.append(f"{page.url}: {told.text}") if told.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(f"{page.url}: {error}"))
    page.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else trouble.append(asked.url))
    yield page
    context.close()


def test_pages_fit_and_links_lead_somewhere(page: Page, trouble: list[str]) -> None:
    anchors: dict[str, set[str]] = {}
    links: list[tuple[str, str]] = []
    for file in sorted(SITE.rglob("*.html")):
        page.goto(file.as_uri())
        here = page.url
        links += [(here, link) for link in page.eval_on_selector_all("a[href]", LINKS)]
        anchors[str(file)] = set(page.eval_on_selector_all("[id]", ANCHORS))
        trouble += [f"{here} lacks {each}" for each in page.eval_on_selector_all("img", PICTURES)]
        if not page.evaluate(FITS):
            trouble.append(f"{here} is wider than a desk's screen")
        page.set_viewport_size(PHONE)
        if not page.evaluate(FITS):
            trouble.append(f"{here} is wider than a phone")
        page.set_viewport_size(DESK)
    for here, link in dict.fromkeys(links):
        target = urlsplit(link)
        if target.scheme != "file":
            continue
        path, mark = unquote(target.path), unquote(target.fragment)
        if not Path(path).exists() or (mark and path in anchors and mark not in anchors[path]):
            trouble.append(f"{here} links to {link}")
    assert trouble == []


def test_the_search_finds_without_a_network(page: Page, trouble: list[str]) -> None:
    from playwright.sync_api import expect

    for words, found in (("regret", "Glossary"), ("SafeLeafCompletion", "proband.agents")):
        page.goto((SITE / "search.html").as_uri() + f"?q={words}")
        expect(page.locator("#search-results li", has_text=found).first).to_be_visible()
    assert trouble == []


def test_formulae_are_drawn(page: Page) -> None:
    page.goto((SITE / "mathematics.html").as_uri())
    assert page.locator("math").count() > 60
    sums = page.locator("div.math math").first.bounding_box()
    assert sums is not None
    assert sums["height"] > 30, "a sum with its limits is higher than a line"
    assert "\\frac" not in page.evaluate(PROSE)
    assert "$" not in page.evaluate(PROSE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "spreadsheets", "mathematics", "guides/inspection", "reference/proband"])
def test_pages_can_be_read_by_everybody(page: Page, scheme: Any, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.goto((SITE / f"{name}.html").as_uri())
    rules = {
        "runOnly": ["color-contrast", "image-alt", "link-name", "heading-order", "document-title", "html-has-lang"]
    }
    found = Axe().run(page, context="article", options=rules).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
