"""The second demonstration: a line with 30 tests, learned by the default agent from the boards themselves.

With 30 tests no table of states can be made and hardly a board is seen twice. The agent is told nothing but prices and
rewards. What it does is compared with testing everything, with deciding at once, and with the best plan that could be
grown on the true law; all these figures are exact. Here all is computed and nothing is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from proband.agents import DEFAULT_AGENT, Agent, Setting, build_agent
from proband.demo.report import Cells, as_markdown, paragraph
from proband.distributions import Discrete
from proband.instances import Instance, circuit_boards
from proband.planners import Evaluation, evaluate, plan
from proband.policies import Completing, DecideNow, Tree, follow, test_everything
from proband.policies.rendering import text
from proband.simulation import Trajectory, draw_stream, simulate
from proband.vocabulary import IntArray, Policy

BOARDS = 5_000
STRETCHES = 5
REPORT = "many.md"
SHOWN = 8
"""So many tests, the most frequent ones, are named in the table of tests."""


@dataclass(frozen=True)
class ManyDemonstration:
    """All that the second demonstration found.

    Attributes
    ----------
    instance : Instance
    seed, subjects : int
    run : Trajectory
        Cumulative figures of the agent, after each fifth of the stream.
    plan : Policy
        What the agent plays now where no coin falls: its plan.
    figures : dict of str to Evaluation
        What a board costs and brings under the agent's plan, under its policy with all that it does to learn, and
        under what it is compared with.
    estimate : object or None
        The agent's own honest estimate of its plan's value with an interval, where it offers one.
    """

    instance: Instance[Discrete]
    seed: int
    subjects: int
    run: Trajectory
    plan: Policy
    figures: dict[str, Evaluation]
    estimate: Any

    @property
    def tree(self) -> Tree | None:
        """The plan as a tree, where it is one."""
        found = getattr(self.plan, "compact", self.plan)
        return found if isinstance(found, Tree) else None

    def shares(self) -> list[tuple[str, float]]:
        """Return how often each test is run by the plan, exactly, the most frequent ones first."""
        law, problem = self.instance.distribution, self.instance.problem
        runs = law.probabilities @ ~np.isnan(follow(problem, self.plan, law.support).states)
        return [(problem.tests[i].name, float(runs[i])) for i in np.argsort(-runs, kind="stable") if runs[i] > 0]


def learn_many(
    *,
    seed: int = 0,
    subjects: int = BOARDS,
    tell: Callable[[int], None] = lambda done: None,
    build: Callable[[Setting], Agent] = lambda setting: build_agent(DEFAULT_AGENT, setting),
) -> ManyDemonstration:
    """Let an agent inspect a simulated stream of circuit boards.

    Parameters
    ----------
    seed : int, default 0
        Of the stream, of the agent, and of its coins.
    subjects : int, default 5,000
        Length of the stream.
    tell : callable
        Is told how many boards were inspected so far.
    build : callable
        Builds the agent from a setting; the library's default one by default.
    """
    instance = circuit_boards()
    problem, law = instance.problem, instance.distribution
    agent = build(Setting(problem, seed=seed))
    best = plan(problem, law, method="rollout")
    stream = draw_stream(problem, law, np.random.default_rng(seed), subjects)
    coins, at = np.random.default_rng([seed, 1]), stretches(subjects)
    run = simulate(problem, law, agent, stream, rng=coins, at=at, best=best, tell=tell)
    policy = agent.policy()
    learned = policy.base if isinstance(policy, Completing) else policy
    figures = {
        "what it has learned": evaluate(problem, law, learned),
        "with all that it does to learn more": evaluate(problem, law, policy),
        "test everything": evaluate(problem, law, test_everything(problem)),
        "decide at once": evaluate(problem, law, DecideNow(problem, distribution=law)),
        "best plan, grown on the true law": evaluate(problem, law, best),
    }
    estimate = getattr(agent, "value_estimate", lambda: None)()
    return ManyDemonstration(instance, seed, subjects, run, learned, figures, estimate)


def stretches(subjects: int) -> IntArray:
    """Return after how many boards figures are recorded.

    Examples
    --------
    >>> stretches(5000)
    array([1000, 2000, 3000, 4000, 5000])
    """
    return np.unique(np.linspace(0, subjects, STRETCHES + 1).astype(np.int64)[1:])


def learning_table(found: ManyDemonstration) -> Cells:
    """Return what a board cost and lost, on average, in each stretch of the stream."""
    run = found.run
    edges = np.concatenate([[0], run.t])
    n = np.diff(edges)
    columns = [np.diff(figure, prepend=0.0) / n for figure in (run.tests, run.cost, run.pseudo_regret)]
    rows = [
        (f"{first + 1:,} to {last:,}", f"{tests:.1f}", f"{cost:.3f}", f"{lost:.3f}")
        for first, last, tests, cost, lost in zip(edges[:-1], edges[1:], *columns, strict=True)
    ]
    return Cells(("boards", "tests", "their price", "lost to the best plan"), rows)


def figure_table(found: ManyDemonstration) -> Cells:
    """Return what a board costs and brings from now on."""
    rows = [
        (name, f"{each.tests:.1f}", f"{each.cost:.3f}", f"{each.reward:.3f}", f"{each.value:.3f}")
        for name, each in found.figures.items()
    ]
    return Cells(("from now on", "tests", "their price", "brings", "brings, less the price"), rows)


def verdict(found: ManyDemonstration) -> str:
    """Return what was learned, in a sentence."""
    names = ("what it has learned", "decide at once", "test everything", "best plan, grown on the true law")
    own, at_once, everything, best = (found.figures[name].value for name in names)
    unit = found.instance.problem.unit
    return (
        f"After {found.subjects:,} boards the agent's plan brings {own:.3f} {unit} a board. Deciding at once brings "
        f"{at_once:.3f}, testing everything {everything:.3f}, and the best plan that could be grown on the true law, "
        f"which the agent never saw, {best:.3f}."
    )


def honesty(found: ManyDemonstration) -> str:
    """Return the agent's own estimate of its plan's value, in a sentence; nothing where it offers none."""
    estimate = found.estimate
    if estimate is None:
        return ""
    return (
        f"The agent itself, which knows no law, says from {estimate.subjects:,} audited boards: "
        f"{estimate.value:.3f}, and with 90 % confidence between {estimate.low:.3f} and {estimate.high:.3f} "
        f"{found.instance.problem.unit} a board."
    )


def tree_lines(found: ManyDemonstration, *, least: float = 0.01) -> list[str]:
    """Return the plan's tree in lines, less the ways that fewer than a share of the boards go."""
    if found.tree is None:
        return []
    lines = text(found.tree).splitlines()  # one a node, in the order of tree.nodes()
    return [line for line, node in zip(lines, found.tree.nodes(), strict=True) if node.probability >= least]


