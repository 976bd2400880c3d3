"""Who makes the plans of a service: another process of this machine, or a cluster; and this process if they cannot.

A plan takes a core, and Python runs one thread at a time: made in a thread of the service it keeps stations waiting for
whatever of it is not compiled. A process of its own (:mod:`proband.studies.learning.worker`), before which stations go,
does not.

Whoever is asked may be away. Then the next one plans: the cluster, the process, the service itself; ``/ready`` and
``/metrics`` tell which. Plans are the same wherever they are made, so that nothing else changes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any, Protocol

from proband import cluster
from proband.errors import MissingExtraError, PlanError, ProbandError, ServiceError
from proband.studies.learning import worker
from proband.studies.learning.orders import carried_out
from proband.studies.learning.worker import DONE, receive, send

ASIDE, HERE = "process", "thread"
"""Names of planners, beside the addresses of clusters."""

AGAIN = 30.0
"""Seconds after which a cluster that was away is asked again."""

SILENCE = 10.0
"""Seconds without a connection to the scheduler after which an order is given up."""


class Maker(Protocol):
    """Carries orders out, or raises PlanError."""

    def plan(self, order: bytes) -> bytes:
        """Return what came of an order."""
        ...

    def close(self) -> None:
        """Plan no more."""
        ...


class Aside:
    """A process of this machine that plans; it is started with the first order, and again if it ends."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def plan(self, order: bytes) -> bytes:
        """Return what came of an order."""
        with self._turn:
            for _ in range(2):
                answer = self._asked(order)
                if answer is not None:
                    return answer
        raise PlanError("the process that plans was ended, perhaps for want of memory; plan here")

    def close(self) -> None:
        """Plan no more; a plan that is being made is thrown away."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._turn:  # whoever waits for an answer gets none now
            if self._process is not None:
                self._end(self._process)

    def _asked(self, order: bytes) -> bytes | None:
        """Return what the process answers; nothing if it ends, or has ended."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send(process.stdin, order)
            answer = receive(process.stdout)
        except OSError:
            answer = None
        if answer is None:
            self._end(process)
        elif answer[:1] != DONE:
            raise PlanError(f"the process that plans failed ({answer[1:].decode(errors='replace')}); plan here")
        return None if answer is None else answer[1:]

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise PlanError("the service has ended; nothing is planned any more; start it again")
        if self._process is None:
            places = os.pathsep.join(os.path.abspath(place) for place in sys.path)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", worker.__name__],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
                env={**os.environ, "PYTHONPATH": places},
            )  # fmt: skip
        return self._process


class OnCluster:
    """A cluster that plans; the connection is made with the first order."""

    def __init__(self, address: str) -> None:
        cluster.check_installed()
        self._address = address
        self._lock = threading.Lock()
        self._client: Any = None
        self._away = 0.0

    def plan(self, order: bytes) -> bytes:
        """Return what came of an order."""
        client = self._connected()
        future = client.submit(carried_out, order, pure=False)
        try:
            return self._awaited(client, future)
        except ProbandError:
            raise
        except Exception as error:  # whatever a cluster makes of a lost worker, or of another version
            self._leave(client)
            raise PlanError(f"the cluster could not plan ({type(error).__name__}: {error}); plan here") from error

    def close(self) -> None:
        """Plan no more."""
        client, self._client, self._away = self._client, None, float("inf")
        if client is not None:
            with suppress(Exception):
                client.close(timeout=2)

    def _connected(self) -> Any:
        with self._lock:
            if time.monotonic() < self._away:
                raise PlanError(f"the cluster at {self._address} was away a moment ago; plan here")
            if self._client is None:
                try:
                    self._client = cluster.connected(self._address)
                except ServiceError as error:
                    self._away = time.monotonic() + AGAIN
                    raise PlanError(f"{error}; plan here") from error
            return self._client

    def _awaited(self, client: Any, future: Any) -> bytes:
        """Wait for an order, as long as there is a scheduler to wait for and a worker to carry it out."""
        silent = time.monotonic()
        while not future.done():
            time.sleep(0.02)
            now = time.monotonic()
            if client.status == "running" and client.scheduler_info()["workers"]:
                silent = now
            elif now - silent > SILENCE:
                raise ConnectionError("its scheduler is silent, or it has no workers")
        answer: bytes = future.result(timeout=SILENCE)
        return answer

    def _leave(self, client: Any) -> None:
        with self._lock:
            if self._client is client:
                self._client, self._away = None, time.monotonic() + AGAIN
        with suppress(Exception):
            client.close(timeout=2)


class Planning:
    """The planners of a service, in the order in which they are asked.

    Parameters
    ----------
    where : str
        "thread", "process", or the address of a cluster, such as ``tcp://10.0.0.5:8786``.
    """

    def __init__(self, where: str) -> None:
        if where not in (HERE, ASIDE) and "://" not in where:
            raise ServiceError(
                f"the planner is {where!r}; it must be {ASIDE}, {HERE}, or the address of a Dask scheduler, such as "
                "tcp://10.0.0.5:8786; give one of them"
            )
        self.where = where
        self._makers: dict[str, Maker] = {}
        if "://" in where:
            self._makers["cluster"] = OnCluster(where)
        if where != HERE:
            self._makers[ASIDE] = Aside()
        self.made: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._last = next(iter(self._makers), HERE)
        self.trouble: str | None = None

    @property
    def at_work(self) -> str:
        """Who made the last plan: "cluster", "process" or "thread"; at first, who is to make it."""
        return self._last

    @property
    def away(self) -> bool:
        """Whether the last plan was not made where plans are to be made."""
        return self._last != next(iter(self._makers), HERE)

    def plan(self, order: bytes) -> bytes:
        """Return what came of an order, or raise PlanError: then it is to be carried out here."""
        self.trouble = None
        for name, maker in self._makers.items():
            try:
                answer = maker.plan(order)
            except (PlanError, MissingExtraError) as error:
                self.failed[name] += 1
                self.trouble = str(error)
            else:
                self.made[name] += 1
                self._last = name
                return answer
        self._last = HERE
        self.made[HERE] += 1
        raise PlanError(self.trouble or "plans are made here")

    def close(self) -> None:
        """Plan no more."""
        for maker in self._makers.values():
            maker.close()
