"""A database that died before it had synced what others had read: nobody builds on that, and the service goes on."""

from __future__ import annotations

import psycopg
import pytest
from tests.service.running import Running, at, new_study

from proband import Problem
from proband.errors import TamperedError
from proband.studies import Study


def lost(url: str, number: int) -> None:
    """Lose the last entry of the only study, as a server does that dies before it has synced it."""
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("DELETE FROM proband_entries WHERE number = %s", (number,)).rowcount == 1


def arrive(url: str, subject: str) -> None:
    with Study.open("bolts", store=url, replan="never") as other:
        other.arrive(subject=subject)


@pytest.mark.parametrize("others", [["b"], ["b", "c"], []])
def test_nobody_builds_on_an_entry_that_was_lost(postgresql_url: str, problem: Problem, others: list[str]) -> None:
    made = Study.create(problem, name="bolts", agent="test-everything", store=postgresql_url, replan="never")
    with made as study:
        study.arrive(subject="a")
        lost(postgresql_url, 2)
        for other in others:
            arrive(postgresql_url, other)
        with pytest.raises(TamperedError, match="open the study again"):
            study.arrive(subject="d")
    with Study.open("bolts", store=postgresql_url, replan="never") as again:
        assert again.verify().length == 1 + len(others)


@pytest.mark.parametrize("others", [["b"], ["b", "c"], []])
def test_a_service_reads_anew_what_was_not_synced(postgresql_url: str, problem: Problem, others: list[str]) -> None:
    with Running(postgresql_url, "--open") as service:
        assert service.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
        arrive(postgresql_url, "a")
        assert service.call("GET", at("bolts", "subjects", "a", "ask")).status == 200  # the service has read it
        lost(postgresql_url, 2)
        for other in others:
            arrive(postgresql_url, other)
        first = service.call("POST", at("bolts", "arrive"), {"subject": "d"}, headers={"Idempotency-Key": "d"})
        assert first.status == 503
        assert "try again, a write with the same idempotency key" in first.detail
        again = service.call("POST", at("bolts", "arrive"), {"subject": "d"}, headers={"Idempotency-Key": "d"})
        assert again.status == 201
        assert service.call("GET", at("bolts", "subjects", "a", "ask")).status == 404
        assert service.call("GET", at("bolts", "verify")).json["length"] == 2 + len(others)


def test_a_service_does_not_go_on_without_what_it_acknowledged(postgresql_url: str, problem: Problem) -> None:
    with Running(postgresql_url, "--open") as service:
        assert service.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
        assert service.call("POST", at("bolts", "arrive"), {"subject": "a"}).status == 201
        lost(postgresql_url, 2)
        arrive(postgresql_url, "b")
        answers = [service.call("POST", at("bolts", "arrive"), {"subject": "d"}) for _ in range(3)]
        assert [answer.status for answer in answers] == [503, 409, 409]
        assert "entry 2 of study 'bolts' was synced to the disk, and is gone or another one" in answers[2].detail
