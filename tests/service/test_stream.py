"""Live updates: every event once, in order, from where one was cut off; by whichever process it was written."""

from __future__ import annotations

import http.client
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.service.conftest import Verb
from tests.service.hasty import HASTY
from tests.service.running import Running, at, free_port, new_study

from proband import Problem, Study
from proband.client import Service

Events = Iterator[dict[str, Any]]


@contextmanager
def watching(
    service: Running, study: str, token: str | None = None, **headers: str
) -> Iterator[Iterator[dict[str, Any]]]:
    """Lend the events of a stream, as they come, with their ids."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    connection.request("GET", at(study, "stream"), headers=sent)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    assert answer.headers["content-type"].startswith("text/event-stream")

    def events() -> Events:
        number, silent = 0, 0
        for line in answer:
            silent += line.startswith(b": still here")
            assert silent < 4, "a minute without an event"
            if line.startswith(b"id: "):
                number = int(line[4:])
            elif line.startswith(b"data: "):
                yield {"id": number, **json.loads(line[6:])}

    try:
        yield events()
    finally:
        connection.close()


def test_past_events_come_first_and_new_ones_as_they_are_written(
    service: Running, tokens: dict[str, str], study: str, verb: Verb, store: str
) -> None:
    verb("arrive", subject="a")
    with watching(service, study, tokens["viewer"]) as events:
        assert [(e["id"], e["kind"]) for e in itertools.islice(events, 2)] == [(1, "created"), (2, "arrived")]
        verb("tell", "a", outcomes={"visual": "clean", "ultrasonic": "ok"})
        assert [(e["id"], e["number"]) for e in itertools.islice(events, 2)] == [(3, 3), (4, 4)]
        with Study.open(study, store=store, station="line 1", actor="elsewhere") as other:
            other.decide("a")
        assert [(e["kind"], e["actor"]) for e in itertools.islice(events, 1)] == [("decided", "elsewhere")]
    with watching(service, study, tokens["viewer"], Last_Event_ID="3") as events:
        assert [e["id"] for e in itertools.islice(events, 2)] == [4, 5]
    with watching(service, study, tokens["viewer"], Last_Event_ID="999999") as events:
        verb("arrive", subject="b")
        assert next(events)["id"] == 6, "whoever has seen more than there is goes on with what is new"


def test_many_events_reach_those_who_were_away_and_those_who_watch(
    service: Running, tokens: dict[str, str], study: str, verb: Verb
) -> None:
    with watching(service, study, tokens["viewer"]) as early:
        next(early)
        writing = threading.Thread(target=lambda: [verb("arrive") for _ in range(700)])
        writing.start()
        assert [e["id"] for e in itertools.islice(early, 700)] == list(range(2, 702))
        writing.join()
    with watching(service, study, tokens["viewer"]) as late:
        assert [e["id"] for e in itertools.islice(late, 701)] == list(range(1, 702))


def test_a_client_follows_over_a_restart(store: str, tokens: dict[str, str], problem: Problem) -> None:
    port = free_port()
    with Service(f"http://127.0.0.1:{port}", tokens["engineer"]) as client:
        with Running(store, port=port) as first:
            study = client.create(problem, name="followed", agent="test-everything")
            study.arrive()
            followed = study.follow()
            assert [next(followed).number, next(followed).number] == [1, 2]
            first.kill()
        with Running(store, port=port):
            study.arrive()
            assert next(followed).number == 3
            followed.close()


def test_a_stream_ends_with_the_service(store: str, tokens: dict[str, str], problem: Problem) -> None:
    with Running(store) as running:
        running.call("POST", "/api/studies", new_study(problem, name="ending"), token=tokens["engineer"])
        with watching(running, "ending", tokens["viewer"]) as events:
            next(events)
            running.stop()
            assert list(events) == []


@pytest.mark.parametrize("way", ["log-out", "revoked", "revoked elsewhere", "token revoked"])
def test_a_stream_ends_with_the_right_to_it(
    service: Running, tokens: dict[str, str], study: str, verb: Verb, store: str, way: str
) -> None:
    """Long before anything is written that it could tell of, and before a first word of silence (15 seconds)."""
    made = service.call("POST", "/api/tokens", {"user": "Ada", "role": "viewer"}, token=tokens["admin"]).json
    headers = {"Authorization": f"Bearer {made['secret']}"}
    if way != "token revoked":
        login = service.call("POST", "/login", {"token": made["secret"]})
        headers = {"Cookie": login.headers["set-cookie"].partition(";")[0]}
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", at(study, "stream"), headers=headers)
    answer = connection.getresponse()
    while not answer.readline().startswith(b"id: 1"):
        pass
    if way == "log-out":
        gone = service.call("POST", "/logout", headers={**headers, "Sec-Fetch-Site": "same-origin"})
        assert gone.status == 200
    elif way == "revoked elsewhere":
        revoke = [sys.executable, "-m", "proband", "token", "revoke", made["id"], "--store", store]
        subprocess.run(revoke, check=True, capture_output=True)
    else:
        assert service.call("DELETE", f"/api/tokens/{made['id']}", token=tokens["admin"]).status == 200
    if way != "revoked elsewhere":  # where the service learns of it within a second
        verb("arrive", subject="nobody's business")
    rest = answer.read()
    assert b"id: 2" not in rest
    assert b"still here" not in rest
    connection.close()


def test_streams_are_bounded(tmp_path_factory: pytest.TempPathFactory, problem: Problem) -> None:
    store = f"sqlite:///{tmp_path_factory.mktemp('streams')}/store.db"
    with Running(store, program=["tests.service.hasty"]) as running:
        assert running.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201
        streams = [watching(running, "bolts") for _ in range(HASTY.streams_each)]
        for stream in streams:
            next(stream.__enter__())
        refused = running.call("GET", at("bolts", "stream"))
        assert refused.status == 429
        assert "let several pages share one" in refused.detail
        assert running.call("GET", at("bolts")).status == 200
        streams[0].__exit__(None, None, None)
        running.call("POST", at("bolts", "arrive"), {})  # who has left is noticed with the next event
        for _ in range(200):
            try:
                with watching(running, "bolts") as events:
                    next(events)
                break
            except AssertionError:
                running.call("POST", at("bolts", "arrive"), {})
        else:
            raise AssertionError("a stream that was closed still counts")
        for stream in streams[1:]:
            stream.__exit__(None, None, None)


def test_there_is_no_stream_of_nothing(service: Running, tokens: dict[str, str]) -> None:
    assert service.call("GET", at("nobody", "stream"), token=tokens["viewer"]).status == 404
    bad = service.call("GET", at("nobody", "stream"), token=tokens["viewer"], headers={"Last-Event-ID": "x"})
    assert bad.status == 422
