"""A real Chromium, driven by Playwright, and whoever sits in front of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python import base as axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from tests.service.running import Running

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip
SECONDS = 30_000.0
AXE = Path(axe.__file__).parent / "axe.min.js"
SERIOUS = ("serious", "critical")
REFUSED = "Failed to load resource"
"""Chromium says so of every answer that is an error, whatever the page makes of it."""

expect.set_options(timeout=SECONDS)


@contextmanager
def browsing() -> Iterator[Browser]:
    """A Chromium, for as long as the block runs."""
    program = shutil.which("chromium")
    assert program is not None, "there is no chromium; make test-browser installs it where apt-get can"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


class Visitor:
    """Somebody with a browser of his own, logged in or not; what the pages complain about is kept."""

    def __init__(self, browser: Browser, service: Running, token: str | None, **options: Any) -> None:
        self.service = service
        self.context: BrowserContext = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        self.context.set_default_timeout(SECONDS)
        self.complaints: list[str] = []
        self.context.on("console", self._said)
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        if token is not None:
            self.log_in(token)
        self.page = self.context.new_page()

    def log_in(self, token: str) -> None:
        answer = self.context.request.post(f"{self.service.url}/login", data={"token": token})
        assert answer.ok, answer.text()

    def goes(self, where: str = "", page: Page | None = None) -> Page:
        """Go to a page, by the part of its address after #."""
        page = page or self.page
        page.goto("about:blank")
        page.goto(f"{self.service.url}/#/{where}")
        expect(page.locator("h1").first).to_be_visible()
        return page

    def enters(self, text: str) -> None:
        """Type something into whatever has the focus, and press Enter, as a scanner does."""
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(REFUSED):
            self.complaints.append(message.text)


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(chromium: Browser, service: Running, tokens: dict[str, str]) -> Iterator[Visit]:
    """Open a browser as somebody of a role; in the end no page may have complained about anything."""
    visitors: list[Visitor] = []

    def opened(role: str | None = "operator", *, at: Running | None = None, **options: Any) -> Visitor:
        visitor = Visitor(chromium, at or service, None if role is None else tokens[role], **options)
        visitors.append(visitor)
        return visitor

    yield opened
    for visitor in visitors:
        visitor.context.close()
    assert [complaint for visitor in visitors for complaint in visitor.complaints] == []


def violations(page: Page) -> list[str]:
    """What axe-core finds on a page that is serious or critical."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']} ({each['impact']}): {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]
