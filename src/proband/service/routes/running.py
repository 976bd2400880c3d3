"""Whether the service runs, and how."""

from __future__ import annotations

import time

from starlette.responses import Response

import proband
from proband.service import replies
from proband.service.desk import Desk
from proband.service.metrics import MEDIA_TYPE
from proband.service.problems import Answer
from proband.service.routes.common import Overseer, Service, router
from proband.service.shelf import used_memory

routes = router("running", prefix="")
_STARTED = time.time()


@routes.get("/health", response_model=replies.Health)
async def health() -> Answer:
    """Say that the process lives; nothing else is looked at."""
    return Answer({"status": "alive", "version": proband.__version__})


@routes.get("/ready", response_model=replies.Ready)
async def ready(service: Service) -> Answer:
    """Say that the store answers, an error (503) if it does not; and who makes plans.

    A planner that is away (a cluster that does not answer) is no error: the service plans itself.
    """
    await service.desk.run(service.access.refresh)
    scheme = service.desk.store.url.partition(":")[0]
    planning = service.desk.planning
    return Answer(
        {
            "status": "ready",
            "version": proband.__version__,
            "store": scheme,
            "planner": planning.at_work,
            "planner_away": planning.away,
        }
    )


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
        "proband_studies_closed": ("Studies that were closed because memory was short.", service.desk.shelf.closed),
        "proband_memory_bytes": ("Memory that this process takes.", used_memory()),
        "proband_planner_away": ("1 if plans are not made where they are to be.", service.desk.planning.away),
        **planned(service.desk),
        "proband_start_time_seconds": ("When the process started, in seconds since 1970.", _STARTED),
    }
    return Response(service.metrics.text(gauges), media_type=MEDIA_TYPE)


def planned(desk: Desk) -> dict[str, tuple[str, float]]:
    """Return what was planned for the studies that this process has had open."""
    plans = desk.shelf.planned()
    return {
        "proband_plans_made": ("Plans that were made for this process.", plans.made),
        "proband_plans_taken": ("Plans that another process had made, and this one took over.", plans.taken),
        "proband_planning_seconds": ("Seconds that the plans of this process took.", plans.seconds),
    }
