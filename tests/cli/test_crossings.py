"""Every kind of problem through every verb: plan, fit, ask, live study, report; all JSON strict, the same at the end.

A table of examples and one of commands, in the order in which a study lives. A new kind of problem is a line of
`EXAMPLES`, a new command a line of `COMMANDS`; the last test says which command is missing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests.cli import castings, thirty
from tests.strict_json import strict

from proband import Problem
from proband.cli.app import app
from proband.instances import INSTANCES
from proband.policies.rules import FORMATS
from proband.studies import Study

EXAMPLES = {
    "bolts": "listed outcomes, a table of utilities",
    "gout": "listed outcomes, some known on arrival, a gold standard that cannot be run",
    "paper-discrete": "listed outcomes, a match",
    "bolts-measured": "measured outcomes, one score",
    "shafts": "measured outcomes, two scores",
    "network": "measured outcomes, the entropy of a set",
}

FILES = {
    "castings": (
        castings,
        "numbers that are cut, by a spreadsheet: context, a group, a gold standard, ignored columns",
    ),
    "thirty": (thirty, "thirty tests: context, a group, a gold standard that can be bought"),
}
"""Problems that stand in files alone: modules that write them, and know what is told of a subject."""

TELL = "study tell s a OUTCOME --json"
"""Follows the advice until it is to decide."""

FOLDS = "plan {example}.toml --data {example}-records.csv --folds 3 --json"
"""What the entropy of a set has not; two scores take a dozen times as long as one, and no other way."""

FIT = "fit {example}.toml --data {example}-records.csv --folds 0 --strength 0.3 --out fitted.json --json"
REPORT = "report {example}.toml --data {example}-records.csv --complete-only --folds 3 --out rows.html --json"
"""What rewards that are no tables have not, and what problems whose plans are no trees have not."""

COMMANDS = (
    "init {example}-records.csv --label '{label}' --out drafted.toml --json",
    "plan {law} --out policy.json --json",
    "plan {example}.toml --data {example}-records.csv --json",
    FOLDS,
    FIT,
    "next fitted.json --known '{first}' --json",
    "rules fitted.json --as csv --out rules.csv",
    REPORT,
    "next policy.json --json",
    "next policy.json --known '{first}' --json",
    "evaluate {law} policy.json --json",
    "evaluate {law} everything --json",
    "study create {example}.toml --name s --json",
    "study list --json",
    "study show s --json",
    "study arrive s --subject a --json",
    TELL,
    "study correct s a '{other}' --reason misread --json",
    "study decide s a --json",
    "study arrive s --subject b --known '{first}' --json",
    "study ask s b --json",
    "study decide s b '{decision}' --json",
    "study reveal s b '{last}' --json",
    "study arrive s --subject c --json",
    "study take s c --at-once --station 'line 2' --json",
    "study void s c --station 'line 2' --reason dropped --json",
    "study export s subjects.csv --json",
    "study export s log.jsonl --json",
    "study import s log.jsonl --store sqlite:///copy.db --json",
    "study verify s --replay --json",
    "study copy sqlite:///studies.db sqlite:///moved.db --json",
    "study restart s --reason 'new supplier'",
    "study import s {example}-records.csv --json",
    "study arrive s --subject d --known '{first}' --json",
    "study report s --out report.html",
)
"""Before the records are imported a study tests everything; after them it has a plan, with alternatives."""

TOKENS = ("token create", "token list", "token revoke")
WITHOUT_A_PROBLEM = ("doctor", "experiment list", "experiment show", "experiment run", "sensors", *TOKENS)
"""Commands that speak JSON of other things; their own tests read it as strictly."""

ROLLED_OUT = ("bolts", "gout")
"""Examples whose rewards the planner by rollouts takes."""


MEASURED = ("bolts-measured", "shafts", "network")
"""Examples whose plans are no trees."""

LEFT_OUT = {
    FOLDS: dict.fromkeys(("shafts", "network"), ""),
    FIT: dict.fromkeys((*MEASURED, "paper-discrete"), "a fit needs a table of utilities over a target, or a few"),
    REPORT: dict.fromkeys(MEASURED, "reports are about trees of listed outcomes"),
}
"""Commands that some examples have not, and what is said then."""
OF_A_FIT = ("next fitted.json", "rules fitted.json")


class Trip:
    """One example on its way through the commands."""

    def __init__(self, run, example: str) -> None:
        self.run, self.example = run, example
        self.answers: list[dict[str, Any]] = []
        self.problem, self.outcomes, law = from_files(example) if example in FILES else from_instance(example)
        names, test = list(self.outcomes), self.problem.tests[0]
        first = self.problem.state(self.outcomes)[0]
        other = first + 1.0 if test.measured else test.names[int(first == 0)]
        self.words = {
            "example": example,
            "law": law,
            "label": names[-1],
            "first": self.named(names[0]),
            "other": f"{names[0]}={other}",
            "last": self.named(names[-1]),
            "decision": self.problem.action_name(self.problem.d),
        }

    def named(self, test: str) -> str:
        return f"{test}={self.outcomes[test]}"

    def go(self, command: str) -> None:
        if command == TELL:
            for outcome in self.advised():
                self.say(["study", "tell", "s", "a", outcome, "--json"])
        else:
            self.say(shlex.split(command.format(**self.words)))

    def refused(self, command: str) -> str:
        result = self.run(*shlex.split(command.format(**self.words)))
        assert (result.status, result.out) == (2, "")
        return result.err

    def advised(self) -> Iterator[str]:
        for _ in range(self.problem.d + 1):
            advice = self.run("study", "ask", "s", "a", "--json").json
            if advice["kind"] == "decision":
                return
            yield self.named(advice["action"])
        raise AssertionError("the study asks for more tests than there are")

    def say(self, arguments: list[str]) -> None:
        result = self.run(*arguments)
        assert result.status == 0, f"{shlex.join(arguments)}: {result.err}"
        if "--json" in arguments:
            self.answers.append(result.json)


def from_instance(example: str) -> tuple[Problem, dict[str, Any], str]:
    """Return a problem, what is told of a subject, and where the law is."""
    instance = INSTANCES[example]()
    row = instance.sample(np.random.default_rng(7), 1)[0]
    return instance.problem, instance.problem.describe(row), example


def from_files(example: str) -> tuple[Problem, dict[str, Any], str]:
    module, _ = FILES[example]
    module.write()
    return Problem.load(f"{example}.toml"), module.TOLD, module.LAW


# Two scores take ten seconds, as long as six of the others.
SLOWLY = [pytest.param(each, marks=pytest.mark.slow) if each == "shafts" else each for each in EXAMPLES]


@pytest.mark.parametrize("example", [*SLOWLY, *FILES])
def test_every_example_through_every_verb(run, example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///studies.db")
    assert example in FILES or run("example", example, "--records", "200").status == 0
    trip = Trip(run, example)
    for command in COMMANDS:
        refused = LEFT_OUT.get(command, {}).get(example)
        if refused:
            assert refused in trip.refused(command)
        elif refused is None and not (example in LEFT_OUT[FIT] and command.startswith(OF_A_FIT)):
            trip.go(command)
    assert (trip.answers[-1]["advice"]["alternatives"] != []) == (example != "network")
    for line in Path("log.jsonl").read_text(encoding="utf-8").splitlines():
        strict(line)
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with Study.open("s", store="sqlite:///copy.db", replan="never") as copied:
        assert copied.problem == trip.problem


@pytest.mark.parametrize("example", EXAMPLES)
def test_rollouts_plan_or_say_what_to_use(run, example: str) -> None:
    result = run("plan", example, "--method", "rollout", "--json")
    if example in ROLLED_OUT:
        assert (result.status, result.json["method"]) == (0, "rollout")
    else:
        assert result.status != 0
        assert "choose one" in result.err or 'use method="sparse"' in result.err


@pytest.mark.parametrize("example", [*EXAMPLES, *FILES])
def test_every_policy_that_is_a_tree_is_written_as_rules(run, example: str) -> None:
    law = from_files(example)[2] if example in FILES else example
    assert run("plan", *law.split(), "--out", "policy.json").status == 0
    for kind in FORMATS:
        result = run("rules", "policy.json", "--as", kind)
        if example in MEASURED:
            assert (result.status, result.out) == (2, "")
            assert "the plan is no tree of outcomes; look at its regions" in result.err
        else:
            assert result.status == 0, result.err
            assert "decision" in result.out or "decide" in result.out.lower()


def test_no_command_is_left_out() -> None:
    spoken = {name for name, command in leaves(typer.main.get_command(app)) if speaks_json(command)}
    crossed = {name for name in spoken if any(command.startswith(f"{name} ") for command in COMMANDS)}
    assert spoken - crossed == set(WITHOUT_A_PROBLEM)


def leaves(command, name: str = "") -> Iterator[tuple[str, object]]:
    for key, below in getattr(command, "commands", {}).items():
        path = f"{name} {key}".strip()
        yield from leaves(below, path) if hasattr(below, "commands") else [(path, below)]


def speaks_json(command) -> bool:
    return any("--json" in parameter.opts for parameter in command.params)
