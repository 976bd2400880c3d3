"""``proband plan``: the best policy for a problem and a law."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from proband.cli import inputs, plan_measured, printing, validating
from proband.cli import plan_options as options
from proband.cli.signatures import packed
from proband.distributions import Distribution
from proband.errors import PlanError, UnknownNameError
from proband.planners import Evaluation, Plan, evaluate, plan
from proband.planners.files import save_policy
from proband.planners.progress import Report
from proband.planners.validation import Validation
from proband.policies import Tree
from proband.policies.rendering import FORMATS
from proband.vocabulary import Kind, Policy

SHOWN_NODES = 60
"""A tree with more nodes is shown only when asked for."""
TEXT_ENDINGS = {".txt": "text", ".mmd": "mermaid", ".dot": "dot"}
PICTURE_ENDINGS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Answer:
    """What the command found and wrote; `cut` is there if the tree was cut, `seen` if there were folds."""

    plan: Plan
    law: inputs.Law
    seen: Validation | None
    tree: Tree | None
    cut: Evaluation | None
    rendered: str | None
    written: list[str]


@dataclass(frozen=True)
class Wanted:
    """What the flags ask to be shown and written."""

    tree: str | None
    depth: int | None
    out: Path | None
    plot: Path | None
    as_json: bool


@packed("source", inputs.Source)
def plan_command(
    problem: inputs.ProblemArgument,
    source: inputs.Source,
    tree: options.TreeOption = None,
    depth: options.DepthOption = None,
    out: options.OutOption = None,
    method: options.MethodOption = None,
    device: options.DeviceOption = None,
    max_tests: options.MaxTestsOption = None,
    budget: options.BudgetOption = None,
    node_penalty: options.NodePenaltyOption = 0.0,
    time_limit: options.TimeLimitOption = None,
    tolerance: options.ToleranceOption = None,
    plot: options.PlotOption = None,
    folds: options.FoldsOption = None,
    as_json: inputs.JsonOption = False,
) -> None:
    """Find the best policy, and show what to expect of it.

    An example may be planned with its own law; a problem file needs --data
    or --distribution.

    [bold]Examples[/bold]
    $ proband plan bolts
    $ proband plan bolts.toml --data bolts-records.csv --out policy.json
    $ proband plan bolts.toml --data bolts-records.csv --folds 5
    $ proband plan gout --tree gout.svg
    $ proband plan bolts --tree mermaid > tree.mmd
    $ proband plan bolts --max-tests 2
    $ proband plan bolts-measured --plot regions.png
    """
    check_tree(tree)
    task, instance = inputs.load_problem(problem)
    law = inputs.load_law(task, instance, source)
    if folds is not None and law.records is None:
        raise typer.BadParameter("--folds is about the rows of --data; give --data too")
    if folds is not None and tree in FORMATS and tree != "text" and not as_json:
        raise typer.BadParameter(f"--tree {tree} prints the tree alone; write it to a file, or leave --folds out")

    def made(given: Distribution, progress: Report | None = None) -> Plan:
        return plan(
            task, given, method=method, device=device, max_tests=max_tests, budget=budget, time_limit=time_limit,
            tolerance=tolerance, progress=progress, node_penalty=node_penalty,
        )  # fmt: skip

    def cut(given: Distribution) -> Policy:
        return made(given) if depth is None else made(given).tree(depth=depth)

    with printing.search_progress() as progress:
        best = made(law.law, progress)
    seen = None
    if folds is not None:
        seen = validating.validate(task, law, cut, folds, max_tests=max_tests, budget=budget)
    ANSWERS[task.kind](best, law, seen, Wanted(tree, depth, out, plot, as_json))


def _answer_listed(best: Plan, law: inputs.Law, seen: Validation | None, wanted: Wanted) -> None:
    if wanted.plot is not None:
        raise PlanError("--plot draws plans of measured tests; these list outcomes; use --tree plan.svg")
    asked = wanted.tree is not None or wanted.out is not None or wanted.depth is not None
    with printing.waiting("making the tree"):
        compiled = best.tree(depth=wanted.depth) if asked else small_tree(best, SHOWN_NODES)
        if compiled is not None and law.records is not None:
            from proband.fitting.leaves import with_counts

            compiled = with_counts(compiled, law.records)
        cut = None if wanted.depth is None or compiled is None else evaluate(best.problem, best.distribution, compiled)
    with printing.waiting("writing the tree"):
        rendered = FORMATS[wanted.tree](compiled) if compiled is not None and wanted.tree in FORMATS else None
        written = write(compiled, wanted.tree, wanted.out)
    answer = Answer(plan=best, law=law, seen=seen, tree=compiled, cut=cut, rendered=rendered, written=written)
    if wanted.as_json:
        printing.print_json(_content(answer))
    elif answer.rendered is not None and wanted.tree != "text":
        printing.say(answer.rendered)
    else:
        _show(answer, show_tree=wanted.tree in (None, "text"))


def _answer_measured(best: Plan, law: inputs.Law, seen: Validation | None, wanted: Wanted) -> None:
    if wanted.tree is not None or wanted.depth is not None:
        raise PlanError(
            "the tests are measured, so the plan is no tree of outcomes; look at its regions with --plot regions.png"
        )
    written = plan_measured.write(best, wanted.out, wanted.plot)
    if wanted.as_json:
        printing.print_json(plan_measured.content(best, law.source, written) | validating.content(law, seen))
    else:
        plan_measured.show(best, law, seen, written)


ANSWERS = {Kind.LISTED: _answer_listed, Kind.SCORES: _answer_measured, Kind.SETS: _answer_measured}
"""What is shown and written for problems of each kind."""


def small_tree(best: Plan, most: int) -> Tree | None:
    """Return the plan's tree unless it has more than `most` nodes; these are counted without explaining them."""
    states, nodes = best.problem.state()[None], 0
    while len(states):
        nodes += len(states)
        if nodes > most:
            return None
        actions = best.act(states)
        pairs = [(row, int(a)) for row, a in zip(states, actions, strict=True) if a < best.problem.d]
        after = [np.where(np.arange(best.problem.d) == a, b, row) for row, a in pairs for b in range(best.problem.k[a])]
        states = np.array(after).reshape(-1, best.problem.d)
    return best.tree()


