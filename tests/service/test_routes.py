"""What each route does, in a real process; every answer holds what OpenAPI says of it."""

from __future__ import annotations

import base64
import csv
import io
import json
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import TypeAdapter
from tests.service.conftest import Verb
from tests.service.running import Running, at, new_study
from tests.tables.formats import FORMATS, workbook

from proband import Problem, Study
from proband.service import replies
from proband.studies import open_store


def checked(model: Any, content: Any) -> Any:
    """Hold an answer to its model: nothing is missing, nothing is there that it does not name."""
    TypeAdapter(model).validate_python(content, strict=False)
    return content


def test_a_subject_from_arrival_to_decision(service: Running, tokens: dict[str, str], study: str, store: str) -> None:
    operator, viewer = tokens["operator"], tokens["viewer"]
    arrived = service.call("POST", at(study, "arrive"), {"subject": "bolt 17", "station": "line 1"}, token=operator)
    assert arrived.status == 201
    assert checked(replies.SubjectOut, arrived.json)["station"] == "line 1"
    advice = service.call("GET", at(study, "subjects", "bolt 17", "ask"), token=viewer)
    assert checked(replies.AdviceOut, advice.json)["action"] == "visual"
    told = service.call(
        "POST",
        at(study, "subjects", "bolt 17", "tell"),
        {"outcomes": {"visual": "rusty", "ultrasonic": "crack"}, "station": "line 1"},
        token=operator,
    )
    assert checked(replies.SubjectOut, told.json)["known"] == {"visual": "rusty", "ultrasonic": "crack"}
    decided = service.call("POST", at(study, "subjects", "bolt 17", "decide"), {"station": "line 1"}, token=operator)
    assert checked(replies.DecisionOut, decided.json)["decision"] == "fail"
    shown = service.call("GET", at(study, "subjects", "bolt 17"), token=viewer).json
    assert checked(replies.SubjectOut, shown) == decided.json["subject"]
    with Study.open(study, store=store) as here:
        assert here.subject("bolt 17").to_dict() == shown
        assert [(e.kind, e.actor, e.station) for e in here.events(1)] == [
            ("arrived", "the operator", "line 1"),
            ("observed", "the operator", "line 1"),
            ("observed", "the operator", "line 1"),
            ("decided", "the operator", "line 1"),
        ]


def test_all_outcomes_or_none(service: Running, tokens: dict[str, str], study: str, verb: Verb) -> None:
    verb("arrive", subject="a")
    wrong = service.call(
        "POST", at(study, "subjects", "a", "tell"), {"outcomes": {"visual": "clean", "ultrasonic": "blue"}},
        token=tokens["operator"],
    )  # fmt: skip
    assert wrong.status == 404
    assert "blue" in wrong.detail
    assert service.call("GET", at(study, "subjects", "a"), token=tokens["viewer"]).json["known"] == {}


def test_a_station_holds_its_subject_until_another_takes_it_over(
    service: Running, tokens: dict[str, str], study: str, verb: Verb
) -> None:
    verb("arrive", subject="a")
    other = {"outcomes": {"visual": "clean"}, "station": "line 2"}
    held = service.call("POST", at(study, "subjects", "a", "tell"), other, token=tokens["operator"])
    assert (held.status, held.json["type"]) == (409, "urn:proband:HeldError")
    assert "take it over" in held.detail
    taking = {"subject": "a", "at_once": True, "station": "line 2"}
    assert service.call("POST", at(study, "take"), taking, token=tokens["operator"]).json["station"] == "line 2"
    assert service.call("POST", at(study, "subjects", "a", "tell"), other, token=tokens["operator"]).status == 200


def test_what_is_put_right_later(service: Running, tokens: dict[str, str], study: str, verb: Verb) -> None:
    verb("arrive", subject="a")
    verb("tell", "a", outcomes={"visual": "rusty"})
    assert verb("correct", "a", test="visual", outcome="clean", reason="wrong tray")["known"] == {"visual": "clean"}
    assert verb("correct", "a", test="visual", outcome=None, reason="never run")["known"] == {}
    verb("decide", "a", decision="pass")
    assert verb("reveal", "a", outcomes={"ultrasonic": "crack"})["known"] == {"ultrasonic": "crack"}
    assert verb("void", "a", reason="dropped")["status"] == "voided"
    kinds = [e["kind"] for e in service.call("GET", at(study, "events"), token=tokens["viewer"]).json["items"]]
    assert kinds == ["created", "arrived", "observed", "corrected", "corrected", "decided", "revealed", "voided"]


