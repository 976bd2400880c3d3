"""Whether the service runs, and how."""

from __future__ import annotations

import time

from starlette.responses import Response

import proband
from proband.service import replies
from proband.service.metrics import MEDIA_TYPE
from proband.service.problems import Answer
from proband.service.routes.common import Overseer, Service, router

routes = router("running", prefix="")
_STARTED = time.time()


@routes.get("/health", response_model=replies.Health)
async def health() -> Answer:
    """Say that the process lives; nothing else is looked at."""
    return Answer({"status": "alive", "version": proband.__version__})


@routes.get("/ready", response_model=replies.Ready)
async def ready(service: Service) -> Answer:
    """Say that the store answers; an error (503) if it does not."""
    await service.desk.run(service.access.refresh)
    scheme = service.desk.store.url.partition(":")[0]
    return Answer({"status": "ready", "version": proband.__version__, "store": scheme})


@routes.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(service: Service, caller: Overseer) -> Response:
    """Return metrics for Prometheus, in its text format; the token must be for all studies."""
    gauges: dict[str, tuple[str, float]] = {
        "proband_studies_open": ("Studies that this process has open.", len(service.desk.open)),
        "proband_streams_open": ("Event streams that are open.", service.feeds.watchers),
        "proband_calls_waiting": ("Calls of studies that are not answered yet.", service.desk.waiting),
        "proband_start_time_seconds": ("When the process started, in seconds since 1970.", _STARTED),
    }
    return Response(service.metrics.text(gauges), media_type=MEDIA_TYPE)
