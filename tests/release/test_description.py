"""The description of the package leads nowhere that is not there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    picture = "![The best inspection plan of the bolts example](https://example.org/proband/docs/images/"
    assert picture in found["readme"]["text"]