def test_a_key_records_once(service: Running, tokens: dict[str, str], study: str) -> None:
    def arrive(known: dict[str, str], key: str) -> Any:
        return service.call(
            "POST", at(study, "arrive"), {"known": known}, token=tokens["operator"], headers={"Idempotency-Key": key}
        )

    first, again, other = arrive({}, "k 1"), arrive({}, "k 1"), arrive({"visual": "clean"}, "k 1")
    assert first.json == again.json
    assert (other.status, other.json["type"]) == (409, "urn:proband:KeyReusedError")
    assert arrive({}, "k 2").json["name"] == "2"


def test_pages(service: Running, tokens: dict[str, str], study: str, verb: Verb) -> None:
    for _ in range(5):
        verb("arrive")
    verb("decide", "2", decision="pass")

    def numbers(what: str, query: str) -> tuple[list[int], int | None]:
        page = service.call("GET", f"{at(study, what)}?{query}", token=tokens["viewer"]).json
        return [item["number"] for item in page["items"]], page["next"]

    assert numbers("subjects", "limit=2") == ([1, 2], 2)
    assert numbers("subjects", "limit=2&after=2") == ([3, 4], 4)
    assert numbers("subjects", "limit=2&after=4") == ([5], None)
    assert numbers("subjects", "limit=2&open=true&after=1") == ([3, 4], 4)
    assert numbers("subjects", "open=false") == ([2], None)
    assert numbers("events", "after=3&limit=3") == ([4, 5, 6], 6)
    assert numbers("events", "after=6&limit=3") == ([7], None)


def test_studies_are_listed_by_name_in_pages(service: Running, tokens: dict[str, str], problem: Problem) -> None:
    for name in ("zeta", "alpha/2", "µ"):
        service.call("POST", "/api/studies", new_study(problem, name=name), token=tokens["engineer"])
    names, after = [], ""
    while after is not None:
        page = service.call("GET", f"/api/studies?limit=2&after={quote(after)}", token=tokens["viewer"])
        names += [item["study"] for item in checked(replies.Page[replies.StudyOut], page.json)["items"]]
        after = page.json["next"]
    assert names == sorted({*names, "zeta", "alpha/2", "µ"})
    assert service.call("GET", at("alpha/2"), token=tokens["viewer"]).json["study"] == "alpha/2"
    assert service.call("GET", at("µ", "summary"), token=tokens["viewer"]).status == 200


def test_a_study_begins_with_past_records_or_not_at_all(
    service: Running, tokens: dict[str, str], problem: Problem
) -> None:
    wrong = new_study(problem, name="begun", past={"records": "visual,ultrasonic\nclean,blue\n", "source": "old.csv"})
    refused = service.call("POST", "/api/studies", wrong, token=tokens["engineer"])
    assert refused.status == 422
    assert refused.detail.startswith("old.csv: line 2, column 'ultrasonic'")
    assert service.call("GET", at("begun"), token=tokens["viewer"]).status == 404
    right = new_study(problem, name="begun", past={"records": "visual,ultrasonic\nclean,ok\nrusty,\n"})
    made = service.call("POST", "/api/studies", right, token=tokens["engineer"])
    assert checked(replies.StudyDetail, made.json)["events"] == 2
    assert made.json["problem"] == problem.to_dict()


def test_a_study_that_is_created_again(service: Running, tokens: dict[str, str], problem: Problem) -> None:
    def create(key: str | None, **more: Any) -> Any:
        headers = {} if key is None else {"Idempotency-Key": key}
        given = new_study(problem, name="twice", **more)
        return service.call("POST", "/api/studies", given, token=tokens["engineer"], headers=headers)

    first = create("a")
    assert create(None).status == 409
    assert (create("a").status, create("a").json) == (201, first.json)
    assert create("a", seed=7).status == 409


def test_a_problem_with_a_mistake_is_answered_by_its_place(service: Running, tokens: dict[str, str]) -> None:
    given = {"problem": 'schema = 1\n[[tests]]\nname = "visual"\n[reward]\nkind = "match"\n'}
    answer = service.call("POST", "/api/studies", given, token=tokens["engineer"])
    assert (answer.status, answer.json["type"]) == (422, "urn:proband:ProblemFileError")
    assert answer.detail.startswith("the problem: tests[0].cost")


