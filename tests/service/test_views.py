"""What the page asks for: the list of studies, finding subjects and events, sets, counts in trees, checks, drafts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from tests.service.conftest import Verb
from tests.service.running import Running, at, new_study
from tests.service.test_routes import checked

from proband import Problem
from proband.service import replies

PAST = "visual,ultrasonic\n" + "clean,ok\n" * 70 + "clean,crack\n" * 5 + "rusty,ok\n" * 5 + "rusty,crack\n" * 20


@pytest.fixture
def bolts(verb: Verb) -> None:
    for name, outcomes in (("bolt 10", {"visual": "clean", "ultrasonic": "ok"}), ("bolt 9", {"visual": "rusty"})):
        verb("arrive", subject=name)
        verb("tell", name, outcomes=outcomes)
    verb("decide", "bolt 10")


@pytest.mark.usefixtures("bolts")
def test_the_list_says_how_studies_began_and_what_happened_last(
    service: Running, tokens: dict[str, str], study: str
) -> None:
    path = f"/api/studies?{urlencode({'search': study.upper()})}"
    page = checked(replies.Page[replies.StudyOut], service.call("GET", path, token=tokens["viewer"]).json)
    [found] = page["items"]
    assert (found["study"], found["agent"], found["events"]) == (study, "test-everything", 7)
    assert (found["last"]["kind"], found["last"]["subject"]) == ("decided", "bolt 10")
    assert found["last"]["actor"] == "the operator"


@pytest.mark.usefixtures("bolts")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"sort": "subject"}, ["bolt 9", "bolt 10"]),
        ({"status": "open"}, ["bolt 9"]),
        ({"test": "ultrasonic", "outcome": ""}, ["bolt 9"]),
        ({"test": ["visual", "ultrasonic"], "outcome": ["clean", "ok"]}, ["bolt 10"]),
        ({"name": "BOLT", "descending": "true", "skip": "1"}, ["bolt 10"]),
    ],
)
def test_subjects_are_found(
    service: Running, tokens: dict[str, str], study: str, query: dict[str, Any], expected: list[str]
) -> None:
    path = f"{at(study, 'find')}?{urlencode(query, doseq=True)}"
    found = checked(replies.FoundOut, service.call("GET", path, token=tokens["viewer"]).json)
    assert [subject["name"] for subject in found["items"]] == expected


@pytest.mark.parametrize("query", ["test=visual", "sort=age", "status=lost", "test=age&outcome=new", "limit=0"])
def test_what_cannot_be_looked_for_is_told(service: Running, tokens: dict[str, str], study: str, query: str) -> None:
    assert service.call("GET", f"{at(study, 'find')}?{query}", token=tokens["viewer"]).status in (404, 422)


@pytest.mark.usefixtures("bolts")
def test_the_trail_goes_backwards(service: Running, tokens: dict[str, str], study: str) -> None:
    path = at(study, "trail")
    page = checked(replies.Page[replies.EventOut], service.call("GET", f"{path}?limit=2", token=tokens["viewer"]).json)
    assert ([event["number"] for event in page["items"]], page["next"]) == ([7, 6], 6)
    query = urlencode({"before": 6, "kind": "observed", "actor": "OPERATOR"})
    rest = service.call("GET", f"{path}?{query}", token=tokens["viewer"]).json
    assert ([event["number"] for event in rest["items"]], rest["next"]) == ([4, 3], None)


def test_the_same_tests_for_all_and_counts_in_the_tree(
    service: Running, tokens: dict[str, str], study: str, problem: Problem
) -> None:
    viewer, operator = tokens["viewer"], tokens["operator"]
    same = checked(replies.SameTestsOut, service.call("GET", at(study, "same-tests"), token=viewer).json)
    assert same == {"tests": ["visual", "ultrasonic"], "cost": pytest.approx(0.7), "everything": True}
    name = f"planned {study}"
    given = new_study(problem, name=name, agent="greedy", past={"records": PAST})
    assert service.call("POST", "/api/studies", given, token=tokens["engineer"]).status == 201
    assert service.call("GET", at(name, "same-tests"), token=viewer).json["tests"] is None
    service.call("POST", at(name, "arrive"), {"subject": "a"}, token=operator)
    service.call("POST", at(name, "subjects", "a", "tell"), {"outcomes": {"visual": "rusty"}}, token=operator)
    service.call("POST", at(name, "subjects", "a", "decide"), {"decision": "fail"}, token=operator)
    root = service.call("GET", f"{at(name, 'tree')}?subjects=true", token=viewer).json["root"]
    assert (root["test"], root["subjects"]) == ("visual", 1)
    assert [root["children"][outcome]["subjects"] for outcome in ("clean", "rusty")] == [0, 1]
    assert "subjects" not in service.call("GET", at(name, "tree"), token=viewer).json["root"]


def test_a_study_is_checked_before_it_begins(
    service: Running, tokens: dict[str, str], study: str, problem: Problem
) -> None:
    engineer, text = tokens["engineer"], new_study(problem)["problem"]

    def check(**content: Any) -> dict[str, Any]:
        answer = service.call("POST", "/api/check", {"problem": text, **content}, token=engineer)
        found: dict[str, Any] = checked(replies.CheckedOut, answer.json)
        return found

    found = check(name="not there", past={"records": PAST})
    assert (found["exists"], found["past"], found["mistake"]) == (False, 100, None)
    assert found["agent"] in found["agents"]
    assert check(name=study)["exists"]
    wrong = check(past={"records": "visual,ultrasonic\nclaen,ok\n", "source": "past.csv"})
    assert str(wrong["mistake"]).startswith("past.csv: line 2, column 'visual': the outcome 'claen' is unknown")
    wrong_problem = service.call("POST", "/api/check", {"problem": text.replace("cost", "cosst", 1)}, token=engineer)
    assert wrong_problem.detail.startswith("the problem: tests[0].cosst: there is no such field")


def test_a_problem_is_drafted(service: Running, tokens: dict[str, str]) -> None:
    records = "visual,good\n" + "clean,yes\nrusty,no\n" * 20
    answer = service.call("POST", "/api/draft", {"records": records, "source": "past.csv"}, token=tokens["engineer"])
    found = checked(replies.DraftOut, answer.json)
    assert found["label"] == "good"
    assert 'name = "visual"' in found["problem"]
    assert found["problem"].startswith("# A draft by proband init from past.csv: 40 rows.")
    none = service.call("POST", "/api/draft", {"records": "visual\nclean\n"}, token=tokens["engineer"])
    assert "a single column" in none.detail


def test_a_tree_that_is_cut_says_what_the_plan_brings_and_how_it_goes_on(
    service: Running, tokens: dict[str, str], problem: Problem, study: str
) -> None:
    name, viewer = f"cut {study}", tokens["viewer"]
    past = PAST.replace("rusty,ok", "rusty,crack") + "rusty,ok\n" * 40
    given = new_study(problem, name=name, agent="greedy", past={"records": past})
    assert service.call("POST", "/api/studies", given, token=tokens["engineer"]).status == 201
    whole, cut = (service.call("GET", f"{at(name, 'tree')}?depth={depth}", token=viewer).json for depth in (2, 1))
    rusty = cut["root"]["children"]["rusty"]
    assert (rusty["goes_on"], "decision" in rusty) == ("ultrasonic", True)
    assert rusty["value"] < rusty["expected"] == pytest.approx(whole["root"]["children"]["rusty"]["value"], abs=1e-12)
    assert cut["root"]["value"] < cut["root"]["expected"] == pytest.approx(whole["root"]["value"], abs=1e-12)
    for known, node in (({}, cut["root"]), ({"visual": "rusty"}, rusty)):
        advice = service.call("POST", at(name, "what-if"), {"known": known}, token=viewer).json
        assert advice["policy"] == cut["position"]
        [value] = [each["value"] for each in advice["alternatives"] if each["name"] == advice["action"]]
        assert value == pytest.approx(node["expected"], abs=1e-12)
