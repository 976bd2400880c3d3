"""A process that makes plans for another one: ``python -m proband.studies.learning.worker``.

Orders come in by standard input, and what came of them goes out by standard output, each with its length before it; an
answer begins with a letter that says whether it is one, or what went wrong. It ends with the process that started it.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from contextlib import suppress
from typing import IO

from proband.studies.learning.orders import carried_out

DONE, FAILED = b"D", b"F"
LOWER = 5
"""By how much this process is nicer than the one that started it: stations go before plans."""


def send(file: IO[bytes], content: bytes) -> None:
    """Write a content with its length."""
    file.write(len(content).to_bytes(8, "big") + content)
    file.flush()


def receive(file: IO[bytes]) -> bytes | None:
    """Read a content; None when there is no more."""
    size = file.read(8)
    if len(size) < 8:
        return None
    length = int.from_bytes(size, "big")
    content = file.read(length)
    return content if len(content) == length else None


def main() -> None:
    """Carry orders out, one after the other."""
    with suppress(OSError):
        os.nice(LOWER)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    while True:
        order = orders.get()
        try:
            answer = DONE + carried_out(order)
        except Exception as error:
            answer = FAILED + f"{type(error).__name__}: {error}".encode()
        send(answers, answer)


def _read(orders: queue.SimpleQueue[bytes]) -> None:
    """Take orders in; end the process when nobody gives any more, even while it plans."""
    while (order := receive(sys.stdin.buffer)) is not None:
        orders.put(order)
    os._exit(0)


if __name__ == "__main__":
    main()