def frequency_table(found: ManyDemonstration) -> Cells:
    """Return which tests the plan runs, and how often."""
    return Cells(("test", "of the boards"), [(name, f"{100 * share:.0f} %") for name, share in found.shares()[:SHOWN]])


def report_many(found: ManyDemonstration) -> str:
    """Return the report."""
    parts: Sequence[str] = [
        "# Circuit boards: a line with 30 tests, learned online",
        paragraph(verdict(found), honesty(found)),
        paragraph(
            f"A simulated stream of {found.subjects:,} boards from one seed ({found.seed}): an illustration, not a "
            "measurement. Prices, rewards and the boards' law are invented. Figures are exact under that law, but for "
            "the agent's own estimate; no better plan than the grown one is known, and there may be one."
        ),
        "## While it learned",
        as_markdown(learning_table(found), words=1),
        "## From now on",
        as_markdown(figure_table(found), words=1),
        "## What it tests now",
        as_markdown(frequency_table(found), words=1),
        "```\n" + "\n".join(tree_lines(found)) + "\n```",
        "Ways that fewer than 1 % of the boards go are left out.",
    ]
    return "\n\n".join(parts) + "\n"


def write_many(found: ManyDemonstration, folder: Path) -> Path:
    """Write the report into a folder; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / REPORT
    path.write_text(report_many(found), encoding="utf-8")
    return path