def check_tree(tree: str | None) -> None:
    """Raise unless --tree says something that can be done."""
    if tree is None or tree in FORMATS or Path(tree).suffix.lower() in (*TEXT_ENDINGS, *PICTURE_ENDINGS):
        return
    raise UnknownNameError(
        f"--tree is {tree!r}; it must be {', '.join(FORMATS)}, or a file ending in "
        f"{', '.join((*PICTURE_ENDINGS, *TEXT_ENDINGS))}; choose one"
    )


def write(compiled: Tree | None, tree: str | None, out: Path | None) -> list[str]:
    """Write the files that were asked for; return their paths."""
    written = []
    if compiled is not None and tree is not None and tree not in FORMATS:
        _write_tree(compiled, Path(tree))
        written.append(tree)
    if compiled is not None and out is not None:
        save_policy(compiled, out)
        written.append(str(out))
    return written


def _write_tree(compiled: Tree, path: Path) -> None:
    """Write a tree in the format of the file's ending."""
    ending = path.suffix.lower()
    if ending in TEXT_ENDINGS:
        path.write_text(FORMATS[TEXT_ENDINGS[ending]](compiled) + "\n", encoding="utf-8")
        return
    from proband.figures import save_tree

    save_tree(compiled, path)


def _content(answer: Answer) -> dict[str, Any]:
    best = answer.plan
    content = {
        "problem": best.problem.name,
        "unit": best.problem.unit,
        "law": answer.law.source,
        "value": best.value,
        **validating.content(answer.law, answer.seen),
        "bound": best.bound,
        "gap": best.gap,
        **printing.evaluation_content(best.evaluation),
        "method": best.method,
        "why_this_method": best.explain_choice,
        "tree_nodes": None if answer.tree is None else sum(1 for _ in answer.tree.nodes()),
        "written": answer.written,
    }
    if answer.cut is not None:
        content["cut"] = {"value": answer.cut.value, **printing.evaluation_content(answer.cut)}
    if answer.rendered is not None:
        content["tree"] = answer.rendered
    return content


def _show(answer: Answer, *, show_tree: bool) -> None:
    best, task, tree = answer.plan, answer.plan.problem, answer.tree
    printing.print_title(task.name or "Plan")
    in_sample = answer.law.records is not None
    facts = [("law", answer.law.source), ("value", printing.value_of_plan(task, best.value, in_sample=in_sample))]
    facts += validating.facts(task, answer.seen, cut=answer.cut is not None)
    if best.gap > 1e-9:
        facts.append(
            (
                "bound",
                f"{printing.amount(task, best.bound)}: at most {printing.amount(task, best.gap)} better than this plan",
            )
        )
    facts += printing.evaluation_facts(task, best.evaluation)
    facts.append(("method", f"{best.method}, {best.explain_choice}"))
    if answer.cut is not None:
        cut = f"value {printing.amount(task, answer.cut.value)} a subject" + ", in-sample" * in_sample
        facts.append(("cut tree", cut))
    facts += validating.notes(answer.law)
    facts += [("written", path) for path in answer.written]
    printing.print_facts(facts)
    validating.hint(task, answer.law, answer.seen)
    if show_tree and tree is not None and (answer.rendered or sum(1 for _ in tree.nodes()) <= SHOWN_NODES):
        printing.say("\n" + (answer.rendered or FORMATS["text"](tree)))
    elif show_tree:
        hint = "see it with --tree text, or cut it with --depth 3."
        printing.say(f"\nThe tree has more than {SHOWN_NODES} nodes: {hint}")
