"""From a spreadsheet to a running station: the tutorial, walked through as it stands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.service.page.conftest import Visitor
from tests.service.running import Running

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
TUTORIAL = (ROOT / "docs" / "station.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", TUTORIAL, flags=re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_tutorial_is_walked_through(chromium: Browser, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "castings.csv", tmp_path)
    program, verb, option, store = shlex.split(block("console"))
    assert (program, verb, option) == ("proband", "serve", "--store")
    with Running(store, folder=tmp_path) as service:
        visitor = Visitor(chromium, service, None)
        page = visitor.page
        page.goto(f"{service.url}/login?token={service.link}")
        page.get_by_role("link", name="New study").click()
        past = page.locator("section.panel", has=page.get_by_role("heading", name="Past records"))
        past.get_by_label("From a file").set_input_files(tmp_path / "castings.csv")
        page.get_by_role("button", name="Draft the problem from these records").click()
        expect(page.locator(".gutter .bad")).to_have_count(8)
        page.get_by_label("The problem, the text").fill(block("toml"))
        expect(past.locator(".fine")).to_have_text("They are right: 400 past subjects.")
        page.get_by_role("button", name="Begin the study").click()
        expect(page.locator("#entry")).to_be_focused()
        page.get_by_role("button", name="This station").click()
        page.get_by_label("Name").fill("line 1")
        page.keyboard.press("Enter")
        expect(page.locator("#entry")).to_be_focused()
        for scan in block("text").splitlines():
            visitor.enters(scan)
        card = page.locator('.card[data-subject="C-5000"]')
        expect(card.locator(".chips")).to_contain_text("Porosity [%]")
        known = {"Furnace": "A", "Visual": "rough", "Hardness [HRC]": "63 to 68 HRC", "Porosity [%]": ">= 0.5 %"}
        for test, outcome in known.items():
            expect(card.locator(".chips li", has_text=test)).to_contain_text(outcome)
        expect(card.locator(".kind")).to_have_text("Decide")
        visitor.enters("scrap")
        expect(page.locator(".recent li").first).to_contain_text("C-5000 scrap")
        page.get_by_role("link", name="Dashboard").click()
        expect(page.locator(".figure").first).to_contain_text("400 past subjects known")
        expect(page.locator(".figure .value").first).to_have_text("1")
        assert visitor.complaints == []
        visitor.context.close()
