"""``proband next``: what to do now with one subject, and why."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from proband.cli import inputs, plan_measured, printing
from proband.planners import Plan
from proband.planners.continuing import continue_from, not_asked, refuse_unavailable, room_left
from proband.planners.files import load_policy
from proband.planners.room import Room
from proband.policies import Node, Tree
from proband.policies.nodes import Alternative
from proband.problem import Problem
from proband.quantities import counted, percent
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
    loses to the best. What is known beyond the tests that the policy asks for
    is used, by the law in the file.

    [bold]Examples[/bold]
    $ proband next policy.json
    $ proband next policy.json --known "bolt weight=nominal"
    $ proband next measured.json --known hardness=28.5
    """
    with printing.waiting("reading the policy"):
        saved = load_policy(policy)
    ANSWERS[saved.problem.kind](saved, known or [], as_json=as_json)


@dataclasses.dataclass(frozen=True)
class Answer:
    """What to do now, and why.

    Attributes
    ----------
    action, value, probability
        What to do, what it brings from here on, how many subjects are like this one.
    alternatives : sequence of Alternative
    by_law : list of str
        Known tests that the tree does not ask for: the law was asked.
    waiting : list of str
        Known tests that are not looked at before what is known on arrival was told.
    gap : float
        How much better the best continuation may be, at most; NaN where nobody knows.
    """

    action: int
    value: float
    probability: float
    alternatives: Sequence[Alternative]
    by_law: list[str]
    waiting: list[str]
    gap: float = 0.0


def _next_listed(tree: Tree, known: Sequence[str], *, as_json: bool) -> None:
    """Answer for a tree."""
    state = tree.problem.state(inputs.parse_known(known))
    refuse_unavailable(tree.problem, state)
    answer = _answer(tree, state)
    if as_json:
        printing.print_json(_content(tree.problem, state, answer))
    else:
        _show(tree.problem, state, answer, _left(tree, state))


def _left(tree: Tree, state: FloatArray) -> str:
    """Return what the limits of a tree leave; empty where it has none."""
    left, told = room_left(tree, state), list[str]()
    if left == Room():
        return ""
    if math.isfinite(left.tests):
        told.append(counted(int(left.tests), "test"))
    if math.isfinite(left.money):
        told.append(printing.amount(tree.problem, left.money))
    return f"{' and '.join(told)} (known tests count as run)"


def _answer(tree: Tree, state: FloatArray) -> Answer:
    """Ask the tree, or, of one who knows what it does not ask for, the law that it was made with."""
    node, beyond = tree.node(state), [tree.problem.tests[i].name for i in not_asked(tree, state)]
    reads = node.action < tree.problem.d and tree.problem.tests[node.action].on_arrival
    if not beyond or (reads and (tree.origin is None or tree.origin.law is None)):
        possible, gap = _possible(tree, node, state), 0.0 if _exact(tree) else np.nan
        return Answer(node.action, node.value, node.probability, possible, [], beyond, gap)
    with printing.search_progress() as progress:
        found = continue_from(tree, state, progress=progress)
    why = found.explanation
    return Answer(why.action, found.value, why.probability, why.alternatives, beyond, [], found.gap)


def _exact(tree: Tree) -> bool:
    """Return whether a tree is the best one for all that its file tells: no test may be worth more than is told."""

    def best(node: Node) -> bool:
        noise = printing.ROUNDING * max(1.0, abs(node.value))
        return not any(other.at_most or other.value > node.value + noise for other in node.alternatives)

    return tree.origin is not None and all(map(best, tree.nodes()))


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


def _possible(tree: Tree, node: Node, state: FloatArray) -> list[Alternative]:
    """Return the actions that are possible at a node; older files do not tell which values are lower bounds."""

    def told(other: Alternative) -> Alternative:
        sure = tree.origin is not None or other.action == node.action or other.action >= tree.problem.d
        return other if sure else dataclasses.replace(other, at_most=True)

    others = (each for each in node.alternatives if each.action >= len(state) or np.isnan(state[each.action]))
    return [told(other) for other in others]


def _content(problem: Problem, state: FloatArray, answer: Answer) -> dict[str, Any]:
    best = _action(problem, state, answer.action)
    return {
        **best,
        **({"outcomes": list(problem.tests[answer.action].names)} if "test" in best else {}),
        "value": answer.value,
        "gap": answer.gap,
        "unit": problem.unit,
        "share_of_subjects": answer.probability,
        "known": problem.describe(state),
        "used_by_law": answer.by_law,
        "not_used": answer.waiting,
        "alternatives": _alternatives(problem, state, answer.alternatives),
    }


def _alternatives(problem: Problem, state: FloatArray, actions: Sequence[Alternative]) -> list[dict[str, Any]]:
    return [
        {**_action(problem, state, each.action), "value": each.value, "loss": each.loss, "at_most": each.at_most}
        for each in actions
    ]


def _action(problem: Problem, state: FloatArray, action: int) -> dict[str, Any]:
    if action < problem.d:
        return {"test": problem.action_name(action), "cost": float(problem.costs(state)[0, action])}
    return {"decision": problem.action_name(action)}


def _show(problem: Problem, state: FloatArray, answer: Answer, left: str) -> None:
    known = problem.describe(state)
    printing.print_title(_headline(problem, state, answer.action))
    facts = [("known", ", ".join(f"{name}={outcome}" for name, outcome in known.items()) or "nothing yet")]
    if answer.by_law:
        facts.append(("by the law", f"{', '.join(answer.by_law)} (the tree does not ask for it on the way here)"))
    if answer.waiting:
        facts.append(("not used yet", f"{', '.join(answer.waiting)} (what is known on arrival comes first)"))
    if left:
        facts.append(("limits leave", left))
    facts.append(("value", f"{printing.amount(problem, answer.value)} expected from here on"))
    if answer.gap > 1e-9:
        facts.append(("bound", f"at most {printing.amount(problem, answer.gap)} better than this"))
    unseen = "never seen: this is what is best for those most like this one"
    facts.append(("such subjects", percent(answer.probability) if answer.probability > 0 else unseen))
    printing.print_facts(facts)
    if len(answer.alternatives) > 1:
        printing.say()
        printing.print_choices(problem, state, answer.alternatives, answer.action)


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
