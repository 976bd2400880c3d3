"""A live study: an agent at work on real subjects, at any number of stations, over an append-only log.

The log is the study. Its state, the agent included, is the fold of the events: replaying them gives the same advice,
bit for bit, and a correction is an event, never an update.
"""

from __future__ import annotations

import getpass
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import proband
from proband.errors import StudyError
from proband.problem import Problem
from proband.studies import amendments, operations, queries, searching
from proband.studies.events import checks, created
from proband.studies.learning.orders import Planner
from proband.studies.learning.replanning import Replanner, mode_of
from proband.studies.learning.sharing import shared_plans
from proband.studies.ledger.chain import Event, as_time, moment, seal
from proband.studies.log.fold import begun
from proband.studies.log.journal import Journal
from proband.studies.operations import Station
from proband.studies.stores.contract import Store
from proband.studies.stores.pool import OrElse
from proband.studies.stores.registry import Hidden, open_store
from proband.texts import escaped

if TYPE_CHECKING:
    from proband.agents import Agent

DEFAULT_STORE = "sqlite:///proband.db"
DEFAULT_LEASE = 900.0


class Study(Station):
    """A live study; made by :meth:`create`, or opened by :meth:`open`.

    Many subjects may be open at once, at any number of stations (processes, threads, machines) on one store. An
    operator may run another test than the advised one, or decide otherwise; both are recorded as such. Every write
    takes an idempotency key: the same request under the same key is recorded once, and answered alike.

    Attributes
    ----------
    name : str
    problem : Problem
    store : Store

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Table
    >>> problem = Problem(
    ...     tests=[Test("visual", 0.1, outcomes=("clean", "rusty")), Test("ultrasonic", 0.6, outcomes=("ok", "crack"))],
    ...     decisions=["pass", "fail"],
    ...     reward=Table(["ultrasonic"], [[1.0, 0.0], [-4.0, 0.0]]),
    ...     name="bolts",
    ... )
    >>> with Study.create(problem, store="memory:", station="line 1", actor="QA") as study:
    ...     bolt = study.arrive()
    ...     print(study.ask(bolt).action)
    ...     _ = study.tell(bolt, "visual", "clean")
    ...     _ = study.tell(bolt, "ultrasonic", "ok")
    ...     print(study.decide(bolt))
    visual
    pass
    """

    # What operators do
    arrive = operations.arrive
    ask = operations.ask
    tell = operations.tell
    decide = operations.decide
    take = operations.take

    # What is done away from the line
    correct = amendments.correct
    void = amendments.void
    reveal = amendments.reveal
    learn_from = amendments.learn_from
    restart = amendments.restart

    # What it can tell
    policy = queries.policy
    tree = queries.tree
    same_tests = queries.same_tests
    what_if = queries.what_if
    subject = queries.subject
    subjects = queries.subjects
    find = searching.find
    trail = searching.trail
    summary = queries.summary
    drift = queries.look_for_drift
    records = queries.records
    table = queries.table
    write_table = queries.write_table
    observations = queries.observations
    events = queries.events
    verify = queries.verify
    replay = queries.replay
    export = queries.export

    def __init__(self, journal: Journal, replanner: Replanner, *, lease: float, owned: Store | None) -> None:
        super().__init__(journal, replanner, lease=lease)
        self._owned = owned
        self.name = journal.study
        self.problem = journal.ledger.problem
        self.store = journal.store

    @classmethod
    def create(
        cls,
        problem: Problem,
        *,
        name: str | None = None,
        agent: str | None = None,
        store: Store | str = DEFAULT_STORE,
        seed: int = 0,
        horizon: int | None = None,
        condition_number: float | None = None,
        max_tests: int | None = None,
        budget: float | None = None,
        actor: str | None = None,
        station: str | None = None,
        lease: float = DEFAULT_LEASE,
        replan: str = "background",
        clock: Callable[[], float] | None = None,
    ) -> Self:
        """Begin a study.

        Parameters
        ----------
        problem : Problem
            Its reward must be one that a problem file can hold.
        name : str, optional
            By default the problem's.
        agent : str, optional
            A key of :data:`proband.agents.AGENTS` that needs no true law; by default the one for this kind of problem.
        store : Store or str
            Or its URL, see :func:`proband.studies.stores.open_store`.
        seed : int
            Of coins and of the agent's own randomness.
        horizon : int, optional
            The number of subjects, for agents that need to know.
        condition_number : float, optional
            Of the covariance of measured outcomes, for agents that need to know.
        max_tests, budget : optional
            Most tests to run on a subject who is decided as planned, and most to pay for them, for agents that keep to
            such limits; subjects from whom is learned are tested beyond.
        actor, station : str, optional
            Who tells, and where; by default the user and the name of the machine.
        lease : float
            For how many seconds a station keeps a subject after each of its events.
        replan : str
            "background", "aside", "now" or "never" (:mod:`proband.studies.learning.replanning`).
        clock : callable, optional
            Returns the time in seconds since 1970.
        """
        store = Hidden(store) if isinstance(store, str) else store
        date = as_time(moment(time.time() if clock is None else clock()))
        data = created.draft(
            problem, name=name, agent=agent, seed=seed, horizon=horizon, created=date,
            condition_number=condition_number, max_tests=max_tests, budget=budget,
        )  # fmt: skip
        who, place, held, mode = _actor_of(actor), _station_of(station), checks.lease_of(lease), mode_of(replan)
        kind = created.CREATED
        first = Event(1, kind, None, data, date, who, place, proband.__version__, kind)
        begun(seal(first), first)  # what is written can be read
        with _opened(store) as (where, owned):
            where.create(data["name"], seal(first))
            study = cls.open(
                data["name"], store=where, actor=actor, station=station, lease=held, replan=mode, clock=clock
            )
            study._owned = owned
        return study

    @classmethod
    def open(
        cls,
        name: str,
        *,
        store: Store | str = DEFAULT_STORE,
        problem: Problem | None = None,
        actor: str | None = None,
        station: str | None = None,
        lease: float = DEFAULT_LEASE,
        replan: str = "background",
        planner: Planner | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Self:
        """Open a study that is there.

        Parameters
        ----------
        name : str
        store : Store or str
        problem : Problem, optional
            Raises unless the study is about this problem.
        actor, station, lease, replan, clock
            As for :meth:`create`.
        planner : Planner, optional
            Who makes its plans, in place of this process (:mod:`proband.studies.learning.orders`).
        """
        store = Hidden(store) if isinstance(store, str) else store
        who, place, held, mode = _actor_of(actor), _station_of(station), checks.lease_of(lease), mode_of(replan)
        wall, steady = (time.time, time.monotonic) if clock is None else (clock, clock)
        with _opened(store) as (where, owned):
            journal = Journal(where, name, actor=who, station=place, clock=wall, steady=steady)
        creation = journal.ledger.creation

        def make() -> Agent:
            return created.make_agent(journal.ledger.problem, creation)

        replanner = Replanner(
            make, journal.ledger, journal.lock, mode=mode, planner=planner, catch_up=journal.glance,
            shared=shared_plans(journal.store, name, journal.ledger, journal.lock, make, creation["agent"]),
        )  # fmt: skip
        study, stated = cls(journal, replanner, lease=held, owned=owned), creation["problem"]
        if problem is not None and problem.to_dict() != stated:
            study.close()
            raise StudyError(
                f"study {name!r} is about another problem ({stated['name']!r}) than the given one ({problem.name!r}): "
                "tests, decisions and reward must be the same; open it without a problem, or create another study"
            )
        return study

    def speaking(self, *, actor: str | None = None, station: str | None = None) -> Self:
        """Return this study for another actor or station of this process: what they do is recorded as theirs.

        They share the log as it was read, the agent and its policies, so that a service has one of each for all of its
        stations; any number of threads may use them. Closing one closes all.

        Parameters
        ----------
        actor, station : str, optional
            By default those of this one.

        Examples
        --------
        >>> from proband import Problem, Study, Test
        >>> from proband.rewards import Table
        >>> problem = Problem(
        ...     [Test("crack", 2.0)], ["pass", "fail"], Table(["crack"], [[1, 0], [-20, 0]]), name="bolts"
        ... )
        >>> study = Study.create(problem, store="memory:", agent="test-everything", station="line 1")
        >>> study.speaking(station="line 2", actor="Ada").arrive().station
        'line 2'
        """
        journal = self._journal
        who = journal.actor if actor is None else _actor_of(actor)
        other = object.__new__(type(self))  # a fraction of what copy.copy takes, and done for every write of a service
        vars(other).update(vars(self))
        other._journal = journal.speaking(who, journal.station if station is None else _station_of(station))
        return other

    def __repr__(self) -> str:
        return f"Study({self.name!r}, station {self._journal.station!r}{', closed' * self._journal.closed})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop learning, keep a snapshot, and release the store if this study opened it."""
        if not self._journal.closed:
            self._journal.shut()
            self._replanner.close()
            self._journal.close()
            if self._owned is not None:
                self._owned.close()

    def replan(self) -> int:
        """Learn everything up to the end of the log, now; return the position of the policy that newcomers get."""
        self._journal.check_open()
        self._journal.catch_up()
        return self._replanner.replan().position


def _actor_of(given: str | None) -> str:
    """Return who tells: the given name, or the user's."""
    if given is not None:
        return checks.text("the actor", given)
    try:
        return escaped(getpass.getuser())
    except (KeyError, OSError):  # a container may run under a number without a name
        return "unknown"


def _station_of(given: str | None) -> str:
    """Return where: the given name, or the machine's, so that all commands on one machine are one station."""
    return checks.text("the station", given) if given is not None else escaped(platform.node()) or "unknown"


@contextmanager
def _opened(store: Store | str) -> Iterator[tuple[Store, Store | None]]:
    """Open a store by its URL, and close it if the block fails; a store that is given stays its owner's."""
    if not isinstance(store, str):
        yield store, None
        return
    where = open_store(store)
    with OrElse(where.close):
        yield where, where
