"""The files of the page: few, small, our own, and nothing in them that the content-security policy forbids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proband.service.pages import FILES

TEXTS = {name: content.decode() for name, (content, _) in FILES.items()}
SCRIPTS = sorted(name for name in FILES if name.endswith(".js"))
LARGEST = 500_000
"""Bytes of all files together."""


def test_the_page_is_small() -> None:
    assert sum(len(content) for content, _ in FILES.values()) < LARGEST
    assert all(len(TEXTS[name].splitlines()) <= 300 for name in SCRIPTS)


@pytest.mark.parametrize("name", FILES)
def test_nothing_comes_from_elsewhere(name: str) -> None:
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[^\s\"'`)]*", TEXTS[name]))
    assert addresses <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_make_no_markup_of_texts_and_run_none(name: str) -> None:
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\.srcdoc|DOMParser|\.cssText"
    )
    assert not re.findall(forbidden, TEXTS[name])
    assert not re.findall(r"setAttribute\(\"style|style: [\"'`]", TEXTS[name])


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_script_imports_is_there(name: str) -> None:
    for module in re.findall(r"(?:from|import)\s*\(?\s*\"\./([\w.]+)\"", TEXTS[name]):
        assert module in FILES, module
        wanted = re.search(rf"import \{{([^}}]*)\}} from \"\./{re.escape(module)}\"", TEXTS[name])
        for each in (wanted.group(1) if wanted else "").split(","):
            given = each.split(" as ")[0].strip()
            assert not given or re.search(rf"export (?:async )?(?:const|function|class) {given}\b", TEXTS[module]), (
                given
            )


def test_the_first_page_has_nothing_inline_and_every_file_is_used() -> None:
    index = TEXTS["index.html"]
    assert not re.findall(r"<style|style=|\son\w+=|javascript:", index)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", index))
    everything = "\n".join(TEXTS.values())
    for name in set(FILES) - {"index.html"}:
        assert f"/{name}" in everything, name


def test_every_file_of_the_page_is_in_the_package() -> None:
    import proband.service

    folder = Path(proband.service.__file__).parent / "page"
    assert {path.name for path in folder.iterdir() if path.is_file()} == set(FILES)
