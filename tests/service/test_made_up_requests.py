"""The service keeps to its own description, whatever it is sent: requests are made up as tests are collected."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.service.running import Running
from tests.service.test_openapi import description

pytestmark = pytest.mark.slow

NO_CHECK = positive_data_acceptance
"""A request may fit its schema and yet be refused: the subject is finished, the name taken, the text no problem."""

ENDLESS = r"/stream$"
"""A stream never ends; it is tested by itself."""


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    """Send a log as it is."""
    return value if isinstance(value, bytes) else str(value).encode()


schema = schemathesis.openapi.from_dict(description()).exclude(path_regex=ENDLESS)


@schema.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_the_service_keeps_to_its_description(case: Any, described: Running) -> None:
    case.call_and_validate(
        base_url=described.url,
        headers={"Authorization": f"Bearer {described.link}"},
        timeout=60,
        excluded_checks=[NO_CHECK],
    )
