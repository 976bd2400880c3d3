"""Large, slow and many requests: each is bounded, and the others go on."""

from __future__ import annotations

import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.service.hasty import HASTY
from tests.service.running import Running, at, new_study

from proband import Problem
from proband.service.limits import Limits


@pytest.fixture(scope="module")
def opened() -> Iterator[Running]:
    with Running("memory:", "--open") as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with little patience."""
    store = f"sqlite:///{tmp_path_factory.mktemp('hasty')}/store.db"
    with Running(store, program=["tests.service.hasty"]) as running:
        yield running


def test_a_request_that_is_too_large_is_refused_before_it_is_read(opened: Running) -> None:
    said = Limits().body + 1
    head = f"POST /api/studies/x/arrive HTTP/1.1\r\nHost: localhost\r\nContent-Length: {said}\r\n\r\n"
    answer = opened.raw(head.encode())
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"1 MiB" in answer


def test_a_request_that_does_not_say_how_large_it_is(opened: Running) -> None:
    head = b"POST /api/studies/x/arrive HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    part = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    answer = opened.raw(head + part * (Limits().body // 0x10000 + 1))
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("path", ["/api/studies", "/api/studies/x/records", "/api/import"])
def test_uploads_have_limits_of_their_own(opened: Running, path: str) -> None:
    most = Limits().log if path == "/api/import" else Limits().upload
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {most + 1}\r\n\r\n"
    assert opened.raw(head.encode()).startswith(b"HTTP/1.1 413 ")


def test_a_head_that_never_ends_is_cut_off_by_size(opened: Running) -> None:
    answer = opened.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (Limits().head + 10))
    assert answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("sent", [b"", b"GET / HTT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_head_that_never_ends_is_cut_off_by_time(hasty: Running, sent: bytes) -> None:
    assert hasty.raw(sent).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_never_ends_is_cut_off_by_time(hasty: Running) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
    answer = hasty.raw(head)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"SlowRequestError" in answer


def test_a_call_that_takes_too_long_is_answered_and_done_all_the_same(hasty: Running, problem: Problem) -> None:
    assert hasty.call("POST", "/api/studies", new_study(problem, name="slow")).status == 201
    arrive = at("slow", "arrive")
    with sqlite3.connect(hasty.store.removeprefix("sqlite:///"), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        late = hasty.call("POST", arrive, {"subject": "a"}, headers={"Idempotency-Key": "k"})
        assert (late.status, late.headers["retry-after"]) == (503, "1")
        assert "the same idempotency key" in late.detail
        assert hasty.call("GET", at("slow")).status == 200, "questions are answered meanwhile"
        other.execute("ROLLBACK")
    other.close()
    done = hasty.call("POST", arrive, {"subject": "a"}, headers={"Idempotency-Key": "k"})
    assert done.status == 201
    assert [e["kind"] for e in hasty.call("GET", at("slow", "events")).json["items"]] == ["created", "arrived"]


def test_too_many_calls_at_once_are_told_to_come_later(hasty: Running, problem: Problem) -> None:
    assert hasty.call("POST", "/api/studies", new_study(problem, name="full")).status == 201
    with sqlite3.connect(hasty.store.removeprefix("sqlite:///"), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(30) as threads:
            calls = [threads.submit(hasty.call, "POST", at("full", "arrive"), {}) for _ in range(30)]
            said = [call.result().detail for call in calls]
        other.execute("ROLLBACK")
    other.close()
    assert sum("calls wait already" in each for each in said) == 30 - HASTY.waiting
    assert hasty.call("GET", at("full")).status == 200


def test_a_head_that_drips_is_cut_off_by_time(hasty: Running) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        connection.settimeout(0.2)
        end, came = time.monotonic() + 60, b""
        while not came and time.monotonic() < end:
            try:
                connection.sendall(b"X: y\r\n")
                came = connection.recv(100)
            except TimeoutError:
                continue
            except OSError:
                break
        assert time.monotonic() < end


def test_slow_clients_keep_nobody_else_waiting(opened: Running) -> None:
    slow = [socket.create_connection(("127.0.0.1", opened.port)) for _ in range(200)]
    for connection in slow:
        connection.sendall(b"POST /api/studies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
    assert opened.call("GET", "/api/studies").status == 200
    assert opened.call("GET", "/health").status == 200
    for connection in slow:
        connection.close()


JSON = (
    b"[" * 100_000,
    b'{"known": ' * 5000,
    b'{"subject": "\\ud800"}',
    b'{"known": {"x": NaN}}',
    b"\xff",
    b"1e999",
    b"",
)
TOML = ("a.b" * 100_000, "x = " + "[" * 5000, "schema = 1\n" * 2, "\0", "x = 0x" + "f" * 5000)


@pytest.mark.parametrize("body", JSON)
def test_hostile_json_gets_a_clear_error(opened: Running, body: bytes) -> None:
    sent = {"Content-Type": "application/json"}
    answer = opened.call("POST", at("nobody", "arrive"), body=body, headers=sent)
    assert answer.status in (400, 422), answer
    assert answer.detail


@pytest.mark.parametrize("text", TOML)
def test_hostile_problems_get_a_clear_error(opened: Running, text: str) -> None:
    answer = opened.call("POST", "/api/studies", {"problem": text})
    assert answer.status == 422
    assert answer.detail.startswith("the problem: ")


@pytest.mark.parametrize("request_line", [b"BREW / HTTP/1.1", b"GET http://evil.example/ HTTP/1.1", b"nonsense"])
def test_what_is_no_http(opened: Running, request_line: bytes) -> None:
    answer = opened.raw(request_line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer[9:10] in (b"2", b"4")
    assert opened.call("GET", "/health").status == 200


def test_two_requests_in_one_are_not_confused(opened: Running) -> None:
    """What a proxy and the service read differently (request smuggling) is refused."""
    both = (
        b"POST /api/studies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\nGET /api/me HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    answer = opened.raw(both)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
