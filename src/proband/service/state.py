"""What the parts of the service share."""

from __future__ import annotations

from dataclasses import dataclass

from proband.service.access.log import AccessLog
from proband.service.access.rates import Rate
from proband.service.desk import Desk
from proband.service.feeds import Feeds
from proband.service.guard import Guard
from proband.service.limits import Limits
from proband.service.metrics import Metrics


@dataclass(frozen=True)
class State:
    """The service of one process."""

    limits: Limits
    guard: Guard
    access: AccessLog
    desk: Desk
    feeds: Feeds
    metrics: Metrics
    failures: Rate
    log_ins: Rate
    behind_proxy: bool = False
