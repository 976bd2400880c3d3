"""The walks of docs/architecture.md: the calls are made, and enter the files that it lists in that order."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import proband
from proband.cli import main
from proband.instances import bolts
from proband.studies import Study

SOURCE = Path(proband.__file__).parent
WALKS = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Walks")[1]
WALKS = WALKS.split("\n## ")[0]


def listed(begin: str, end: str = "\n\n**") -> list[str]:
    """Return the files that a walk lists."""
    return re.findall(r"`([a-z_/]+\.py)`", WALKS[WALKS.index(begin) :].split(end)[0])


def entered(call: Callable[[], object]) -> list[str]:
    """Return the files of the package that a call enters, each where it is entered first."""
    seen: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE) and frame.f_code.co_name != "<module>":
            seen[path.relative_to(SOURCE).as_posix()] = None

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def command(*arguments: str) -> Callable[[], None]:
    def call() -> None:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert not left.value.code

    return call


def in_order(walk: list[str], call: Callable[[], object]) -> None:
    found = entered(call)
    assert len(walk) > 4
    assert [path for path in found if path in walk] == walk


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_plan_and_next() -> None:
    planned = command("plan", "bolts", "--out", "policy.json")
    planned()  # what is loaded late is loaded now
    in_order(listed("**`proband plan bolts", "and for `next`"), planned)
    asked = command("next", "policy.json")
    asked()
    in_order(listed("and for `next`"), asked)


def test_an_agent_in_an_experiment() -> None:
    options = ("--agents", "leaf-completion", "--replications", "1", "--horizon", "256", "--out")
    command("experiment", "run", "easy", *options, "first")()
    in_order(listed("**`proband experiment run"), command("experiment", "run", "easy", *options, "second"))


def test_a_tell_in_a_study() -> None:
    with Study.create(bolts().problem, store="sqlite:///bolts.db", replan="never") as study:
        bolt = study.arrive()
        advice = study.ask(bolt)
        outcome = study.problem.tests[study.problem.test_index(advice.action)].names[0]
        in_order(listed("**`study.tell("), lambda: study.tell(bolt, advice.action, outcome))


def test_sensors() -> None:
    command("sensors", "network")()
    in_order(listed("**`proband sensors network`**", "\n## "), command("sensors", "network"))
