"""The disk of a service is full: nothing is acknowledged that is not kept, questions are answered, and it goes on."""

from __future__ import annotations

import resource
from pathlib import Path

import psutil
import pytest
from tests.service.running import Running, at, new_study

from proband import Problem
from proband.client import Service, StationQueue
from proband.studies import Study

ENDLESS = resource.RLIM_INFINITY


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="other processes cannot be limited here")
def test_a_disk_that_is_full_for_a_while(tmp_path: Path, problem: Problem) -> None:
    """No file of the service may grow much beyond the largest one: the kernel refuses it as it does on a full disk."""
    store = f"sqlite:///{tmp_path}/store/bolts.db"
    (tmp_path / "store").mkdir()
    with Running(store, "--open") as running:
        assert running.call("POST", "/api/studies", new_study(problem, name="bolts")).status == 201

        def arrive(n: int) -> int:
            sent = {"subject": f"bolt {n} " + "x" * 150}
            answer = running.call("POST", at("bolts", "arrive"), sent, headers={"Idempotency-Key": f"key {n}"})
            if answer.status != 201:
                assert (answer.status, answer.json["type"]) == (503, "urn:proband:StoreError")
                assert "nothing of this write was acknowledged" in answer.detail
                assert str(tmp_path) not in answer.detail
            return answer.status

        assert arrive(0) == 201
        largest = max(each.stat().st_size for each in (tmp_path / "store").iterdir())
        process = psutil.Process(running.process.pid)
        process.rlimit(psutil.RLIMIT_FSIZE, (largest + 20_000, ENDLESS))
        done = 1
        while arrive(done) == 201:
            done += 1
        for path in ("/health", "/ready", "/api/studies", at("bolts", "find"), at("bolts", "subjects", "1", "ask")):
            assert running.call("GET", path).status in (200, 404)
        listed = running.call("GET", f"{at('bolts', 'subjects')}?limit=1000").json["items"]
        assert len(listed) == done, "what was refused is not there"
        process.rlimit(psutil.RLIMIT_FSIZE, (1, ENDLESS))
        with (
            Service(running.url, station="line 1", patience=0.0) as client,
            StationQueue(tmp_path / "queue.db", client.study("bolts"), background=False) as queue,
        ):
            queue.arrive("waits")
            assert (queue.deliver(), queue.refused()) == (0, [])
            process.rlimit(psutil.RLIMIT_FSIZE, (ENDLESS, ENDLESS))
            assert (queue.deliver(), queue.waiting()) == (1, [])
        assert [arrive(n) for n in range(done + 1)] == [201] * (done + 1), "under their keys all of them are there once"
    with Study.open("bolts", store=store, replan="never") as study:
        assert study.verify().length == done + 3
