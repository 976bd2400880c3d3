from __future__ import annotations

from pathlib import Path

import pytest

from proband import evaluate, plan
from proband.instances import bolts, gout
from proband.policies import DecideNow, FixedSet, test_everything


def test_everything_costs_all(run) -> None:
    result = run("evaluate", "bolts", "everything")
    assert result.status == 0
    assert "expected costs    9.25 USD" in result.out
    assert "expected tests    9 of 9" in result.out


@pytest.mark.parametrize("name", ["everything", "now", "set:serum urate, CRP"])
def test_built_in_policies_are_those_of_the_library(run, name: str) -> None:
    problem, law = gout().problem, gout().distribution
    policy = {
        "everything": test_everything(problem, law),
        "now": DecideNow(problem, distribution=law),
        "set:serum urate, CRP": FixedSet(problem, ["serum urate", "CRP"], law),
    }[name]
    expected = evaluate(problem, law, policy)
    content = run("evaluate", "gout", name, "--json").json
    assert content["value"] == pytest.approx(expected.value)
    assert content["expected_cost"] == pytest.approx(expected.cost)
    assert content["decisions"] == pytest.approx(expected.decisions)


def test_a_policy_file_brings_what_its_plan_promised(run) -> None:
    run("plan", "bolts", "--out", "policy.json")
    content = run("evaluate", "bolts", "policy.json", "--json").json
    assert content["value"] == pytest.approx(plan(bolts().problem, bolts().distribution).value)


def test_a_policy_is_evaluated_at_other_prices(run, files) -> None:
    run("plan", "bolts", "--out", "policy.json")
    Path("dear.toml").write_text(Path("bolts.toml").read_text().replace("cost = 0.05", "cost = 1.05"))
    bolts().distribution.save("law.csv", bolts().problem)
    cheap, dear = (
        run("evaluate", name, "policy.json", "--distribution", "law.csv", "--json").json
        for name in ("bolts.toml", "dear.toml")
    )
    assert dear["expected_cost"] == pytest.approx(cheap["expected_cost"] + 1)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("nothing", "policy 'nothing' is no file, and not built in"),
        ("set:bolt wight", "test 'bolt wight' does not exist"),
        ("bolts.toml", "it is not JSON"),
        ("policy.json", "made for other tests"),
    ],
)
def test_a_mistake_is_answered(run, files, policy: str, message: str) -> None:
    run("plan", "gout", "--out", "policy.json")
    result = run("evaluate", "bolts", policy)
    assert result.status == 2
    assert message in result.err


def test_a_gold_standard_cannot_be_run(run) -> None:
    result = run("evaluate", "gout", "set:dual-energy CT")
    assert (result.status, "cannot be run" in result.err) == (2, True)
