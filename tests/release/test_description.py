"""The description of the package leads nowhere that is not there."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def test_the_description_has_no_paths_as_links(hook: ModuleType) -> None:
    found: dict[str, dict[str, str]] = {}
    hook.CustomMetadataHook(str(ROOT), {}).update(found)
    text = found["readme"]["text"]
    assert not [each for each in hook.LINK.findall(text) if each[2]]
    assert "estimators for scikit-learn (`docs/scikit-learn.md`)" in text
    assert "see `LICENSE`" in text


def test_with_an_address_links_lead_there(hook: ModuleType) -> None:
    found: dict[str, dict[str, str]] = {}
    hook.CustomMetadataHook(str(ROOT), {"address": "https://example.org/proband/"}).update(found)
    picture = "![The best inspection plan of the bolts example with three tests at most](https://example.org/proband/docs/images/"
    assert picture in found["readme"]["text"]
