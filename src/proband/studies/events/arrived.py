"""A subject arrives, with what is known of it already, and is bound to a policy and a coin.

Coins: one number u in [0, 1) for each subject, from the study's seed and the subject's number alone. A counter-based
generator (Philox) has no state to keep: the coin of subject n is the first draw of its n-th counter. So a log can be
replayed from any place, and stations need not agree on anything but numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proband.errors import StudyError, shown
from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Request, same_under
from proband.studies.ledger.ledger import Ledger, Outcome

_KEY = 0x70726F62616E6400
"""Sets coins apart from whatever else uses the seed."""


def coin(seed: int, number: int) -> float:
    """Return the coin of a subject, by the seed of the study and its number (1, 2, ... in order of arrival).

    Examples
    --------
    >>> coin(0, 1) == coin(0, 1) != coin(0, 2)
    True
    """
    generator = np.random.Philox(key=[seed % 2**64, _KEY + (seed >> 64) % 2**56], counter=[0, number, 0, 0])
    return float(generator.random_raw() >> 11) * 2.0**-53


def next_coin(ledger: Ledger) -> float:
    """Return the coin of the subject that arrives next."""
    return coin(ledger.creation["seed"], len(ledger.columns) + 1)


def known_on_arrival(ledger: Ledger, given: Mapping[str, Outcome] | None) -> dict[str, Outcome]:
    """Return what came with a newcomer, in the order and the form of the problem."""
    if not given:
        return {}
    row = ledger.row(given)
    unavailable = [ledger.problem.tests[i].name for i in np.flatnonzero(~np.isnan(row) & ledger.unavailable)]
    if unavailable:
        raise StudyError(
            f"the tests {unavailable} are unavailable: their outcomes come to light later, if ever; leave them out, "
            "and reveal them when the subject is finished"
        )
    return ledger.problem.describe(row)


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    content = request.content
    data = {"known": known_on_arrival(ledger, content["known"]), "coin": next_coin(ledger)}
    return [Draft(_name(ledger, request.subject), {**data, "policy": content["policy"], "lease": content["lease"]})]


def _name(ledger: Ledger, given: str | None) -> str:
    """Return the name of a newcomer: the given one if it is free, else its number."""
    if given is None:
        number = len(ledger.columns) + 1
        name, n = str(number), 1
        while name in ledger.index:  # somebody called a subject by a number
            n += 1
            name = f"{number}-{n}"
        return name
    if checks.text("the name of a subject", given) in ledger.index:
        raise StudyError(f"subject {given!r} arrived already; names must differ; give it another one")
    return given


def _read(ledger: Ledger, event: Event, data: Data) -> list[tuple[int, float]]:
    if event.subject is None or event.subject in ledger.index:
        raise ValueError(f"subject {shown(event.subject)} arrived already, or has no name")
    coin, policy = data["coin"], data["policy"]
    if type(coin) not in checks.NUMBERS or not 0 <= coin < 1:
        raise ValueError(f"its coin is {shown(coin)}; a coin is 0 or more and below 1")
    if type(policy) is not int or not 0 <= policy < event.number:
        raise ValueError(f"its policy is {shown(policy)}; it must be the number of an earlier entry, or 0")
    checks.lease(data["lease"])
    known = [ledger.number(test, outcome) for test, outcome in data["known"].items()]
    for j, _ in known:
        checks.available(ledger, j)
    return known


def _fold(ledger: Ledger, event: Event, seconds: float, known: list[tuple[int, float]]) -> None:
    data, columns, name = event.data, ledger.columns, str(event.subject)
    i = columns.add(name, event.station)
    ledger.index[name] = i
    ledger.open[i] = None
    columns.coin[i], columns.policy[i], columns.lease[i] = data["coin"], data["policy"], data["lease"]
    columns.arrived[i], columns.arrived_at[i] = event.number, seconds
    for j, value in known:
        columns.rows[i, j], columns.when[i, j] = value, event.number
        if ledger.operable[j]:
            columns.steady[i] = False
    ledger.hold(i, event, seconds)


def _asked(ledger: Ledger, event: Event, data: Data) -> Data:
    checks.text("the name of a subject", event.subject)
    checks.whole("policy", data["policy"], 0, ledger.position)
    return {"known": data["known"], "policy": data["policy"], "lease": checks.lease_of(data["lease"])}


ARRIVED = EventKind("arrived", _draft, same_under("known"), _read, _fold, _asked)
