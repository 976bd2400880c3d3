"""``proband evaluate``: the exact figures of any policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proband.cli import inputs, printing, validating
from proband.cli.signatures import packed
from proband.distributions import Distribution
from proband.errors import PolicyError
from proband.planners import evaluate
from proband.planners.files import load_policy
from proband.policies import DecideNow, FixedSet, Tree, test_everything
from proband.problem import Problem
from proband.quantities import number
from proband.vocabulary import Policy

BUILT_IN = ("everything", "now")

PolicyArgument = Annotated[
    str,
    typer.Argument(
        metavar="POLICY",
        help="A policy file (JSON), or everything (run every test), now (decide at once), set:A,B (run these).",
    ),
]


@packed("source", inputs.Source)
def evaluate_command(
    problem: inputs.ProblemArgument,
    policy: PolicyArgument,
    source: inputs.Source,
    as_json: inputs.JsonOption = False,
) -> None:
    """Show what to expect of a policy: rewards, costs, tests and decisions.

    The figures are exact for the given law; where tests are measured,
    subjects are drawn and the standard error is told. everything, now and
    set: take the best decision for what is known then.

    [bold]Examples[/bold]
    $ proband evaluate bolts everything
    $ proband evaluate bolts "set:bolt weight,magnetic particle"
    $ proband evaluate bolts.toml policy.json --data new-records.csv
    """
    task, instance = inputs.load_problem(problem)
    law = inputs.load_law(task, instance, source)
    with printing.waiting("evaluating"):
        result = evaluate(task, law.law, policy_named(policy, task, law.law))
    if as_json:
        content = {"problem": task.name, "unit": task.unit, "policy": policy, "law": law.source, "value": result.value}
        content |= validating.content(law, None)
        printing.print_json({**content, **printing.evaluation_content(result)})
        return
    spread = f", standard error {number(result.standard_error, 1)}" if result.standard_error else ""
    printing.print_title(task.name or "Evaluation")
    printing.print_facts(
        [
            ("policy", policy),
            ("law", law.source),
            ("value", f"{printing.amount(task, result.value)} a subject (rewards minus costs){spread}"),
            *([("which is", _in_sample(policy))] if law.records is not None else []),
            ("expected rewards", printing.amount(task, result.reward)),
            *printing.evaluation_facts(task, result),
            *validating.notes(law),
        ]
    )


def _in_sample(policy: str) -> str:
    """Return what a value on the rows of a table is."""
    if policy in BUILT_IN or policy.startswith("set:"):
        return "in-sample: its decisions are the best for these very rows; see what others bring with proband fit"
    return "in-sample, if the policy was made from these rows: new subjects bring less"


def policy_named(name: str, problem: Problem, law: Distribution) -> Policy:
    """Return a built-in policy by its name, or one from a file."""
    if name == "everything":
        return test_everything(problem, law)
    if name == "now":
        return DecideNow(problem, distribution=law)
    if name.startswith("set:"):
        return FixedSet(problem, [test.strip() for test in name[4:].split(",") if test.strip()], law)
    if not Path(name).exists():
        raise PolicyError(
            f"policy {name!r} is no file, and not built in; give a file that proband plan --out wrote, or everything, "
            "now, or set: with names of tests, as in set:bolt weight,ultrasonic"
        )
    saved = load_policy(name)
    _check_same(name, saved.problem, problem)
    return Tree(problem, saved.root) if isinstance(saved, Tree) else saved


def _check_same(name: str, its: Problem, problem: Problem) -> None:
    """Raise unless both problems have the same tests, outcomes and decisions; prices may differ."""
    mine, theirs = ([(test.name, test.outcomes, test.cuts) for test in each.tests] for each in (problem, its))
    if mine != theirs or problem.decisions != its.decisions:
        raise PolicyError(
            f"{name}: it was made for other tests, outcomes or decisions than the problem's; both must be the same, in "
            "the same order; plan again for this problem"
        )
