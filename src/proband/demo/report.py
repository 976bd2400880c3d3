"""The demonstration as files: a figure, and a report in Markdown that shows it."""

from __future__ import annotations

from pathlib import Path

from proband.demo.stream import Demonstration, curves
from proband.figures import draw_demo, save_figure
from proband.policies.rendering import text

FIGURE = "demo.png"
REPORT = "report.md"


def write(demonstration: Demonstration, folder: Path) -> tuple[Path, Path]:
    """Write the figure and the report into a folder, which is made if missing; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    save_figure(draw_demo(curves(demonstration)), folder / FIGURE)
    (folder / REPORT).write_text(report(demonstration), encoding="utf-8")
    return folder / FIGURE, folder / REPORT


def report(demonstration: Demonstration) -> str:
    """Return the report.

    Examples
    --------
    >>> from proband.demo import inspect_stream
    >>> report(inspect_stream(subjects=300, sizes=(50, 100))).splitlines()[0]
    '# Bolt inspection: what was learned'
    """
    sections = (_summary, _lessons, _tests, _tree)
    return "\n\n".join(["# Bolt inspection: what was learned", *(part(demonstration) for part in sections)]) + "\n"


def _summary(demonstration: Demonstration) -> str:
    unit = demonstration.instance.problem.unit
    before, after = demonstration.paid()
    earned_before, earned_after = demonstration.earned()
    subjects, switch = len(demonstration.stream), demonstration.switch
    learned, everything, best = (
        demonstration.learned.truth.value,
        demonstration.everything.value,
        demonstration.clairvoyant.value,
    )
    return f"""A simulated stream of {subjects:,} bolts. The first {switch:,} went through every test; a plan was made
from their records and followed on the other {subjects - switch:,}. Prices, rewards and the bolts' law are illustrative.

| a bolt, on average | before learning | after learning | knowing the true law |
|---|---:|---:|---:|
| testing costs ({unit}) | {before:.2f} | {after:.2f} | {demonstration.clairvoyant.expected_cost:.2f} |
| rewards minus costs ({unit}) | {earned_before:.2f} | {earned_after:.2f} | {best:.2f} |

The first two columns are what happened in the stream; the last one is exact. Under the true law the learned plan is
worth {learned:.3f} {unit} a bolt, which is {100 * demonstration.achieved:.1f} % of the way from testing everything
({everything:.3f}) to the clairvoyant ({best:.3f}).

![What was learned]({FIGURE})"""


def _lessons(demonstration: Demonstration) -> str:
    unit = demonstration.instance.problem.unit
    best = demonstration.clairvoyant.value
    lines = [
        "## More records, better plans",
        "",
        f"| records | promises ({unit}) | is worth ({unit}) | loses to the best ({unit}) | testing costs ({unit}) |",
        "|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {lesson.records} | {lesson.plan.value:.3f} | {lesson.truth.value:.3f} | {best - lesson.truth.value:.3f} "
        f"| {lesson.truth.cost:.2f} |"
        for lesson in demonstration.lessons
    ]
    lines += [
        "",
        "A plan promises what it would earn if the records were the whole truth; with few of them it promises",
    ]
    return "\n".join([*lines, "too much."])


def _tests(demonstration: Demonstration) -> str:
    lines = ["## Which tests are run", "", "| test | learned plan | knowing the true law |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {100 * learned:.1f} % | {100 * best:.1f} % |"
        for name, (learned, best) in demonstration.test_shares().items()
    ]
    return "\n".join(lines)


def _tree(demonstration: Demonstration) -> str:
    return "\n".join(["## The learned plan", "", "```", text(demonstration.learned.plan.tree()), "```"])
