"""HTTP on a connection, for clients that may be slow on purpose: a head must be complete in time, and not too long.

uvicorn itself waits for the rest of a head for as long as it takes, and keeps what came of it, however much.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proband.service.limits import Limits


class PatientProtocol(HttpToolsProtocol):
    """One connection to the application, whose limits it keeps."""

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], _loop: Any = None) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._limits: Limits = config.app.state.service.limits
        self._timer: asyncio.TimerHandle | None = None
        self._in_head, self._taken = True, 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what came, unless it is a head without end."""
        self._taken += len(data)
        super().data_received(data)
        if self._in_head and self._taken > self._limits.head:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a head."""
        super().on_message_begin()
        self._begin_head()

    def on_headers_complete(self) -> None:
        """Wait for it no more."""
        self._end_head()
        super().on_headers_complete()

    def _begin_head(self) -> None:
        taken = self._taken if self._in_head else 0
        self._end_head()
        self._in_head, self._taken = True, taken
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
