"""Requests to a service: one connection a thread, sent again until there is an answer or patience ends.

What may be sent again is everything: questions change nothing, and a write has its idempotency key. It is sent again
when the connection fails or no answer comes in time, when the service says that it is busy or its store is (503), that
this comes too often (429), and when a proxy has nobody to ask (502, 504). What the service refuses is raised, as the
error that it was there.
"""

from __future__ import annotations

import http.client
import json
import random
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from proband.errors import RequestError, ServiceError, from_problem

AGAIN = frozenset({429, 502, 503, 504})
PAUSES = (0.05, 2.0)
"""Seconds of the first pause before a request is sent again, and of the longest; each is twice the one before."""

_FAILED = (OSError, http.client.HTTPException)


class Answer(NamedTuple):
    """What a service answered."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        """Return the content of JSON."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise ServiceError(
                f"the answer is no JSON ({error}); something else answers at this address; correct it"
            ) from error


class Transport:
    """How a service is reached.

    Parameters
    ----------
    url : str
        As ``https://plant.example:8765``.
    token : str, optional
    timeout : float
        Seconds to wait for one answer.
    patience : float
        Seconds for which a request is sent again.
    authorities : str, optional
        A file of certificates to trust, in PEM format, instead of the system's.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 40.0,
        patience: float = 60.0,
        authorities: str | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise RequestError("this is no address of a service; write http://host:port or https://host:port")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path.rstrip("/")
        self._context = ssl.create_default_context(cafile=authorities) if parts.scheme == "https" else None
        self._token, self.timeout, self.patience = token, timeout, patience
        self._mine, self._all = threading.local(), set[http.client.HTTPConnection]()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"  # without the token

    def request(
        self,
        method: str,
        path: str,
        content: Any = None,
        *,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
        patience: float | None = None,
    ) -> Answer:
        """Return the answer to a request; raise what the service refuses, or ServiceError if there is no answer."""
        body = None if content is None else _encoded(content)
        headers = {"Content-Type": "application/json", **self.headers(key)}
        target = _target(self._path + path, query)
        end, pause, why = time.monotonic() + (self.patience if patience is None else patience), PAUSES[0], ""
        while True:
            try:
                answer = self._once(method, target, body, headers)
            except _FAILED as error:
                why, wait = f"{type(error).__name__}: {error}", 0.0
            else:
                if answer.status not in AGAIN:
                    return _accepted(answer)
                why, wait = str(_refusal(answer)), _seconds(answer.headers.get("retry-after"))
            pause = min(PAUSES[1], 2 * pause)
            wait = max(wait, pause * random.uniform(0.5, 1.0))
            if time.monotonic() + wait > end:
                known = "" if key is None else f"; should it be recorded all the same, the key {key!r} records it once"
                raise ServiceError(f"{self.url} gives no answer ({why}); try again later{known}")
            time.sleep(wait)

    def headers(self, key: str | None = None) -> dict[str, str]:
        """Return what every request says."""
        own = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return own if key is None else {**own, "Idempotency-Key": key}

    @contextmanager
    def streaming(self, path: str, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
        """Lend the answer to a question that is answered bit by bit, on a connection of its own."""
        connection = self._connect()
        try:
            connection.request("GET", quote(self._path + path, safe="/%?=&"), headers={**self.headers(), **headers})
            answer = connection.getresponse()
            if answer.status != 200:
                raise _refusal(_whole(answer))
            yield answer
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connections of all threads; one that is needed again is opened again."""
        for connection in list(self._all):
            connection.close()

    def _once(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        used = connection is not None
        if connection is None:
            connection = self._mine.connection = self._connect()
            self._all.add(connection)
        try:
            connection.request(method, target, body, dict(headers))
            answer = connection.getresponse()
            return _whole(answer)
        except _FAILED as error:
            connection.close()
            self._mine.connection = None
            self._all.discard(connection)
            if used and isinstance(error, http.client.RemoteDisconnected | BrokenPipeError | ConnectionResetError):
                return self._once(method, target, body, headers)  # it was idle for too long, and closed over there
            raise

    def _connect(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self.timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self.timeout, context=self._context)


def part(name: str) -> str:
    """Return a name as it stands in a path.

    Examples
    --------
    >>> part("bolts/2026 µ")
    'bolts%2F2026%20%C2%B5'
    """
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as error:
        raise RequestError(f"a name is no valid Unicode ({error.reason}); leave out the half of a character") from None


def _target(path: str, query: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _encoded(content: Any) -> bytes:
    try:
        return json.dumps(content, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise RequestError(f"this cannot be sent as JSON ({error}); use texts and finite numbers") from error


def _whole(answer: http.client.HTTPResponse) -> Answer:
    return Answer(answer.status, answer.read(), {name.lower(): value for name, value in answer.headers.items()})


def _accepted(answer: Answer) -> Answer:
    if answer.status >= 300:
        raise _refusal(answer)
    return answer


def _refusal(answer: Answer) -> Exception:
    try:
        content = json.loads(answer.body)
    except ValueError:
        content = {}
    return from_problem(content if isinstance(content, dict) else {}, answer.status)


def _seconds(given: str | None) -> float:
    return float(given) if given is not None and given.isdigit() else 0.0
