"""The documentation site leaves nothing out: every page is in it, and every public thing has a page."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from proband.agents import AGENTS
from proband.errors import CODES
from proband.planners import PLANNERS

DOCS = Path(__file__).parents[1] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
_SPEC = importlib.util.spec_from_file_location("reference_pages", DOCS / "reference_pages.py")
assert _SPEC is not None
assert _SPEC.loader is not None
reference = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference)
PAGES = reference.pages()


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r"^([a-z-]+)$", INDEX, flags=re.MULTILINE))
    assert listed == {path.stem for path in DOCS.glob("*.md")} - {"index"}


@pytest.mark.parametrize("package", [name for name in PAGES if name.removeprefix("proband.") not in reference.MODULES])
def test_every_public_name_has_its_place(package: str) -> None:
    for name in importlib.import_module(package).__all__:
        assert f"\n## `{name}`\n" in PAGES[package]


def test_every_public_package_has_a_page() -> None:
    assert {"proband", "proband.planners", "proband.agents", "proband.studies", "proband.sklearn"} <= set(PAGES)


def test_every_error_has_its_place() -> None:
    assert all(f"\n## `{error.__name__}`\n" in PAGES["proband.errors"] for error in CODES)


@pytest.mark.parametrize("names", [AGENTS, PLANNERS], ids=["agents", "planners"])
def test_agents_and_planners_are_told_of(names: list[str]) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    assert [name for name in names if f"`{name}`" not in text] == []
