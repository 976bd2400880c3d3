"""A real service in a process of its own, and a plain HTTP client that says nothing it was not told to say."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from proband import Problem
from proband.problem_files import toml

SECONDS = 60.0


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        assert self.headers["content-type"] == "application/problem+json", self
        assert self.json["status"] == self.status
        return str(self.json["detail"])


class Running:
    """``proband serve`` with options, on a free port of this machine unless they say otherwise."""

    def __init__(
        self,
        store: str,
        *options: str,
        port: int = 0,
        folder: Path | None = None,
        program: Sequence[str] = ("proband", "serve"),
    ) -> None:
        command = [sys.executable, "-m", *program, "--store", store, "--port", str(port), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self.store = store
        self.said: list[str] = []
        self.errors: list[str] = []
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.said), (self.process.stderr, self.errors))
        ]
        for reader in self._readers:
            reader.start()
        self.port = self._wait_until_ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def link(self) -> str:
        """The token of the link that was printed."""
        [token] = re.findall(r"/login\?token=(\S+)", "\n".join(self.said))
        return str(token)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def call(
        self,
        method: str,
        path: str,
        content: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Reply:
        """Send one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        sent = {"Authorization": f"Bearer {token}"} if token is not None else {}
        if content is not None:
            body, sent["Content-Type"] = json.dumps(content).encode(), "application/json"
        try:
            connection.request(method, path, body, {**sent, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())
        finally:
            connection.close()

    def raw(self, sent: bytes, *, seconds: float = SECONDS) -> bytes:
        """Send bytes, and return what comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(sent)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
            return b"".join(parts)

    def _ended(self) -> int:
        status = self.process.wait(SECONDS)
        for reader in self._readers:
            reader.join(SECONDS)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()
        return status

    def _read(self, pipe: Any, lines: list[str]) -> None:
        lines.extend(line.rstrip("\n") for line in pipe)

    def _wait_until_ready(self) -> int:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            found = re.findall(r"serves at (https?)://\S+?:(\d+)", "\n".join(self.said))
            if found and _answers(*found[0]):
                return int(found[0][1])
            if self.process.poll() is not None:
                self._ended()
                raise AssertionError(f"the service ended with {self.process.returncode}: {self.errors}")
            time.sleep(0.02)
        raise AssertionError(f"the service does not start: {self.said} {self.errors}")


def _answers(scheme: str, port: str) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=SECONDS) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return scheme == "https" or bool(connection.recv(1))
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def new_study(problem: Problem, **more: Any) -> dict[str, Any]:
    """The request that begins a study of a problem."""
    return {"problem": toml(problem.to_dict()), "agent": "test-everything", **more}


def at(study: str, *parts: str) -> str:
    """The path of something in a study."""
    return "/".join(["/api/studies", *(quote(part, safe="") for part in (study, *parts))])