def test_what_was_learned(service: Running, tokens: dict[str, str], problem: Problem) -> None:
    rows = "visual,ultrasonic\n" + "clean,ok\n" * 70 + "clean,crack\n" * 5 + "rusty,ok\n" * 5 + "rusty,crack\n" * 20
    given = new_study(problem, name="learned", agent="explore-then-commit", horizon=100, past={"records": rows})
    assert service.call("POST", "/api/studies", given, token=tokens["engineer"]).status == 201
    viewer = tokens["viewer"]
    for n in range(40):
        subject = {"subject": f"s{n}"}
        if service.call("GET", at("learned", "tree"), token=viewer).status == 200:
            break
        service.call("POST", at("learned", "arrive"), subject, token=tokens["operator"])
        told = {"outcomes": {"visual": "clean", "ultrasonic": "ok"}}
        service.call("POST", at("learned", "subjects", f"s{n}", "tell"), told, token=tokens["operator"])
        service.call("POST", at("learned", "subjects", f"s{n}", "decide"), {}, token=tokens["operator"])
    tree = service.call("GET", f"{at('learned', 'tree')}?depth=2", token=viewer)
    assert tree.json["root"]["test"] == "visual"
    what_if = service.call("POST", at("learned", "what-if"), {"known": {"visual": "rusty"}}, token=viewer)
    advice = checked(replies.AdviceOut, what_if.json)
    assert (advice["subject"], advice["spent"], len(advice["alternatives"])) == ("", 0.1, 3)
    summary = service.call("GET", at("learned", "summary"), token=viewer)
    assert checked(replies.SummaryOut, summary.json)["imported"] == 100
    report = service.call("GET", at("learned", "report"), token=viewer)
    assert report.headers["content-type"].startswith("text/html")
    assert "sandbox" in report.headers["content-security-policy"]
    assert b"learned" in report.body


def test_an_export_is_imported_by_another_service(
    service: Running, tokens: dict[str, str], study: str, verb: Verb
) -> None:
    verb("arrive", subject="a")
    verb("decide", "a", decision="pass")
    exported = service.call("GET", at(study, "export"), token=tokens["viewer"])
    assert exported.headers["content-disposition"] == 'attachment; filename="study.jsonl"'
    with Running("memory:", "--open") as other:
        for _ in range(2):
            imported = other.call("POST", "/api/import", body=exported.body)
            assert imported.status == 201
            assert checked(replies.ImportedOut, imported.json)["length"] == 3
        assert other.call("GET", at(study, "export")).body == exported.body
        altered = exported.body.replace(b'"pass"', b'"fail"')
        refused = other.call("POST", "/api/import", body=altered)
        assert refused.status == 409
        assert refused.detail.startswith("entry ")
        assert "/tmp" not in refused.detail


def test_the_table_of_subjects(service: Running, tokens: dict[str, str], study: str, verb: Verb) -> None:
    verb("arrive", subject="=1+1")
    verb("tell", "=1+1", outcomes={"visual": "clean"})
    table = service.call("GET", at(study, "table.csv"), token=tokens["viewer"])
    [row] = csv.DictReader(io.StringIO(table.body.decode()))
    assert (row["subject"], row["visual"], row["ultrasonic"]) == ("'=1+1", "clean", "")
    verb("arrive", subject="bolt")
    query = "?test=visual&outcome=&sort=subject"
    [row] = service.call("GET", at(study, "table.json") + query, token=tokens["viewer"]).json
    assert (row["subject"], row["visual"], row["finished"], row["cost"]) == ("bolt", None, None, 0.0)
    whole = service.call("GET", at(study, "table.json"), token=tokens["viewer"]).json
    assert [each["subject"] for each in whole] == ["=1+1", "bolt"]
    assert service.call("GET", at(study, "table.csv") + "?limit=1", token=tokens["viewer"]).status == 422


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize("name", ["workbook.xlsx", "table.parquet", "latin-1.csv"])
def test_past_records_come_as_files_of_any_kind(
    service: Running, tokens: dict[str, str], study: str, problem: Problem, name: str
) -> None:
    content = FORMATS[name](["visual", "ultrasonic"], [["clean", "ok"], ["rusty", None]])
    past = {"file": in_base64(content), "source": name}
    engineer = tokens["engineer"]
    given = {"problem": new_study(problem)["problem"], "past": past}
    assert service.call("POST", "/api/check", given, token=engineer).json["past"] == 2
    assert service.call("POST", at(study, "records"), past, token=engineer).json == {"added": 2, "recognised": 0}
    assert service.call("POST", at(study, "records"), past, token=engineer).json == {"added": 0, "recognised": 2}


