from __future__ import annotations

import json
from pathlib import Path

import pytest

from proband import plan
from proband.cli import printing
from proband.instances import bolts, gout
from proband.policies.nodes import Alternative


@pytest.fixture
def policy(run) -> str:
    run("plan", "bolts", "--out", "policy.json")
    return "policy.json"


TWO = """
schema = 1
decisions = ["no", "yes"]
[[tests]]
name = "a"
outcomes = ["0", "1", "2"]
cost = 0.1
[[tests]]
name = "y"
outcomes = ["no", "yes"]
available = false
[reward]
kind = "table"
targets = ["y"]
[[reward.utilities]]
when = { y = "no" }
value = { no = 0, yes = -3 }
[[reward.utilities]]
when = { y = "yes" }
value = { no = -5, yes = 1 }
"""


def known(*entries: str) -> list[str]:
    return [word for entry in entries for word in ("--known", entry)]


def test_the_first_test_and_its_reason(run, policy) -> None:
    result = run("next", policy)
    assert result.status == 0
    assert "Next test: bolt weight (light, nominal or heavy) for 0.05 USD" in result.out
    assert "nothing yet" in result.out
    rows = {line.split("  ")[0]: line for line in result.out.splitlines()}
    assert rows["test: bolt weight"].endswith("best")
    assert "decide: pass" in rows


def test_a_test_of_an_opened_group_has_its_lower_price(run, policy) -> None:
    entries = known("bolt weight=nominal", "magnetic particle=clear", "shear strength=sufficient")
    content = run("next", policy, *entries, "--json").json
    assert (content["test"], content["cost"], content["outcomes"]) == ("tensile strength", 1.6, ["sufficient", "low"])
    assert content["known"]["shear strength"] == "sufficient"
    prices = {other["test"]: other["cost"] for other in content["alternatives"] if "test" in other}
    assert prices["fluorescent penetrant"] == 0.45
    losses = [other["loss"] for other in content["alternatives"]]
    assert losses[0] == 0
    assert losses == sorted(losses)


def test_what_rounding_loses_is_no_loss(capsys) -> None:
    problem = bolts().problem
    tied = [Alternative(6, -47.9, 0.0), Alternative(7, -47.9, 7e-15, at_most=True), Alternative(0, -48.2, 0.3)]
    printing.print_choices(problem, problem.state(), tied, 6)
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["loses", "best", "best", "0.3"]
    printing.print_choices(problem, problem.state(), [*tied, Alternative(1, 2e-16, 47.9)], 6)
    assert capsys.readouterr().out.splitlines()[-1].split()[-2:] == ["0", "47.9"]


def test_a_decision_ends_it(run, policy) -> None:
    result = run("next", policy, *known("bolt weight = light"))
    assert "Decide: fail" in result.out
    assert run("next", policy, *known("bolt weight=light"), "--json").json["decision"] == "fail"


def test_what_the_policy_does_not_ask_for_is_used_by_the_law(run, policy) -> None:
    entries = known("bolt weight=nominal", "thread pitch=off")
    assert "by the law     thread pitch" in run("next", policy, *entries).out
    content = run("next", policy, *entries, "--json").json
    assert (content["used_by_law"], content["not_used"]) == (["thread pitch"], [])
    assert "thread pitch" not in [other.get("test") for other in content["alternatives"]]
    example = bolts()
    state = example.problem.state({"bolt weight": "nominal", "thread pitch": "off"})
    best = plan(example.problem, example.distribution).explain(state)
    assert [content["alternatives"][0]["value"], content["value"]] == pytest.approx([best.alternatives[0].value] * 2)
    assert content["share_of_subjects"] == pytest.approx(best.probability)
    assert content.get("test", content.get("decision")) == example.problem.action_name(best.action)


def test_an_older_file_refuses_what_it_cannot_use_and_marks_what_it_cannot_vouch_for(run, policy) -> None:
    content = json.loads(Path(policy).read_text(encoding="utf-8"))
    del content["made"], content["law"]
    Path("older.json").write_text(json.dumps(content), encoding="utf-8")
    result = run("next", "older.json", *known("bolt weight=nominal", "thread pitch=off"))
    assert (result.status, result.out) == (2, "")
    assert "'thread pitch' is known, the policy does not ask for it" in result.err
    assert "leave it out, or plan again and write the policy anew" in result.err
    others = run("next", "older.json", *known("bolt weight=nominal"), "--json").json["alternatives"]
    assert [other["at_most"] for other in others] == ["test" in other and other["loss"] > 0 for other in others]
    assert "at most" in run("next", "older.json").out


