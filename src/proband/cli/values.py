"""What options and arguments may be, for completion: names of examples, agents, planners, studies and so on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

Given = Mapping[str, str]
"""The options that stand on the line already, by the names of their parameters."""


class Candidate(NamedTuple):
    """A word that may come next, and what it is."""

    word: str
    about: str = ""


def _examples(given: Given) -> Iterator[Candidate]:
    from proband.instances import EXAMPLES

    return (Candidate(name, "an example") for name in EXAMPLES)


def _networks(given: Given) -> Iterator[Candidate]:
    return (Candidate(name, "an example") for name in ("network", "paper-entropy"))


def _agents(given: Given) -> Iterator[Candidate]:
    from proband.agents import AGENTS

    return map(Candidate, AGENTS)


def _planners(given: Given) -> Iterator[Candidate]:
    from proband.planners import PLANNERS

    return map(Candidate, PLANNERS)


def _estimators(given: Given) -> Iterator[Candidate]:
    from proband.estimators import ESTIMATORS

    return map(Candidate, ESTIMATORS)


def _experiments(given: Given) -> Iterator[Candidate]:
    from proband.experiments import EXPERIMENTS

    return (Candidate(name, each.title) for name, each in EXPERIMENTS.items())


def _parts(given: Given) -> Iterator[Candidate]:
    from proband.warming import PARTS

    return map(Candidate, PARTS)


def _roles(given: Given) -> Iterator[Candidate]:
    from proband.service.access.tokens import ROLES

    return map(Candidate, ROLES)


def _shells(given: Given) -> Iterator[Candidate]:
    from proband.cli.completion import SCRIPTS

    return map(Candidate, SCRIPTS)


def _stores(given: Given) -> Iterator[Candidate]:
    from pathlib import Path

    files = sorted(path.name for path in Path().glob("*.db"))
    return map(Candidate, (*(f"sqlite:///{name}" for name in files), "sqlite:///", "postgresql://"))


def _store_of(given: Given) -> str | None:
    """Return the store that the line, the environment or the default names; None if it is a file that is not there."""
    from pathlib import Path

    from proband.cli.study.options import DEFAULT_STORE, STORE_VARIABLE

    url = given.get("store") or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE
    if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
        return None  # to look for something must not make a store
    return url


def _studies(given: Given) -> Iterator[Candidate]:
    from proband.studies import open_store
    from proband.studies.stores.entries import names_of_studies

    url = _store_of(given)
    if url is None:
        return iter(())
    with closing(open_store(url)) as where:
        return iter([Candidate(name, "a study") for name in names_of_studies(where)])


def _subjects(given: Given) -> Iterator[Candidate]:
    """Yield subjects of the study on the line, the latest first: open ones, or for what comes later finished ones."""
    from proband import Study

    url = _store_of(given)
    if url is None:
        return
    with Study.open(given["study"], store=url, replan="never") as study:
        status = LATER.get(given["command"], "open")
        for subject in study.find(status=status, descending=True, limit=MOST_SUBJECTS).subjects:
            yield Candidate(subject.name, f"{subject.status}, at {subject.station}")


def _outcomes(given: Given) -> Iterator[Candidate]:
    """Yield what tests of the study on the line may show."""
    from proband import Study

    url = _store_of(given)
    if url is None:
        return
    with Study.open(given["study"], store=url, replan="never") as study:
        for test in study.problem.tests:
            yield from (Candidate(f"{test.name}={outcome}") for outcome in test.outcomes or [""])


LATER = {"correct": None, "reveal": "finished"}
"""Commands about other subjects than open ones, and about which; None for all."""
MOST_SUBJECTS = 100

VALUES: dict[str, Callable[[Given], Iterator[Candidate]]] = {
    "PROBLEM": _examples,
    "COVARIANCE": _networks,
    "STUDY": _studies,
    "SUBJECT": _subjects,
    "TEST=OUTCOME": _outcomes,
    "SHELL": _shells,
    "example NAME": _examples,
    "experiment NAME": _experiments,
    "study --known": _outcomes,
    "--agent": _agents,
    "--agents": _agents,
    "--estimate": _estimators,
    "--method": _planners,
    "--part": _parts,
    "--role": _roles,
    "--store": _stores,
    "--study": _studies,
}
"""By the name of an option or the word for an argument, after its first command where the word alone does not tell."""
