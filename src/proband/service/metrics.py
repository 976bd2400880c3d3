"""Metrics in Prometheus' text format: requests and how long they took, studies, streams, waiting calls, log-ins.

Only routes are labels, never what stands in them: names of studies and subjects are nobody's business here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import proband

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts of one process.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.answered("GET", "/health", 200, 0.004)
    >>> print(metrics.text({}).splitlines()[2])
    proband_requests_total{method="GET",route="/health",status="200"} 1
    """

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._within: dict[str, list[int]] = {}
        self.refused: Counter[str] = Counter()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests[method, route, status] += 1
        self._seconds[route] += seconds
        within = self._within.setdefault(route, [0] * (len(BUCKETS) + 1))
        within[bisect_left(BUCKETS, seconds)] += 1

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return all metrics; `gauges` are those of the moment, with what they mean."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
        yield from _head("proband_requests_total", "counter", "Requests answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'proband_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield from _head("proband_request_seconds", "histogram", "Seconds from a request to its answer.")
        for route, within in sorted(self._within.items()):
            total = 0
            for bound, count in zip((*BUCKETS, "+Inf"), within, strict=True):
                total += count
                yield f'proband_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'proband_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'proband_request_seconds_count{{route="{route}"}} {total}'
        yield from _head("proband_refused_total", "counter", "Requests refused before they were looked at.")
        for why, count in sorted(self.refused.items()):
            yield f'proband_refused_total{{why="{why}"}} {count}'
        for name, (about, value) in gauges.items():
            yield from _head(name, "gauge", about)
            yield f"{name} {value:g}"
        yield from _head("proband_info", "gauge", "The version that runs.")
        yield f'proband_info{{version="{proband.__version__}"}} 1'


def _head(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
