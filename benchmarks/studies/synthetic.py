"""A long log, made in bulk: what one station would have written, advice and all.

Subjects pass one after the other. For a whole commitment of the agent they go through its policy at once; then their
events are written in order, with the policy's position, the advice, costs, coins and chances that a live study records.
"""

import math

import numpy as np

from proband.studies.events import created
from proband.studies.events.arrived import coin
from proband.studies.learning import acting
from proband.studies.ledger.chain import NO_HASH, Event, as_time, seal
from proband.vocabulary import Records

BEGAN = 1_700_000_000.0


class Writer:
    """Chains events and hands them to the store in batches."""

    def __init__(self, store, study, batch=20_000):
        self.store, self.study, self.batch = store, study, batch
        self.number, self.hash, self.pending = 0, NO_HASH, []

    def write(self, kind, subject, data):
        self.number += 1
        time = as_time(BEGAN + self.number)
        event = Event(self.number, kind, subject, data, time, "QA", "line 1", "0.1.0", f"k{self.number}", self.hash)
        entry = seal(event)
        self.hash = entry.hash
        if self.number == 1:
            self.store.create(self.study, entry)
            return
        self.pending.append(entry)
        if len(self.pending) >= self.batch:
            self.flush()

    def flush(self):
        if self.pending:
            self.store.append(self.study, self.pending, self.pending[0].number - 1)
            self.pending = []


def write_log(store, instance, events, *, agent="safe-leaf-completion", seed=0, name="bolts"):
    """Write about `events` events; return the number of subjects."""
    problem, rng = instance.problem, np.random.default_rng(seed)
    data = created.draft(problem, name=name, agent=agent, seed=seed, horizon=None, created=as_time(BEGAN))
    writer, learner, subjects = Writer(store, name), created.make_agent(problem, data), 0
    writer.write("created", None, data)
    position = writer.number
    while writer.number < events:
        policy, n = learner.policy(), min(learner.commitment, 5_000)
        rows = instance.distribution.sample(rng, n)
        coins = np.array([coin(seed, subjects + k + 1) for k in range(n)])
        steps, states, actions, chances = treat(problem, policy, rows, coins)
        for k in range(n):
            subjects += 1
            subject(writer, problem, str(subjects), coins[k], position, steps[k], actions[k], chances[k])
        learner.learn(Records(states, None, chances))
        if learner.policy() is not policy:
            position = writer.number
    writer.flush()
    return subjects


def treat(problem, policy, rows, coins):
    """Take subjects through a policy; return their steps (test, outcome, cost), last states, decisions and chances."""
    states = np.full(rows.shape, np.nan)
    states[:, problem.context] = rows[:, problem.context]
    steps, actions, active = [[] for _ in rows], np.zeros(len(rows), dtype=int), np.arange(len(rows))
    while len(active):
        chosen, costs = policy.act(states[active], coins[active]), problem.costs(states[active])
        actions[active] = chosen
        for k, test, cost in zip(active, chosen, costs, strict=True):
            if test < problem.d:
                steps[k].append((int(test), float(rows[k, test]), float(cost[test])))
                states[k, test] = rows[k, test]
        active = active[chosen < problem.d]
    chances = [
        acting.chance(problem, policy, state, float(u), steady=True) for state, u in zip(states, coins, strict=True)
    ]
    return steps, states, actions, np.array(chances)


def subject(writer, problem, name, tossed, position, steps, action, chance):
    """Write the events of one subject."""
    writer.write("arrived", name, {"known": {}, "coin": float(tossed), "policy": position, "lease": 900.0})
    for test, outcome, cost in steps:
        advised = problem.tests[test].name
        writer.write(
            "observed",
            name,
            {
                "test": advised, "outcome": problem.tests[test].names[int(outcome)], "policy": position,
                "advised": advised, "followed": True, "cost": cost,
            },
        )  # fmt: skip
    decision = problem.action_name(int(action))
    spent = 0.0
    for _, _, cost in steps:
        spent += cost
    writer.write(
        "decided",
        name,
        {
            "decision": decision, "policy": position, "advised": decision, "followed": True, "cost": spent,
            "chance": None if math.isnan(chance) else float(chance),
        },
    )  # fmt: skip
