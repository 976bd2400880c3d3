from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proband import Records, evaluate
from proband.agents import FOREVER, Setting
from proband.errors import AgentError, ExperimentError, TableError, UnknownNameError
from proband.experiments import EXPERIMENTS, Experiment, TidyTable, run
from proband.experiments.catalogue.many_tests import (
    Raw,
    best_policy,
    build_at_once,
    exploring,
    find_instance,
    make_instance,
)
from proband.experiments.hindsight import places
from proband.experiments.report import report
from proband.policies import DecideNow, test_everything

MANY = EXPERIMENTS["many-tests"]
LAW = ("latent-20", "last", "bought", 3, 2000)
POINT = {"table": "latent-20", "label": "last", "truth": "bought", "law_seed": 3, "size": 2000, "horizon": 300}
AGENTS = ["raw-50", "raw-100", "regularised-50", "doubling", "test-everything", "decide-at-once", "full-information"]


@pytest.fixture(scope="module")
def small() -> Experiment:
    settings = {"table": "latent-20", "truth": "bought", "law_seed": "3", "size": "2000"}
    return MANY.changed(horizon=300, replications=2, agents=AGENTS, settings=settings)


@pytest.fixture(scope="module")
def folder(small: Experiment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("many")
    run(small, out, seed=1000)
    return out


@pytest.fixture(scope="module")
def table(small: Experiment, folder: Path) -> TidyTable:
    return run(small, folder, seed=1000)  # all cells are there


def test_the_law_is_the_same_in_every_stream_and_knows_a_good_plan() -> None:
    one, other = (make_instance(POINT, n, np.random.default_rng(n)) for n in (0, 1))
    assert one.distribution is other.distribution
    problem, law, best = one.problem, one.distribution, one.best
    assert best is not None
    assert best is best_policy(*LAW)
    value = evaluate(problem, law, best).value
    assert value > evaluate(problem, law, DecideNow(problem, distribution=law)).value
    assert value > evaluate(problem, law, test_everything(problem)).value


def test_regret_is_exact_for_the_law(table: TidyTable) -> None:
    instance = make_instance(POINT, 0, np.random.default_rng(0))
    problem, law = instance.problem, instance.distribution
    best = evaluate(problem, law, instance.best).value
    final = table.final()
    for agent, policy in {
        "test-everything": test_everything(problem),
        "decide-at-once": DecideNow(problem, distribution=law),
    }.items():
        lost = 300 * (best - evaluate(problem, law, policy).value)
        np.testing.assert_allclose(final.where({"agent": agent})["pseudo_regret"], lost, rtol=1e-9)


def test_explorers_pay_for_exploring_and_are_compared_in_hindsight(table: TidyTable) -> None:
    everything, raw = (table.where({"agent": agent, "replication": 0}) for agent in ("test-everything", "raw-100"))
    early = everything["t"] <= 100
    np.testing.assert_allclose(raw["pseudo_regret"][early], everything["pseudo_regret"][early])
    found = {place.agent: place for place in places(table, MANY.families, MANY.baselines)}
    assert {family for place in found.values() for family in place.families} == {"raw", "regularised"}
    assert sum(agent.startswith("raw-") for agent in found) == 1
    assert set(found["doubling"].ratios) == {"raw", "regularised", "full-information"}


def test_the_page_compares_with_the_best_in_hindsight(folder: Path, tmp_path: Path) -> None:
    page, *_ = report(MANY, folder, tmp_path)
    text = page.read_text(encoding="utf-8")
    assert "## Beside the best in hindsight" in text
    assert "(best of raw) |" in text


@pytest.mark.parametrize("raw", [False, True])
def test_an_explorer_tests_completely_and_then_commits(raw: bool) -> None:
    instance = find_instance(*LAW)
    agent = exploring(instance.problem, explore=60, raw=raw)
    assert agent.commitment == 60
    rows = instance.sample(np.random.default_rng(0), 60)
    agent.learn(Records(rows))
    assert agent.commitment == FOREVER
    assert evaluate(instance.problem, instance.distribution, agent.policy()).tests < 20


def test_who_decides_at_once_must_know_the_law() -> None:
    with pytest.raises(AgentError, match="true law"):
        build_at_once(Setting(find_instance(*LAW).problem), {})


def test_a_table_of_ones_own_takes_the_place_of_all_laws(tmp_path: Path) -> None:
    path, rng = tmp_path / "mine.csv", np.random.default_rng(0)
    numbers = rng.normal(size=(80, 18))
    kinds = np.where(numbers[:, 0] > 0, "good", "bad")
    lines = [",".join(["kind", *(f"x{i}" for i in range(18))])]
    lines += [",".join([kind, *(f"{x:.3f}" for x in row)]) for kind, row in zip(kinds, numbers, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    agents = ["raw-50", "decide-at-once", "full-information"]
    mine = MANY.changed(
        horizon=120,
        replications=1,
        agents=agents,
        settings={"table": str(path), "label": "kind", "truth": "bought", "size": "1000"},
    )
    assert [point["table"] for point in mine.points()] == [str(path)]
    final = run(mine, tmp_path / "out").final()
    assert len(final) == 3
    assert (final["pseudo_regret"] > 0).all()
    last = MANY.changed(settings={"table": str(path), "size": "1000"})
    assert [(point["table"], point["truth"]) for point in last.points()] == [(str(path), "bought")]
    assert make_instance(last.points()[0], 0, rng).problem.tests[-1].name == "x17"


def test_laws_that_are_not_there_say_so() -> None:
    with pytest.raises(UnknownNameError, match="latent-100"):
        make_instance({**POINT, "table": "oats"}, 0, np.random.default_rng(0))
    with pytest.raises(TableError, match=r"oats\.csv"):
        make_instance({**POINT, "table": "oats.csv"}, 0, np.random.default_rng(0))


def test_a_label_that_is_told_late(tmp_path: Path) -> None:
    settings = {"table": "latent-20", "truth": "20", "size": "1000"}
    agents = ["raw-50", "doubling", "test-everything", "decide-at-once", "full-information"]
    late = MANY.changed(horizon=200, replications=1, agents=agents, settings=settings)
    final = run(late, tmp_path).final()
    assert (final["pseudo_regret"] > 0).all()
    tests = {agent: float(final.where({"agent": agent})["tests"][0]) for agent in agents}
    assert (tests["decide-at-once"], tests["test-everything"]) == (0, 200 * 20)  # and never the label
    assert tests["raw-50"] < tests["test-everything"]


def test_until_a_label_is_known_the_raw_law_says_nothing() -> None:
    problem = find_instance("latent-20", "last", "20", 3, 1000).problem
    law = Raw(problem)
    law.update(Records(np.where(np.arange(21) == 20, np.nan, np.zeros((3, 21)))))
    assert law.distribution().marginal(20).tolist() == [0.5, 0.5]
    law.update(Records(np.ones((1, 21))))
    assert law.distribution().support.tolist() == [[1.0] * 21]


def test_the_truth_is_bought_or_late() -> None:
    with pytest.raises(ExperimentError, match="so many subjects"):
        MANY.changed(settings={"truth": "soon"})
