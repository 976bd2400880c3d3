from __future__ import annotations

import pytest


@pytest.fixture
def policy(run) -> str:
    run("plan", "bolts", "--out", "policy.json")
    return "policy.json"


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


def test_a_decision_ends_it(run, policy) -> None:
    result = run("next", policy, *known("bolt weight = light"))
    assert "Decide: fail" in result.out
    assert run("next", policy, *known("bolt weight=light"), "--json").json["decision"] == "fail"


def test_what_the_policy_does_not_ask_for_is_named(run, policy) -> None:
    entries = known("bolt weight=nominal", "thread pitch=off")
    assert "not used       thread pitch" in run("next", policy, *entries).out
    content = run("next", policy, *entries, "--json").json
    assert content["not_used"] == ["thread pitch"]
    assert "thread pitch" not in [other.get("test") for other in content["alternatives"]]


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
