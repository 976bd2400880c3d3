"""Stations that take next to no CPU: one event loop, a plain socket for each, and no library in between.

They ask and tell the same as :mod:`benchmarks.service.stations`, which drives ``proband.client``: on two cores the
client's threads would take a third of what is there to be measured. What is not answered is sent again, with its key.
"""

import asyncio
import json
import sys
import time
from urllib.parse import quote, urlsplit

import numpy as np

from proband.instances import bolts

SECONDS = 120.0
"""For which one request is sent again."""


def main():
    settings = json.loads(sys.stdin.readline())
    stations = [Station(settings, n) for n in range(settings["stations"])]
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(asyncio.run(together(stations))), flush=True)


async def together(stations):
    begin, before = time.monotonic() + 0.5, time.process_time()
    await asyncio.gather(*(station.work(begin) for station in stations))
    verbs = ("ask", "tell", "arrive", "decide")
    return {
        "seconds": {verb: sorted(s for station in stations for s in station.seconds[verb]) for verb in verbs},
        "pairs": sum(station.pairs for station in stations),
        "errors": [error for station in stations for error in station.errors],
        "acknowledged": [key for station in stations for key in station.acknowledged],
        "took": time.monotonic() - begin,
        "cpu": time.process_time() - before,
    }


class Connection(asyncio.Protocol):
    """A connection on which one request is under way at a time."""

    def __init__(self):
        self.answer, self.got, self.transport = None, b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.got += data
        head, found, body = self.got.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        place = lower.index(b"content-length:") + 15
        if len(body) >= int(lower[place:].partition(b"\r\n")[0]):
            self.got = b""
            if self.answer is not None and not self.answer.done():
                self.answer.set_result((int(head[9:12]), body))

    def connection_lost(self, error):
        self.transport = None
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("closed"))


class Station:
    def __init__(self, settings, number):
        self.settings, self.number = settings, settings["first"] + number
        self.name = f"line {self.number}"
        urls = settings["urls"]
        place = urlsplit(urls[self.number % len(urls)])
        self.host, self.port, self.link = place.hostname, place.port, None
        token = settings["token"]
        self.head = f"Host: {place.netloc}\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")
        self.rng = np.random.default_rng(self.number)
        self.instance = bolts()
        self.rows = []
        tests = self.instance.problem.tests
        self.place, self.outcomes = {test.name: n for n, test in enumerate(tests)}, {t.name: t.names for t in tests}
        self.studies = settings.get("studies") or [settings["study"]]
        # every station goes round the studies, from a place of its own
        self.turn = self.number * max(1, len(self.studies) // settings["stations_in_all"])
        self.seconds = {"ask": [], "tell": [], "arrive": [], "decide": []}
        self.pairs, self.errors, self.acknowledged, self.writes = 0, [], [], 0

    async def work(self, begin):
        interval = self.settings["stations_in_all"] / self.settings["rate"]
        next_pair = begin + interval * self.rng.random()
        end = begin + self.settings["seconds"]
        try:
            while next_pair < end:
                next_pair = await self.subject(next_pair, interval, end)
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}"[:300])

    async def subject(self, next_pair, interval, end):
        """Inspect one bolt, a pair of ask and tell at its time."""
        row = self.row()
        bolt, study = f"{self.name} {self.writes}", self.studies[self.turn % len(self.studies)]
        self.turn += 1
        at = f"/api/studies/{quote(study, safe='')}"
        await self.timed("arrive", f"{at}/arrive", {"subject": bolt})
        place = f"{at}/subjects/{quote(bolt, safe='')}"
        while next_pair < end:
            await asyncio.sleep(max(0.0, next_pair - time.monotonic()))
            advice = json.loads(await self.timed("ask", f"{place}/ask"))
            if advice["kind"] == "decision":
                await self.timed("decide", f"{place}/decide", {"decision": advice["action"]})
                return next_pair
            outcome = self.outcomes[advice["action"]][int(row[self.place[advice["action"]]])]
            await self.timed("tell", f"{place}/tell", {"outcomes": {advice["action"]: outcome}})
            self.pairs += 1
            next_pair = max(next_pair + interval, time.monotonic() - 5.0)
        return next_pair

    def row(self):
        """Return the next bolt; many are drawn at a time, which takes no longer than one."""
        if not self.rows:
            self.rows = self.instance.sample(self.rng, 200).tolist()
        return self.rows.pop()

    async def timed(self, verb, path, content=None):
        """Send a request until it is answered; return the body."""
        if content is None:
            sent, key = f"GET {path} HTTP/1.1\r\n{self.head}\r\n".encode(), None
        else:
            self.writes += 1
            key = f"{self.name} {self.writes}"
            body = json.dumps({**content, "station": self.name}).encode()
            head = f"{self.head}Idempotency-Key: {key}\r\nContent-Type: application/json\r\n"
            sent = f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        began = time.perf_counter()
        answer = await self.answered(sent)
        self.seconds[verb].append(time.perf_counter() - began)
        if key is not None:
            self.acknowledged.append(key)
        return answer

    async def answered(self, sent):
        end = time.monotonic() + SECONDS
        while True:
            try:
                status, body = await self.sent(sent)
            except OSError:
                self.link, status, body = None, 503, b"no connection"
            if status < 300:
                return body
            if status != 503 or time.monotonic() > end:
                raise RuntimeError(f"{status}: {body.decode()}")
            await asyncio.sleep(0.05)

    async def sent(self, sent):
        loop = asyncio.get_running_loop()
        if self.link is None or self.link.transport is None:
            _, self.link = await loop.create_connection(Connection, self.host, self.port)
        self.link.answer = loop.create_future()
        self.link.transport.write(sent)
        return await self.link.answer


if __name__ == "__main__":
    main()
