"""What unavailable tests showed comes late: the agent is the one of a study in which it was revealed."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.crowd import Clock, fingerprint, gout, law_of, same

from proband import Discrete, Problem, Records, Test
from proband.agents import FOREVER, Greedy, LeafCompletion, Setting, build_agent
from proband.agents import TestEverything as EveryTest
from proband.errors import AgentError
from proband.policies import DecideNow, chances
from proband.rewards import Table
from proband.simulation import FullInformation, draw_stream, simulate
from proband.simulation.kinds import Treated
from proband.simulation.revealing import Late
from proband.studies import Study, folded
from proband.studies.events.created import make_agent
from proband.studies.learning.replay import agent_at
from proband.studies.stores import MemoryStore
from proband.vocabulary import Policy

PROBLEM = gout()
LAW = law_of(PROBLEM, np.random.default_rng(4))
TRUTH = PROBLEM.test_index("crystals")


@pytest.mark.parametrize("name", ["greedy", "leaf-completion", "safe-leaf-completion", "test-everything"])
@pytest.mark.parametrize("after", [0, 30])
def test_the_agent_is_that_of_a_study(name: str, after: int) -> None:
    rng, store, n = np.random.default_rng(5), MemoryStore(), 110
    study = Study.create(PROBLEM, agent=name, store=store, seed=7, replan="now", clock=Clock(), station="A")
    rows = LAW.sample(rng, n)
    subjects, met = [], list[Policy]()
    for x in rows:
        told = PROBLEM.describe(x)
        study.replan()
        met.append(study.policy())
        subject = study.arrive({"sex": told["sex"]})
        while (advice := study.ask(subject)).kind == "test":
            study.tell(subject, advice.action, told[advice.action])
        study.decide(subject)
        subjects.append((subject, told))
    seen = study.records()
    for subject, told in subjects[: n - after]:
        study.reveal(subject, {"crystals": told["crystals"]})
    ledger = folded(store.read(PROBLEM.name))
    taught = agent_at(ledger, lambda: make_agent(ledger.problem, ledger.creation), ledger.position)

    late = Late(PROBLEM, build_agent(name, Setting(PROBLEM, seed=ledger.creation["seed"])), after)
    for t, (row, x, policy) in enumerate(zip(seen.outcomes, rows, met, strict=True), 1):
        late.learn(t, policy, [Treated(np.zeros(4), Records(row[None]), x[None, [TRUTH]])])
    assert seen.chances is not None
    assert late._told.known.tolist() == seen.chances.tolist()
    assert same(fingerprint(PROBLEM, late.agent.policy()), fingerprint(PROBLEM, taught.policy()))
    assert late.agent.commitment == taught.commitment


class Watching(EveryTest):
    """Keeps what it is told."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.told: list[Records] = []

    def learn(self, records: Records) -> None:
        self.told.append(records)
        super().learn(records)


LABELLED = Problem([Test("cue", 0.01), Test("truth", available=False)], ["y", "z"], Table(["truth"], [[1, 0], [0, 1]]))
CUES = Discrete([[0, 0], [0, 1], [1, 0], [1, 1]], [0.45, 0.05, 0.05, 0.45])


class Blocks(Greedy):
    """Greedy whose copies share a list of how many truths they learned, and after how many subjects."""

    def absorb(self, block: list[Records]) -> None:
        rows = np.vstack([records.outcomes for records in block])
        counts = np.concatenate([records.counts for records in block])
        LOG.append((self.t, int(counts[~np.isnan(rows[:, 1])].sum())))
        super().absorb(block)


LOG: list[tuple[int, int]] = []


def test_each_subject_is_told_so_many_subjects_later() -> None:
    """At the end of each block the agent knows the truth of all but the last ones, and each subject once."""
    LOG.clear()
    stream = draw_stream(LABELLED, CUES, np.random.default_rng(0), 400)
    run = simulate(
        LABELLED, CUES, Blocks(LABELLED, first=50, growth=0.5), stream, rng=np.random.default_rng(1), reveal=60
    )
    assert run.t[-1] == 400
    lives = np.split(np.array(LOG), np.flatnonzero(np.diff([t for t, _ in LOG]) <= 0) + 1)
    assert len(lives) > 5
    for life in lives:  # of each new agent
        assert life[0, 0] == 50
        assert (np.cumsum(life[:, 1]) <= life[:, 0]).all()
        assert life[:, 1].sum() == 0 or (np.diff(np.flatnonzero(life[:, 1])) == 1).all()  # history, then the others
    assert 400 - 60 - 15 <= lives[-1][:, 1].sum() <= 400 - 60


def test_a_late_truth_teaches_and_none_does_not() -> None:
    """Without the truth a cue stays worthless; with it the agent learns to use it."""
    stream = draw_stream(LABELLED, CUES, np.random.default_rng(0), 2000)

    def regret(reveal: int | None) -> float:
        agent = LeafCompletion(LABELLED, first=20, growth=0.5, draws=4)
        rng = np.random.default_rng(1)
        found = simulate(LABELLED, CUES, agent, stream, rng=rng, at=np.array([1000, 2000]), reveal=reveal)
        return float(found.pseudo_regret[1] - found.pseudo_regret[0])

    assert regret(100) < 40
    assert regret(None) > 300


def test_whoever_never_replans_uses_the_truth_nevertheless() -> None:
    stream = draw_stream(LABELLED, CUES, np.random.default_rng(0), 1000)
    agent = EveryTest(LABELLED)
    assert agent.commitment == FOREVER
    figures = [
        simulate(LABELLED, CUES, agent, stream, rng=np.random.default_rng(1), reveal=reveal).pseudo_regret[-1]
        for reveal in (50, None)
    ]
    assert figures[0] < 0.3 * figures[1]
    assert agent.policy().act([[1.0, np.nan]]).tolist() == [2]  # the one that was given has learned nothing


def test_the_chances_are_those_of_the_policies_that_were_met() -> None:
    policy = DecideNow(LABELLED, "y")
    late = Late(LABELLED, Watching(LABELLED), 0)
    seen = np.array([[1.0, np.nan], [np.nan, np.nan]])
    late.learn(5, policy, [Treated(np.zeros(4), Records(seen, [2, 3]), np.array([[1.0], [0.0]]))])
    assert isinstance(late.agent, Watching)
    [records] = late.agent.told
    assert records == Records([[1, 1], [np.nan, 0]], [2, 3], chances(LABELLED, policy, seen))


def test_where_everything_is_available_or_shown_nothing_changes() -> None:
    stream = draw_stream(LABELLED, CUES, np.random.default_rng(0), 300)
    shown = [
        simulate(
            LABELLED, CUES, FullInformation(Greedy(LABELLED)), stream, rng=np.random.default_rng(1), reveal=reveal
        ).pseudo_regret
        for reveal in (None, 20)
    ]
    assert shown[0].tolist() == shown[1].tolist()


def test_a_delay_is_no_negative_number() -> None:
    with pytest.raises(AgentError, match=r"reveal is -1.*0 subjects or more"):
        simulate(LABELLED, CUES, EveryTest(LABELLED), np.zeros(3, int), rng=np.random.default_rng(0), reveal=-1)
