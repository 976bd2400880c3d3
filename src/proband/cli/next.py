"""``proband next``: what to do now with one subject, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from proband.cli import inputs, plan_measured, printing
from proband.planners import Plan
from proband.planners.files import load_policy
from proband.policies import Node, Tree
from proband.policies.tree import Alternative
from proband.problem import Problem
from proband.vocabulary import FloatArray, Kind

PolicyFileArgument = Annotated[
    Path, typer.Argument(metavar="POLICY", help="A policy file, written by proband plan --out.")
]
KnownOption = Annotated[
    list[str] | None,
    typer.Option("--known", metavar="TEST=OUTCOME", help="What is known of the subject; once for each known test."),
]


def next_command(policy: PolicyFileArgument, known: KnownOption = None, as_json: inputs.JsonOption = False) -> None:
    """Say which test to run next, or what to decide, and why.

    Every possible action is listed with its cost now, its value (the reward
    expected from here on, minus the costs still to be paid), and how much it
    loses to the best.

    [bold]Examples[/bold]
    $ proband next policy.json
    $ proband next policy.json --known "bolt weight=nominal"
    $ proband next measured.json --known hardness=28.5
    """
    saved = load_policy(policy)
    ANSWERS[saved.problem.kind](saved, known or [], as_json=as_json)


def _next_listed(tree: Tree, known: Sequence[str], *, as_json: bool) -> None:
    """Answer for a tree."""
    state = tree.problem.state(inputs.parse_known(known))
    node = tree.node(state)
    if as_json:
        printing.print_json(_content(tree, state, node))
    else:
        _show(tree, state, node)


def _next_measured(best: Plan, known: Sequence[str], *, as_json: bool) -> None:
    """Answer for a plan of measured tests."""
    problem, state = best.problem, best.problem.state(inputs.parse_known(known))
    why = best.explain(state)
    if as_json:
        content = {
            **_action(problem, state, why.action),
            "value": float(best.values(state)[0]),
            "unit": problem.unit,
            "known": problem.describe(state),
            "beliefs": [dataclasses.asdict(belief) for belief in why.beliefs],
            "alternatives": _alternatives(problem, state, why.alternatives),
        }
        printing.print_json(content)
        return
    printing.print_title(_headline(problem, state, why.action))
    given = ", ".join(f"{test}={value:g}" for test, value in problem.describe(state).items())
    value = f"{printing.amount(problem, best.values(state)[0])} expected from here on"
    printing.print_facts([("known", given or "nothing yet"), ("value", value)])
    plan_measured.show_choices(best, state)


ANSWERS: dict[Kind, Callable[..., None]] = {Kind.LISTED: _next_listed}
ANSWERS |= dict.fromkeys((Kind.SCORES, Kind.SETS), _next_measured)
"""What is said for policies of problems of each kind."""


def possible(node: Node, state: FloatArray) -> list[Alternative]:
    """Return the actions that are still possible: all of the node's but tests whose outcome is known anyway."""
    return [other for other in node.alternatives if other.action >= len(state) or np.isnan(state[other.action])]


def _used(tree: Tree, state: FloatArray) -> set[str]:
    """Return the names of the known tests on which the policy's way to this state depends."""
    node, used = tree.root, set()
    while node.children and not np.isnan(state[node.action]):
        used.add(tree.problem.tests[node.action].name)
        node = node.children[int(state[node.action])]
    return used


def _content(tree: Tree, state: FloatArray, node: Node) -> dict[str, Any]:
    known, used = tree.problem.describe(state), _used(tree, state)
    best = _action(tree.problem, state, node.action)
    return {
        **best,
        **({"outcomes": list(tree.problem.tests[node.action].names)} if "test" in best else {}),
        "value": node.value,
        "unit": tree.problem.unit,
        "share_of_subjects": node.probability,
        "known": known,
        "not_used": [name for name in known if name not in used],
        "alternatives": _alternatives(tree.problem, state, possible(node, state)),
    }


def _alternatives(problem: Problem, state: FloatArray, actions: Sequence[Alternative]) -> list[dict[str, Any]]:
    return [{**_action(problem, state, each.action), "value": each.value, "loss": each.loss} for each in actions]


def _action(problem: Problem, state: FloatArray, action: int) -> dict[str, Any]:
    if action < problem.d:
        return {"test": problem.action_name(action), "cost": float(problem.costs(state)[0, action])}
    return {"decision": problem.action_name(action)}


def _show(tree: Tree, state: FloatArray, node: Node) -> None:
    problem = tree.problem
    known, used = problem.describe(state), _used(tree, state)
    printing.print_title(_headline(problem, state, node.action))
    facts = [("known", ", ".join(f"{name}={outcome}" for name, outcome in known.items()) or "nothing yet")]
    idle = [name for name in known if name not in used]
    if idle:
        facts.append(("not used", f"{', '.join(idle)} (the policy does not ask for it on the way here)"))
    facts.append(("value", f"{printing.amount(problem, node.value)} expected from here on"))
    facts.append(("such subjects", printing.percent(node.probability) if node.probability > 0 else "never seen"))
    printing.print_facts(facts)
    actions = possible(node, state)
    if len(actions) > 1:
        printing.say()
        printing.print_choices(problem, state, actions, node.action)


def _headline(problem: Problem, state: FloatArray, action: int) -> str:
    name = problem.action_name(action)
    if action >= problem.d:
        return f"Decide: {name}"
    test, outcomes = problem.tests[action], ""
    if not test.measured:
        outcomes = f" ({' or '.join([', '.join(test.names[:-1])] * (test.k > 1) + [test.names[-1]])})"
        if test.on_arrival:
            return f"Say what is known on arrival: {name}{outcomes}"
    return f"Next test: {name}{outcomes} for {printing.amount(problem, problem.costs(state)[0, action])}"
