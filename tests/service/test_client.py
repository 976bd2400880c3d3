"""The client: the verbs of a study with the same answers, and retries that double nothing."""

from __future__ import annotations

import http.client
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.running import Running, free_port

from proband import Problem, Study
from proband.client import RemoteStudy, Service
from proband.errors import AccessError, HeldError, ProblemError, RequestError, ServiceError, UnidentifiedError
from proband.studies import import_study, open_store


@pytest.fixture
def client(service: Running, tokens: dict[str, str]) -> Iterator[Service]:
    with Service(service.url, tokens["engineer"], station="line 1", patience=20.0) as one:
        yield one


@pytest.fixture
def remote(client: Service, study: str) -> RemoteStudy:
    return client.study(study)


def test_it_has_the_verbs_of_a_study() -> None:
    verbs = {name for name in vars(Study) if not name.startswith("_")} - {"create", "open", "close", "speaking"}
    elsewhere = {"policy", "drift", "records", "table", "observations", "replay", "replan"}
    """What needs the agent itself, or all rows at once: whoever wants it exports the study."""
    elsewhere |= {"find", "trail", "same_tests"}
    """What fills a screen: programs take all subjects and events."""
    assert verbs - elsewhere <= set(dir(RemoteStudy))


def test_what_comes_back_is_what_a_study_returns(
    remote: RemoteStudy, store: str, problem: Problem, tmp_path: Path
) -> None:
    bolt = remote.arrive({"visual": "clean"}, subject="bolt/17 µ")
    with Study.open(remote.name, store=store, station="line 1") as here:
        assert bolt == here.subject("bolt/17 µ") == remote.subject("bolt/17 µ")
        assert remote.ask(bolt) == here.ask("bolt/17 µ")
        assert remote.tell(bolt, "ultrasonic", "crack").known == {"visual": "clean", "ultrasonic": "crack"}
        assert remote.decide(bolt) == "fail"
        assert remote.subjects() == here.subjects()
        assert remote.subjects(open=True) == []
        assert remote.correct(bolt, "visual", "rusty", reason="wrong tray") == here.subject(bolt.name)
        assert list(remote.events(2)) == list(here.events(2))
        assert remote.verify() == here.verify()
        assert remote.what_if({"visual": "rusty"}) == here.what_if({"visual": "rusty"})
        assert remote.summary() == here.summary().to_dict()
        assert remote.problem == problem
        remote.void(bolt, reason="dropped")
        remote.export(tmp_path / "study.jsonl")
        assert import_study(tmp_path / "study.jsonl", store="memory:") == here.verify()
        remote.write_table(tmp_path / "table.csv")
        here.write_table(tmp_path / "here.csv")
        assert (tmp_path / "table.csv").read_text() == (tmp_path / "here.csv").read_text()


def test_more_verbs(remote: RemoteStudy, client: Service, tmp_path: Path) -> None:
    (tmp_path / "past.csv").write_text("visual,ultrasonic\nclean,ok\nrusty,crack\n")
    assert remote.learn_from(tmp_path / "past.csv") == 2
    assert remote.learn_from(tmp_path / "past.csv").recognised == 2
    remote.restart(reason="new supplier")
    remote.arrive(subject="a")
    remote.decide("a", "pass")
    assert remote.reveal("a", {"ultrasonic": "ok"}).known == {"ultrasonic": "ok"}
    remote.arrive(subject="b")
    assert remote.take("b", at_once=True).name == "b"
    assert remote.name in [listed.study for listed in client.studies()]
    assert client.me()["role"] == "engineer"


def test_errors_are_those_of_the_library(remote: RemoteStudy, service: Running, tokens: dict[str, str]) -> None:
    remote.arrive(subject="a")
    with Service(service.url, tokens["operator"], station="line 2") as other:
        with pytest.raises(HeldError, match="take it over at once"):
            other.study(remote.name).tell("a", "visual", "clean")
        with pytest.raises(AccessError, match="needs the role engineer"):
            other.study(remote.name).restart(reason="x")
    with Service(service.url, "guess") as nobody, pytest.raises(UnidentifiedError):
        nobody.study(remote.name).ask("a")
    with pytest.raises(RequestError, match="no address of a service"):
        Service("ftp://host")
    with pytest.raises(RequestError, match="cannot be sent as JSON"):
        remote.tell("a", "visual", float("nan"))


def test_a_new_study_with_past_records(client: Service, problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "past.csv").write_text("visual,ultrasonic\nclean,ok\n")
    made = client.create(problem, name="by client", agent="test-everything", records=tmp_path / "past.csv")
    assert made.summary(exploration=False, drift=False)["imported"] == 1
    with pytest.raises(ProblemError):
        client.create(Problem([], [], lambda x, y: x))


class Flaky(http.server.BaseHTTPRequestHandler):
    """Hands requests on to a service, and then loses every other answer, or says that nobody is there."""

    behind: tuple[str, int]
    seen = 0
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        type(self).seen += 1
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        connection = http.client.HTTPConnection(*self.behind, timeout=60)
        connection.request(self.command, self.path, body, {**dict(self.headers), "Host": "localhost"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        lost = type(self).seen % 3
        if lost == 1:  # what was done is not told
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(502 if lost == 2 else answer.status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: Any) -> None: ...


def test_answers_that_get_lost_double_nothing(service: Running, tokens: dict[str, str], study: str, store: str) -> None:
    class Between(Flaky):
        behind = ("127.0.0.1", service.port)

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        with Service(f"http://127.0.0.1:{proxy.server_port}", tokens["operator"], station="line 1") as client:
            remote = client.study(study)
            for n in range(3):
                remote.arrive(subject=f"s{n}")
                remote.tell(f"s{n}", {"visual": "clean", "ultrasonic": "ok"})
                assert remote.decide(f"s{n}") == "pass"
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
    assert Between.seen > 20
    where = open_store(store)
    assert where.length(study) == 1 + 3 * 4
    where.close()


def test_patience_ends_with_the_key(problem: Problem) -> None:
    with Service(f"http://127.0.0.1:{free_port()}", patience=0.2) as client:
        with pytest.raises(ServiceError, match="the key 'mine' records it once"):
            client.study("bolts").arrive(key="mine")
        assert "token" not in repr(client.transport)
