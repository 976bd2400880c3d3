"""What ``proband plan`` shows and writes where tests are measured: a Gaussian plan, or the best set of sites."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proband.cli import printing, validating
from proband.cli.inputs import Law
from proband.distributions import Gaussian
from proband.planners import Plan
from proband.planners.files import save_policy
from proband.planners.validation import Validation
from proband.quantities import number, percent
from proband.vocabulary import Kind

if TYPE_CHECKING:
    from proband.planners.gaussian.plan import Belief, Branch


def write(best: Plan, out: Path | None, plot: Path | None) -> list[str]:
    """Write the files that were asked for; return their paths."""
    written = []
    if out is not None:
        with printing.waiting("writing the policy"):
            save_policy(best, out)
        written.append(str(out))
    if plot is not None:
        from proband.figures import draw_plan, save_figure

        with printing.waiting("drawing"):
            save_figure(draw_plan(best), plot)
        written.append(str(plot))
    return written


def content(best: Plan, source: str, written: list[str]) -> dict[str, Any]:
    """Return all figures, for programs."""
    return {
        "problem": best.problem.name,
        "unit": best.problem.unit,
        "law": source,
        "value": best.value,
        "bound": best.bound,
        "gap": best.gap,
        "error": best.error,
        **printing.evaluation_content(best.evaluation),
        "standard_error": best.evaluation.standard_error,
        "method": best.method,
        "why_this_method": best.explain_choice,
        "redundant": [best.problem.tests[i].name for i in redundant(best)],
        "written": written,
        **OWN_CONTENT[best.problem.kind](best),
    }


def _score_content(best: Plan) -> dict[str, Any]:
    first = best.explain(best.problem.state())
    return {
        "first": best.problem.action_name(first.action),
        "alternatives": [
            {"action": best.problem.action_name(a.action), "value": a.value, "loss": a.loss} for a in first.alternatives
        ],
    }


def _set_content(best: Any) -> dict[str, Any]:
    return {"chosen": [best.problem.tests[i].name for i in best.chosen]}


def show(best: Plan, law: Law, seen: Validation | None, written: list[str]) -> None:
    """Print what to expect of the plan, and what it does first."""
    task = best.problem
    printing.print_title(task.name or "Plan")
    value = printing.value_of_plan(task, best.value, in_sample=law.records is not None)
    facts = [("law", law.source), ("value", value), *validating.facts(task, seen)]
    if best.error:
        facts.append(("numerical error", f"about {number(best.error, 1)} (an estimate)"))
    facts += OWN_FACTS[task.kind](best)
    names = [task.tests[i].name for i in redundant(best)]
    if names:
        facts.append(("redundant", f"{', '.join(names)}: linear functions of the tests before them"))
    facts.append(("method", f"{best.method}, {best.explain_choice}"))
    facts += validating.notes(law)
    facts += [("written", path) for path in written]
    printing.print_facts(facts)
    validating.hint(task, law, seen)
    if task.kind is Kind.SCORES:
        show_choices(best, task.state())


def _score_facts(best: Plan) -> list[tuple[str, str]]:
    with printing.waiting("simulating subjects"):
        found = best.evaluation
    spread = f"costs, tests and decisions: standard error {number(found.standard_error, 1)}"
    return [*printing.evaluation_facts(best.problem, found), ("simulated", spread)]


def _set_facts(best: Any) -> list[tuple[str, str]]:
    task, evaluation = best.problem, best.evaluation
    names = ", ".join(task.tests[i].name for i in best.chosen) or "nothing"
    facts = [
        ("measure", f"{len(best.chosen)} of {task.d}: {names}"),
        ("entropy", f"worth {printing.amount(task, evaluation.reward)} a round"),
        ("costs", f"{printing.amount(task, evaluation.cost)} a round"),
    ]
    proved = "proved best" if best.gap <= 1e-6 else f"at most {printing.amount(task, best.gap)} below the best"
    return [*facts, ("proof", proved)]


OWN_CONTENT = {Kind.SCORES: _score_content, Kind.SETS: _set_content}
OWN_FACTS = {Kind.SCORES: _score_facts, Kind.SETS: _set_facts}
"""What is told of plans of one kind alone, to programs and to people."""


def show_choices(best: Plan, state: Any) -> None:
    """Print the belief about the scores in a state, and every possible action there."""
    task, why = best.problem, best.explain(state)
    printing.say()
    if why.beliefs:
        printing.print_facts((belief.score, _spoken(belief)) for belief in why.beliefs)
        printing.say()
    printing.print_choices(task, state, why.alternatives, why.action)


def _spoken(belief: Belief) -> str:
    unit = f" {belief.unit}" if belief.unit else ""
    branches = "; ".join(f"{_stretch(branch, unit)} {percent(branch.probability)}" for branch in belief.branches)
    return f"{number(belief.mean, 5)} ± {number(belief.sd, 3)}{unit}: {branches}"


def _stretch(branch: Branch, unit: str) -> str:
    if math.isinf(branch.low) and math.isinf(branch.high):
        return "anywhere"
    low, high = number(branch.low, 6), number(branch.high, 6)
    if math.isinf(branch.low):
        return f"below {high}{unit}"
    return f"{low}{unit} or more" if math.isinf(branch.high) else f"{low} to {high}{unit}"


def redundant(best: Plan) -> tuple[int, ...]:
    """Return the tests that others tell exactly."""
    return best.distribution.redundant if isinstance(best.distribution, Gaussian) else ()