def test_what_is_wrong_with_a_file_of_past_records_is_said(
    service: Running, tokens: dict[str, str], study: str, problem: Problem
) -> None:
    engineer, header = tokens["engineer"], ["visual", "ultrasonic"]
    book = workbook({"2024": (header, [["clean", "ok"]]), "2025": (header, [["claen", "ok"], ["rusty", "yes"]])})
    past = {"file": in_base64(book), "source": "past.xlsx"}
    given = {"problem": new_study(problem)["problem"], "past": past}
    assert (
        "past.xlsx: it has the sheets ['2024', '2025']"
        in service.call("POST", "/api/check", given, token=engineer).json["mistake"]
    )
    mistake = service.call("POST", "/api/check", {**given, "past": {**past, "sheet": "2025"}}, token=engineer).json
    assert mistake["mistake"].startswith("past.xlsx: 2 cells cannot be read:\n  row 2, column 'visual': the outcome")
    learned = service.call("POST", at(study, "records"), {**past, "sheet": "2024"}, token=engineer)
    assert learned.json["added"] == 1
    for wrong, said in (
        ({"file": "%%%"}, "no base64"),
        ({"file": in_base64(b"PK\x03\x04 and more")}, "records: "),
        ({"file": in_base64(book), "records": "visual\n"}, "give one of the two"),
        ({}, "give one of the two"),
    ):
        answer = service.call("POST", at(study, "records"), wrong, token=engineer)
        assert (answer.status, said in answer.detail) == (422, True), answer


def test_all_mistakes_of_a_problem_are_told(service: Running, tokens: dict[str, str], problem: Problem) -> None:
    text = new_study(problem)["problem"].replace("cost = 0.1", "cost = -1").replace("cost = 0.6", "cosst = 0.6")
    told = service.call("POST", "/api/check", {"problem": text}, token=tokens["engineer"]).detail.split("\n")
    assert told[0] == "the problem: 2 mistakes:"
    assert [line.partition(": ")[0] for line in told[1:]] == ["  tests[0]", "  tests[1].cosst"]


def test_records_are_learned_once(service: Running, tokens: dict[str, str], study: str) -> None:
    def learn() -> Any:
        given = {"records": "visual,ultrasonic\nclean,ok\nrusty,\n", "source": "2025.csv"}
        return service.call("POST", at(study, "records"), given, token=tokens["engineer"]).json

    assert checked(replies.LearnedOut, learn()) == {"added": 2, "recognised": 0}
    assert learn() == {"added": 0, "recognised": 2}
    restarted = service.call("POST", at(study, "restart"), {"reason": "new supplier"}, token=tokens["engineer"])
    assert restarted.json == {"done": True}


def test_verify(service: Running, tokens: dict[str, str], study: str, store: str) -> None:
    found = service.call("GET", at(study, "verify"), token=tokens["engineer"]).json
    where = open_store(store)
    assert checked(replies.VerifiedOut, found) == {"length": 1, "hash": where.read(study)[0].hash}
    where.close()


def test_running(service: Running, tokens: dict[str, str]) -> None:
    assert checked(replies.Health, service.call("GET", "/health").json)["status"] == "alive"
    assert checked(replies.Ready, service.call("GET", "/ready").json)["store"] == "sqlite"
    text = service.call("GET", "/metrics", token=tokens["viewer"]).body.decode()
    assert 'proband_requests_total{method="GET",route="/health",status="200"}' in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rpartition(" ")[2]) >= 0


@pytest.mark.parametrize("path", ["/nothing", "/api/nothing", "/api/studies/", "/page/../server.py", "/page/none.js"])
def test_what_is_not_there(service: Running, tokens: dict[str, str], path: str) -> None:
    assert service.call("GET", path, token=tokens["viewer"]).status == 404


def test_mistakes_are_answered_by_the_field(service: Running, tokens: dict[str, str], study: str) -> None:
    def arrive(content: Any) -> str:
        answer = service.call("POST", at(study, "arrive"), content, token=tokens["operator"])
        assert answer.status == 422
        return answer.detail

    assert "body.subjct is no field of this request; correct its name" in arrive({"subjct": "a"})
    assert "body.known.visual is true; an outcome is a text or a finite number" in arrive({"known": {"visual": True}})
    assert "body.subject is 'xxx" in arrive({"subject": "x" * 10_000})
    many = arrive({"known": {str(i): None for i in range(5)}})
    assert many.count("is null") == 3
    assert "(and 2 more)" in many
    assert "printable" in arrive({"subject": "a\u202eb"})
    assert service.call("PUT", at(study, "arrive"), {}, token=tokens["operator"]).status == 405
    headers = {"Content-Type": "application/json"}
    for body, said in (
        (b'{"subject": ', "stops being JSON"),
        (b'{"known": {"visual": NaN}}', "body.known.visual is nan; an outcome is"),
        (b'{"known": {"visual": 1e400}}', "body.known.visual is inf; an outcome is"),
    ):
        broken = service.call("POST", at(study, "arrive"), body=body, headers=headers, token=tokens["operator"])
        assert said in broken.detail
    broken = service.call("POST", at(study, "arrive"), body=b'{"subject": ', token=tokens["operator"])
    assert broken.status == 422
    assert json.loads(broken.body)["type"] == "urn:proband:RequestError"