def test_what_breaks_a_limit_is_not_offered(run, policy) -> None:
    run("plan", "bolts", "--max-tests", "1", "--out", "one.json")
    content = run("next", "one.json", *known("thread pitch=off"), "--json").json
    assert "decision" in content
    assert not [other for other in content["alternatives"] if "test" in other]
    run("plan", "bolts", "--budget", "0.06", "--out", "cheap.json")
    offered = run("next", "cheap.json", "--json").json["alternatives"]
    assert {other["cost"] <= 0.06 for other in offered if "test" in other} == {True}
    run("plan", "bolts", "--max-tests", "2", "--budget", "3", "--out", "two.json")
    told = run("next", "two.json", *known("thread pitch=off", "magnetic particle=clear")).out
    assert "limits leave   0 tests and 2.25 USD (known tests count as run)" in told
    assert "limits leave" not in run("next", policy).out
    run("plan", "bolts", "--max-tests", "2", "--out", "two.json")
    offered = run("next", "two.json", "--json").json["alternatives"]
    assert [other["at_most"] for other in offered] == ["test" in other and other["loss"] > 0 for other in offered]


def test_what_no_plan_vouches_for_is_not_told_as_exact(run, policy) -> None:
    assert run("next", policy, "--json").json["gap"] == 0
    run("plan", "bolts", "--method", "myopic", "--out", "greedy.json")
    assert run("next", "greedy.json", "--json").json["gap"] is None
    content = run("next", "greedy.json", *known("thread pitch=off"), "--json").json
    assert content["used_by_law"] == ["thread pitch"]
    assert content["gap"] == 0


def test_who_was_never_seen_is_told_so(run) -> None:
    Path("two.toml").write_text(TWO)
    Path("law.csv").write_text("a,y,probability\n0,no,0.5\n1,yes,0.5\n")
    run("plan", "two.toml", "--distribution", "law.csv", "--out", "two.json")
    told = run("next", "two.json", *known("a=2")).out
    assert "never seen: this is what is best for those most like this one" in told


def test_before_the_context_other_evidence_waits(run) -> None:
    run("plan", "gout", "--out", "gout.json")
    content = run("next", "gout.json", *known("CRP=raised"), "--json").json
    assert (content["test"], content["used_by_law"]) == ("sex", ["CRP"])
    assert content["share_of_subjects"] == pytest.approx(
        gout().distribution.mass(gout().problem.state({"CRP": "raised"}))[0]
    )
    older = json.loads(Path("gout.json").read_text(encoding="utf-8"))
    del older["law"]
    Path("gout.json").write_text(json.dumps(older), encoding="utf-8")
    result = run("next", "gout.json", *known("CRP=raised"))
    assert "not used yet   CRP (what is known on arrival comes first)" in result.out
    assert "is known from history alone" in run("next", "gout.json", *known("dual-energy CT=positive")).err


def test_context_is_asked_for_first(run) -> None:
    run("plan", "gout", "--out", "gout.json")
    assert "Say what is known on arrival: sex (female or male)" in run("next", "gout.json").out
    assert "serum urate" in run("next", "gout.json", *known("sex=male", "podagra before=no")).out


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["bolt wight=nominal"], "test 'bolt wight' does not exist; choose one of thread pitch"),
        (["bolt weight=huge"], "'huge' does not exist; choose one of light, nominal, heavy"),
        (["bolt weight"], "write it as length=ok"),
        (["=light"], "write it as length=ok"),
        (["bolt weight=light", "bolt weight=heavy"], "both 'light' and 'heavy'"),
    ],
)
def test_a_mistake_is_answered(run, policy, entries: list[str], message: str) -> None:
    result = run("next", policy, *known(*entries))
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_file_that_is_no_policy_is_refused(run, files) -> None:
    assert "nope.json: it cannot be read" in run("next", "nope.json").err
    assert run("next", "bolts.toml").status == 2
