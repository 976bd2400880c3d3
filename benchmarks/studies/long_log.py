"""A million events: replayed, opened with and without a snapshot, asked, and exported."""

import os
import resource
import time
from pathlib import Path

from benchmarks.studies.synthetic import write_log
from proband.instances import INSTANCES
from proband.studies import Study, folded
from proband.studies.events.created import make_agent
from proband.studies.exchange.exports import verify
from proband.studies.learning.replay import agent_at
from proband.studies.log.fold import read_entries
from proband.studies.stores import open_store


def measure(events, folder, tell=print):
    """Return rows of what was done, and how long it took."""
    url, rows = f"sqlite:///{folder}/long.db", []
    store = open_store(url)

    def timed(what, work, **facts):
        began = time.perf_counter()
        result = work()
        rows.append({"what": what, "seconds": time.perf_counter() - began, **facts})
        tell(f"{what}: {rows[-1]['seconds']:.2f} s")
        return result

    subjects = timed("write the log", lambda: write_log(store, INSTANCES["bolts"](), events))
    ledger = timed("fold all events", lambda: folded(read_entries(store, "bolts")))
    timed(
        "teach the agent all subjects",
        lambda: agent_at(ledger, lambda: make_agent(ledger.problem, ledger.creation), ledger.position),
    )
    timed("verify the chain", lambda: verify(read_entries(store, "bolts")))
    study = timed("open without a snapshot", lambda: Study.open("bolts", store=store, replan="never"))
    timed("close and keep a snapshot", study.close)
    study = timed("open with a snapshot", lambda: Study.open("bolts", store=store, replan="never"))
    timed("summary, without exploration and drift", lambda: study.summary(exploration=False, drift=False))
    timed("check for drift", study.drift)
    bolt = timed("first arrival (teaches the agent)", study.arrive)
    timed("first ask", lambda: study.ask(bolt))
    timed("second arrival", study.arrive)
    found = timed("work out all advice again", study.replay)
    timed("export", lambda: study.export(Path(folder) / "long.jsonl"))
    study.close()
    store.close()
    size = sum(os.stat(Path(folder) / name).st_size for name in ("long.db", "long.jsonl"))
    return {
        "rows": rows, "events": ledger.position, "subjects": subjects, "advices": found.advices,
        "policies": found.policies, "differences": len(found.differences), "bytes": size,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }  # fmt: skip
