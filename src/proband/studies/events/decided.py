"""A subject is decided on, and finished."""

from __future__ import annotations

from proband.studies.events import checks
from proband.studies.events.kind import Data, Draft, Event, EventKind, Leases, Ledger, Request, same_under


def _draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    content, columns = request.content, ledger.columns
    i = checks.open_and_ours(ledger, request, leases, "deciding")
    checks.fresh(ledger, i, request)
    action, name = content["advised"]
    data = {
        "decision": ledger.problem.action_name(content["chosen"]),
        "policy": int(columns.policy[i]),
        "advised": name,
        "followed": action == content["chosen"],
        "cost": float(columns.spent[i]),
        "chance": content["chance"],
    }
    return [Draft(request.subject, data)]


def _read(ledger: Ledger, event: Event, data: Data) -> int:
    i = checks.open_row(ledger, event)
    if data["decision"] not in ledger.problem.decisions:
        checks.decision_of(ledger.problem, checks.written(data, "decision"))
    if data["chance"] is not None:
        checks.chance(data["chance"])
    checks.advice(ledger, i, data)
    return i


def _fold(ledger: Ledger, event: Event, seconds: float, i: int) -> None:
    data, columns = event.data, ledger.columns
    columns.decided[i], columns.finished_at[i], columns.touched[i] = event.number, seconds, event.number
    columns.decisions[i] = data["decision"]
    columns.obeyed[i] = data["followed"]
    if data["chance"] is not None:
        columns.chance[i] = data["chance"]
    del ledger.open[i]
    ledger.order.append(i)
    ledger.ended.append(event.number)


def _asked(ledger: Ledger, event: Event, data: Data) -> Data:
    checks.exported_chance(data["chance"])
    chosen = checks.decision_of(ledger.problem, data["decision"])
    advised = checks.advised(ledger, data, data["decision"], chosen)
    return {"chosen": chosen, "advised": advised, "chance": data["chance"], "seen": None}


DECIDED = EventKind("decided", _draft, same_under("decision"), _read, _fold, _asked)
