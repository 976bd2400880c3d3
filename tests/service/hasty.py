"""A service with little patience, so that tests need little, too: ``python -m tests.service.hasty``."""

from __future__ import annotations

import argparse
import functools

from proband.service.limits import Limits
from proband.service.server import Serving, serve
from proband.studies import open_store

HASTY = Limits(head_seconds=0.5, body_seconds=0.5, answer_seconds=1.0, waiting=20, streams=4, streams_each=3)


def run(limits: Limits, *, opened: bool) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store")
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    say = functools.partial(print, flush=True)
    serve(open_store(given.store), Serving(port=given.port, open=opened), limits=limits, say=say)


if __name__ == "__main__":
    run(HASTY, opened=True)
