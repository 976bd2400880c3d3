"""Frozen agents: equal when they are thawed, bit for bit, and nothing but agents."""

from __future__ import annotations

import json
import threading
import zlib
from typing import Any

import numpy as np
import pytest
from tests.studies.crowd import PROBLEMS, fingerprint, same
from tests.studies.test_learning import CASES, log

from proband.errors import PlanError
from proband.studies.events.created import make_agent
from proband.studies.learning import orders
from proband.studies.learning.frozen import Basis, FreezeError, freeze, thaw
from proband.studies.learning.learner import Learner, State
from proband.studies.learning.orders import carried_out, order_of, outcome_of

QUICK = (("doubling-keep", "bolts"), ("safe-leaf-completion", "gout"), ("greedy", "rods"), ("thrifty", "network"))
SLOW = [*(set(CASES) - set(QUICK)), ("safe-leaf-completion", "rods"), ("certified", "network")]
MORE = [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in sorted(SLOW))]


@pytest.mark.parametrize(("agent", "problem"), MORE)
def test_an_agent_that_was_frozen_on_the_way_is_the_one_that_goes_on(agent: str, problem: str) -> None:
    """Over a log with corrections, voidings, imports and restarts; here, and as an order carried out elsewhere."""
    ledger = log(agent, problem)

    def make() -> Any:
        return make_agent(ledger.problem, ledger.creation)

    whole, other, sent = (Learner(make, ledger.unavailable) for _ in range(3))
    rng = np.random.default_rng(0)
    for stop in sorted({ledger.position, *rng.integers(1, ledger.position, 7).tolist()}):
        span = whole.learn(whole.way_to(ledger, stop))
        shown = fingerprint(ledger.problem, span.policy)
        basis = Basis(ledger.problem, make())
        other = Learner(make, ledger.unavailable, State(*thaw(freeze(list(other.state), basis), basis)))
        assert same(fingerprint(ledger.problem, other.learn(other.way_to(ledger, stop)).policy), shown)
        came = outcome_of(carried_out(order_of(ledger, basis, sent.state, sent.way_to(ledger, stop))), basis)
        sent = Learner(make, ledger.unavailable, came.state)
        assert same(fingerprint(ledger.problem, sent.span.policy), shown)
        assert (sent.span.since, sent.span.position, sent.span.commitment) == (span.since, stop, span.commitment)


def test_another_code_carries_no_order_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = log("greedy", "gout")
    learner = Learner(lambda: make_agent(ledger.problem, ledger.creation), ledger.unavailable)
    basis = Basis(ledger.problem, learner.agent)
    order = order_of(ledger, basis, None, learner.way_to(ledger, ledger.position))
    monkeypatch.setattr(orders, "code_of", lambda agent: "another")
    with pytest.raises(PlanError, match="other code"):
        carried_out(order)


class Holder:
    """Stands for an agent of somebody's."""

    def __init__(self, content: Any) -> None:
        self.content = content


GAPS = np.zeros((4, 4))[:, ::2]
ODD = [threading.Lock(), object(), np.array([object()]), GAPS, print, np.random.RandomState(0), open]


@pytest.mark.parametrize("content", ODD, ids=lambda content: type(content).__name__)
def test_what_is_more_than_an_agent_is_made_of_cannot_be_frozen(content: Any) -> None:
    basis = Basis(PROBLEMS["bolts"](), Holder(1))
    with pytest.raises(FreezeError):
        freeze(Holder([content]), basis)


def test_values_come_back_as_they_were() -> None:
    shared = np.arange(6.0).reshape(2, 3)
    read_only = np.array(["a", "µ"])
    read_only.flags.writeable = False
    content = {
        "one": shared, "two": [shared, (1, -0.0, float("inf"), 2**70)], b"\0": {1, 2}, (1, "x"): frozenset("ab"),
        "columns": np.asfortranarray(shared), "text": read_only, "number": np.float64(0.1), "whole": np.int64(3),
        "empty": np.empty((0, 3)), "bools": np.array([True]), "nan": float("nan"),
    }  # fmt: skip
    basis = Basis(PROBLEMS["bolts"](), Holder(1))
    again = thaw(freeze(Holder(content), basis), basis).content
    assert list(again) == list(content)
    assert again["one"] is again["two"][0]
    assert str(again["two"][1]) == str(content["two"][1])  # type: ignore[index]
    assert again["columns"].flags.f_contiguous
    assert not again["text"].flags.writeable
    assert type(again["number"]) is np.float64
    again["one"][0, 0] = 7
    assert (again["two"][0][0, 0], shared[0, 0]) == (7, 0)


def made(root: Any, classes: list[str], arrays: tuple[Any, ...] = ()) -> bytes:
    head = json.dumps({"classes": classes, "root": root, "arrays": list(arrays)}).encode()
    return zlib.compress(len(head).to_bytes(8, "big") + head)


HOSTILE = {
    "another class": made(["o", 0, []], ["subprocess:Popen"]),
    "a class of the library's that is no part of an agent": made(["o", 0, []], ["proband.service.desk:Desk"]),
    "a function in the place of a class": made(["o", 0, []], ["proband.planners.choice:plan"]),
    "a function of the system": made(["c", "os:system"], []),
    "a call": made(["q", ["c", "os:system"], ["l", ["true"]], ["d", []]], []),
    "a method of the system": made(["y", ["l", []], "append"], []),
    "a named tuple that is none": made(["n", 0, [1]], ["proband.problem:Problem"]),
    "a bundle that is none": made(["b", 0, ["x"]], ["proband.problem:Problem"]),
    "an array of objects": made(["a", 0, True], [], (["|O", [1], "C"],)),
    "an array that is not there": made(["a", 0, True], [], (["<f8", [10**9], "C"],)),
    "an array of no size": made(["a", 0, True], [], (["<f8", [-1], "C"],)),
    "what was not yet made": made(["=", 3], []),
    "an unknown tag": made(["z", 1], []),
    "deep": made(json.loads('["l", [' * 400 + "1" + "]]" * 400), []),
    "no JSON": zlib.compress((2).to_bytes(8, "big") + b"{]"),
    "not packed": b"\x80\x04cos\nsystem\n.",
    "nothing": b"",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_bytes_that_are_no_agent_run_nothing(what: str) -> None:
    basis = Basis(PROBLEMS["bolts"](), Holder(1))
    try:
        found = thaw(HOSTILE[what], basis)
    except FreezeError:
        return
    assert what == "deep", found  # which is a list in a list
