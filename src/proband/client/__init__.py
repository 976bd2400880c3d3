"""The client of a service: the verbs of :class:`proband.Study`, over HTTP, with nothing but the standard library.

A request that fails on the way is sent again, under the same idempotency key, so that a write is never doubled. At a
station, :class:`StationQueue` takes writes while the service is away, and delivers them later, in order, once.
"""

from typing import TYPE_CHECKING

from proband.lazy import attributes

if TYPE_CHECKING:
    from proband.client.deliveries import Delivery, StationQueue
    from proband.client.remote import RemoteStudy, Service
else:
    __getattr__, __dir__ = attributes(__name__)

__all__ = ["Delivery", "RemoteStudy", "Service", "StationQueue"]
