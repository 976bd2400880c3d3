"""Every page of the built site in a real browser, without a network: no error, no broken link, a search that finds."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[1] / "out" / "docs"


@pytest.mark.browser
def test_pages_links_and_search() -> None:
    from playwright.sync_api import expect, sync_playwright

    program, files = shutil.which("chromium"), sorted(SITE.rglob("*.html"))
    assert program is not None, "there is no chromium; make test-browser installs it where apt-get can"
    assert len(files) > 50, "the site is not built; run make docs"
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.on("console", lambda told: errors.append(f"{page.url}: {told.text}") if told.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
        for file in files:
            page.goto(file.as_uri())
            for link in page.eval_on_selector_all("a[href]", "all => all.map(each => each.href)"):
                target = urlsplit(link)
                if target.scheme == "file" and not Path(unquote(target.path)).exists():
                    errors.append(f"{page.url} links to {link}")
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), file
        page.goto((SITE / "search.html").as_uri() + "?q=regret")
        expect(page.locator("#search-results li").first).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 800})
        for name in ("index.html", "command-line.html", "reference/proband.html"):
            page.goto((SITE / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
        browser.close()
    assert errors == []
