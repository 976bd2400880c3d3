"""What docs/entropy-sampling.md shows is true."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proband.agents import entropy

TEXT = (Path(__file__).parents[3] / "docs" / "entropy-sampling.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("code", "expected"), [*zip(blocks("python"), blocks("text"), strict=True)])
def test_the_examples_print_what_they_say(code: str, expected: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "entropy-sampling.md", "exec"), {})
    assert printed.getvalue() == expected


@pytest.mark.parametrize("name", ["Certified", "Thrifty", "Elimination", "EntropyExploreThenCommit"])
def test_the_agents_take_what_the_page_says(name: str) -> None:
    [listed] = re.findall(rf"`{name}\(problem, (.*?)\)`", TEXT)
    given = dict(part.split("=") for part in listed.split(", "))
    taken = inspect.signature(getattr(entropy, name)).parameters
    assert list(given) == [key for key in taken if key != "problem"]
    for key, value in given.items():
        default: Any = taken[key].default
        if default is not inspect.Parameter.empty:
            assert value == (f"{default:g}" if isinstance(default, float) else str(default))


def test_a_test_adds_at_least_1_4189_nats_on_the_paper_s_instances(rng: np.random.Generator) -> None:
    least = math.log(2 * math.pi * math.e) / 2
    assert f"{least:.4f} nats" in TEXT
    factor = rng.random((8, 8))
    precision = np.linalg.inv(factor @ factor.T + np.eye(8))
    assert (0.5 * np.log(2 * np.pi * np.e / np.diagonal(precision)) >= least).all()
