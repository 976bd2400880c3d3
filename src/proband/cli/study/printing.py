"""What the commands of studies print: a study at a glance, advice with its alternatives, a subject."""

from __future__ import annotations

from typing import Any

from proband.cli import printing
from proband.quantities import amount, number, percent, plain
from proband.studies import Advice, Subject, Summary
from proband.studies.summary import Exploration


def summary_facts(summary: Summary, *, hint: str | None = None) -> list[tuple[str, str]]:
    """Return a study at a glance, for people."""
    how = "" if hint is None else f": proband study take {hint}"
    facts = [
        ("agent", summary.agent),
        ("subjects", f"{summary.finished:,} finished, {summary.open:,} open, {summary.voided:,} voided"),
    ]
    if summary.waiting:
        facts.append(("waiting", f"{summary.waiting:,} open subjects were left by their station{how}"))
    if summary.imported:
        facts.append(("past records", f"{summary.imported:,}"))
    facts += _paid(summary)
    if summary.tests_against_advice or summary.decisions_against_advice:
        against = f"tests {summary.tests_against_advice:,} · decisions {summary.decisions_against_advice:,}"
        facts.append(("against advice", against))
    if summary.exploration is not None:
        facts.append(("learning", _learning(summary.exploration)))
    facts += _stated(summary)
    facts += [
        ("clock", f"station {w.station!r} was {w.seconds:.0f} s behind at event {w.number}") for w in summary.clock[-3:]
    ]
    if summary.restarted is not None:
        facts.append(("restarted", f"learning started afresh at event {summary.restarted:,}"))
    if summary.trouble is not None:
        facts.append(("trouble", summary.trouble))
    return [*facts, ("log", f"{summary.events:,} events, last hash {summary.hash}")]


def _paid(summary: Summary) -> list[tuple[str, str]]:
    """Return what finished subjects cost, and what became of them."""
    if summary.mean_cost is None or summary.mean_tests is None:
        return []
    saved = f"{summary.tests_saved:,} tests, {amount(summary.cost_saved, summary.unit)}"
    return [
        ("cost", f"{amount(summary.mean_cost, summary.unit)} and {number(summary.mean_tests, 3)} tests a subject"),
        ("saved", f"{saved}, against testing everything"),
        ("decisions", " · ".join(f"{name} {count:,}" for name, count in summary.decisions.items())),
    ]


def _stated(summary: Summary) -> list[tuple[str, str]]:
    """Return what the agent states."""
    if summary.statement is None:
        return []
    certificate, worth = summary.statement.certificate, summary.statement.worth
    return [
        *([] if certificate is None else [("certificate", str(certificate))]),
        *(("notice", notice) for notice in summary.statement.notices),
        *([] if worth is None else [("worth", worth.text(f" {summary.unit}".rstrip()))]),
    ]


def _learning(explored: Exploration) -> str:
    left = "for good" if explored.commitment is None else f"for {explored.commitment:,} more subjects"
    share = "" if explored.completing is None else f"; {percent(explored.completing)} are tested completely to learn"
    return f"the present policy stays {left}{share}"


def print_advice(advice: Advice) -> None:
    """Print what to do, why, and the alternatives."""
    price = f" for {amount(advice.cost, advice.unit)}" if advice.kind == "test" else ""
    verb = "Next test" if advice.kind == "test" else "Decide"
    printing.print_title(f"{advice.subject}: {verb}: {advice.action}{price}")
    printing.print_facts([("why", advice.reason), ("spent", f"{amount(advice.spent, advice.unit)} so far")])
    if len(advice.alternatives) > 1:
        printing.say()
        rows = [
            [
                f"{'test' if a.kind == 'test' else 'decide'}: {a.name}",
                plain(a.value, advice.unit),
                plain(a.loss, advice.unit) if a.loss > 0 else "best",
            ]
            for a in advice.alternatives
        ]
        chosen = next(
            (n for n, a in enumerate(advice.alternatives) if (a.name, a.kind) == (advice.action, advice.kind)), None
        )
        printing.print_table(["possible action", "value", "loses"], rows, best=chosen)


def print_answer(subject: Subject, advice: Advice | None, *, as_json: bool) -> None:
    """Print a subject, or what to do with it next."""
    if as_json:
        content: dict[str, Any] = {"subject": subject.to_dict()}
        printing.print_json(content if advice is None else {**content, "advice": advice.to_dict()})
    elif advice is None:
        known = ", ".join(f"{test}={outcome}" for test, outcome in subject.known.items()) or "nothing"
        printing.print_facts(
            [("subject", f"{subject.name} ({subject.status})"), ("known", known), ("spent", spent_on(subject))]
        )
    else:
        print_advice(advice)


def spent_on(subject: Subject) -> str:
    """Return what the tests of a subject cost so far, for people."""
    return amount(subject.spent, subject.unit)
