"""What docs/agents.md and docs/safe-leaf-completion.md show is true."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from pathlib import Path
from typing import Any

import pytest

from proband.agents import SafeLeafCompletion
from proband.instances import easy

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name: str, language: str) -> list[str]:
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def printed(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "document", "exec"), names)
    return out.getvalue()


def test_the_examples_of_the_agents_page_run() -> None:
    [race] = blocks("agents.md", "python")
    lines = printed(race, {}).splitlines()
    etc, safe = (line.split() for line in lines)
    assert (etc[0], safe[0]) == ("ExploreThenCommit", "SafeLeafCompletion")
    assert int(safe[1]) < int(etc[1])


def test_the_bound_is_as_large_as_the_page_says() -> None:
    [code], [expected] = blocks("safe-leaf-completion.md", "python"), blocks("safe-leaf-completion.md", "text")
    names: dict[str, Any] = {}
    assert printed(code, names) == expected
    assert names["bound"](1024, 2**20, 1.5, 0.5) > 2 * 1.5 * 2**20


def test_the_page_speaks_of_the_agent_as_shipped() -> None:
    names: dict[str, Any] = {}
    printed(blocks("safe-leaf-completion.md", "python")[0], names)
    given = {name: p.default for name, p in inspect.signature(names["bound"]).parameters.items()}
    shipped = vars(SafeLeafCompletion(easy().problem))
    shipped["first"] = shipped["left"]
    parameters = {"c0": "floor", "c1": "cap", "tau": "threshold", "first": "first", "growth": "growth"}
    for here, there in parameters.items():
        assert given[here] == shipped[there]
        assert f"(`{there}`, {shipped[there]:g})" in (DOCS / "safe-leaf-completion.md").read_text(encoding="utf-8")


def test_the_bound_has_the_rate_that_the_page_says() -> None:
    names: dict[str, Any] = {}
    printed(blocks("safe-leaf-completion.md", "python")[0], names)
    bound = names["bound"]
    for T in (2**30, 2**36, 2**42):
        assert bound(1024, 8 * T, 1.5, 0.5) / bound(1024, T, 1.5, 0.5) == pytest.approx(4, rel=0.05)
        assert bound(8192, 8 * T, 1.5, 0.5) / bound(1024, 8 * T, 1.5, 0.5) == pytest.approx(2, rel=0.15)
        aside = [bound(1024, t, 1.5, 0.5, M=50) - bound(1024, t, 1.5, 0.5) for t in (T, 8 * T)]
        assert aside[1] / aside[0] == pytest.approx(2, rel=0.2)  # of the order T^(1/3)
