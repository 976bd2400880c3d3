"""HTTP on a connection, for clients that may be slow on purpose: a head must be complete in time, and not too long.

uvicorn itself waits for the rest of a head for as long as it takes, and keeps what came of it, however much. It also
sends the head of an answer by itself, before the body: a second way to the kernel, and a second packet, for every one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proband.service.limits import Limits

LARGE = 2**16
"""Bytes that are sent at once, whatever else may follow."""


class PatientProtocol(HttpToolsProtocol):
    """One connection to the application, whose limits it keeps."""

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits: Limits = config.app.state.service.limits
        self._timer: asyncio.TimerHandle | None = None
        self._in_head, self._taken = True, 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(_Together(transport, self.loop))  # type: ignore[arg-type]  # as far as it is used
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what came, unless it is a head without end; wait for the rest of one that is not complete."""
        self._taken += len(data)
        super().data_received(data)
        if not self._in_head:
            return
        if self._taken > self._limits.head:
            self._refuse(b"431 Request Header Fields Too Large")
        elif self._timer is None:
            self._begin_head()

    def on_message_begin(self) -> None:
        """Begin with a head, the rest of which may have come already."""
        super().on_message_begin()
        if not self._in_head:
            self._in_head, self._taken = True, 0

    def on_headers_complete(self) -> None:
        """Wait for it no more."""
        self._end_head()
        super().on_headers_complete()

    def _begin_head(self) -> None:
        self._timer = self.loop.call_later(self._limits.head_seconds, self._refuse, b"408 Request Timeout")

    def _end_head(self) -> None:
        self._in_head = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\n\r\n")
            self.transport.close()


class _Together:
    """A transport that sends what is written in one go in one go."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send this, with what else is written in this turn of the event loop."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)
        self._size += len(data)
        if self._size > LARGE:
            self._send()

    def close(self) -> None:
        """Send what is left, and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        parts, self._parts, self._size = self._parts, [], 0
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts) if len(parts) > 1 else parts[0])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
