"""Pictures of every page for the documentation, from simulated studies: ``make pictures``."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, expect
from tests.service.page.conftest import SECONDS, browsing
from tests.service.page.living import inspected
from tests.service.running import Running

from proband.service.access.log import AccessLog
from proband.service.access.tokens import Role
from proband.studies import open_store

COLOURS = 96
DESK, PHONE = (1280, 800), (360, 740)


def nothing(page: Page) -> None:
    """Leave the page as it is."""


def look_at_a_node(page: Page) -> None:
    page.locator(".node").nth(2).click()
    expect(page.locator(".what-if")).to_contain_text("Known:")


def mistake(page: Page) -> None:
    page.get_by_role("button", name="Show an example").click()
    area = page.locator("textarea").first
    expect(page.locator(".fine").first).to_be_visible()
    area.fill(area.input_value().replace("cost = 0.6", "cosst = 0.6"))
    page.locator("textarea").nth(1).fill("visual,ultrasonic\nclean,ok\nrusty,\n")
    expect(page.locator(".mistakes button").first).to_be_visible()


class Picture(NamedTuple):
    name: str
    where: str
    shows: str
    size: tuple[int, int] = DESK
    scheme: str = "light"
    before: Callable[[Page], None] = nothing


PICTURES = (
    Picture("studies", "", "table.studies tbody th"),
    Picture("operate", "study/bolts/operate", ".card .next"),
    Picture("operate-phone", "study/bolts/operate", ".card .next", PHONE, "dark"),
    Picture("dashboard", "study/bolts", ".chart svg", (1280, 1000)),
    Picture("dashboard-dark", "study/network", ".chart svg", (1280, 1000), "dark"),
    Picture("policy", "study/bolts/policy", ".tree .node", (1280, 900), before=look_at_a_node),
    Picture("policy-set", "study/network/policy", ".set", scheme="dark"),
    Picture("subjects", "study/bolts/subjects", "table.subjects tbody th"),
    Picture("trail", "study/bolts/trail", "table.trail tbody th"),
    Picture("create", "new", ".editor", (1280, 900), before=mistake),
    Picture("tokens", "tokens", "table.tokens tbody th", (1280, 460)),
)


def draw(folder: Path) -> None:
    """Make all pictures in a folder."""
    with tempfile.TemporaryDirectory() as scratch:
        url = f"sqlite:///{scratch}/store.db"
        where = open_store(url)
        inspected(where, "bolts", "bolts", 400, open=5)
        inspected(where, "gout", "gout", 60, called="patient")
        inspected(where, "network", "network", 300, agent="certified", called="round")
        access = AccessLog(where)
        token, _ = access.make("Ada", Role.ADMIN, by="Ada")
        for user, role in (("Ben", Role.OPERATOR), ("line 2", Role.OPERATOR), ("Chris", Role.VIEWER)):
            access.make(user, role, ["bolts"], by="Ada")
        where.close()
        with Running(url) as service, browsing() as browser:
            for picture in PICTURES:
                take(browser, service, token, picture, folder)


def take(browser: Browser, service: Running, token: str, picture: Picture, folder: Path) -> None:
    width, height = picture.size
    options: dict[str, Any] = {"viewport": {"width": width, "height": height}, "color_scheme": picture.scheme}
    context = browser.new_context(**options)
    context.set_default_timeout(SECONDS)
    assert context.request.post(f"{service.url}/login", data={"token": token}).ok
    context.add_init_script("localStorage.setItem('proband station', JSON.stringify('line 1'))")
    page = context.new_page()
    page.goto(f"{service.url}/#/{picture.where}")
    expect(page.locator(picture.shows).first).to_be_visible()
    picture.before(page)
    expect(page.locator(".waiting")).to_have_count(0)
    expect(page.locator("td", has_text="…").and_(page.locator(".number"))).to_have_count(0)
    page.mouse.move(width - 2, height - 2)
    image = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    path = folder / f"service-{picture.name}.png"
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    sys.stdout.write(f"{path} {path.stat().st_size // 1024} kB\n")
    context.close()


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
