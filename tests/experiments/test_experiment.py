from __future__ import annotations

import warnings

import pytest

from proband.agents import AGENTS, Setting
from proband.agents.entropy import AgentWarning
from proband.errors import UnknownNameError
from proband.experiments import EXPERIMENTS, Experiment, ExperimentError
from proband.experiments.experiment import Entrant, whole
from proband.instances import bolts, bolts_measured, paper_entropy_example
from proband.vocabulary import Kind


def test_the_main_point_comes_first_and_sweeps_vary_one_parameter() -> None:
    points = EXPERIMENTS["lower-bound-single"].points()
    main = {"m": 1.0, "horizon": 2**20}
    assert points[0] == main
    assert all(sum(point[name] != main[name] for name in main) == 1 for point in points[1:])
    assert sorted(point["m"] for point in points if point["horizon"] == 2**20) == [0.5, 1, 2, 4, 8]
    assert sorted(point["horizon"] for point in points if point["m"] == 1) == [2**n for n in range(10, 21)]


def test_there_is_a_cell_for_each_point_agent_and_replication(small: Experiment) -> None:
    cells = small.cells(seed=7)
    assert len(cells) == 9
    assert {(cell.agent, cell.replication, cell.seed) for cell in cells} == {
        (entrant.name, r, 7) for entrant in small.agents for r in range(3)
    }


def test_a_sweep_over_horizons_stops_at_the_given_one() -> None:
    changed = EXPERIMENTS["horizon"].changed(horizon=5000)
    assert [point["horizon"] for point in changed.points()] == [5000, 1024, 4096]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"costs": "0.02"}, [0.02]),
        ({"costs": "0.02, 0.05,uniform"}, [0.05, 0.02, "uniform"]),
        ({"costs": "uniform"}, ["uniform"]),
    ],
)
def test_a_parameter_takes_one_value_or_several(settings: dict[str, str], expected: list[object]) -> None:
    points = EXPERIMENTS["paper-discrete"].changed(settings=settings).points()
    assert [point["costs"] for point in points] == expected


def test_horizons_can_be_listed() -> None:
    changed = EXPERIMENTS["easy"].changed(settings={"horizon": "2^4,2**6"})
    assert [point["horizon"] for point in changed.points()] == [64, 16]


def test_any_registered_agent_may_take_part() -> None:
    changed = EXPERIMENTS["missing-data"].changed(agents=["likelihood", "greedy", "greedy"])
    assert [entrant.name for entrant in changed.agents] == ["likelihood", "greedy"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"agents": ["nobody"]}, UnknownNameError, "leaf-completion"),
        ({"settings": {"gap": "1"}}, UnknownNameError, "it has d, costs, horizon"),
        ({"settings": {"d": "many"}}, ExperimentError, "number of binary tests"),
        ({"settings": {"horizon": "0"}}, ExperimentError, "1 or more"),
        ({"horizon": 0}, ExperimentError, "1 or more"),
        ({"replications": 0}, ExperimentError, "1 or more"),
    ],
)
def test_what_makes_no_sense_is_named(change: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        EXPERIMENTS["paper-discrete"].changed(**change)  # type: ignore[arg-type]


def test_whole_numbers_are_whole() -> None:
    assert [whole("12"), whole("2^10"), whole("2**3")] == [12, 1024, 8]
    with pytest.raises(ValueError, match="invalid literal"):
        whole("1.5")


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
def test_the_catalogue_is_sound(experiment: Experiment) -> None:
    assert EXPERIMENTS[experiment.name] is experiment
    names = [entrant.name for entrant in experiment.agents]
    assert experiment.baselines[0] in names if experiment.baselines else len(names) == 1
    own = experiment.name in ("missing-data", "many-tests", "many-tests-long") or "entropy" in experiment.name
    assert own or set(names) <= {*AGENTS, "full-information"}
    for name in experiment.sweeps:
        assert name == "horizon" or name in experiment.parameters
    for point in experiment.points():
        assert list(point) == [*experiment.parameters, "horizon"]


def test_who_is_told_the_horizon_says_so() -> None:
    told = {name for name in AGENTS if not getattr(AGENTS[name], "anytime", True)}
    assert told == {"explore-then-commit", "elimination", "thrifty"}


@pytest.mark.parametrize("name", AGENTS)
def test_who_is_told_the_horizon_is_said_and_nobody_else_is(name: str) -> None:
    """The pages compare agents that need no T with those that do: one that would use it must not have it."""
    makes = {Kind.LISTED: bolts, Kind.SCORES: bolts_measured, Kind.SETS: paper_entropy_example}
    for kind in AGENTS[name].kinds:
        instance = makes[kind]()
        setting = Setting(instance.problem, horizon=100, truth=instance.distribution, condition_number=1e9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AgentWarning)
            agent = Entrant.registered(name).build(setting, {})
        told = getattr(agent, "horizon", None)
        assert told == (100 if name in {"explore-then-commit", "thrifty"} else None)  # elimination is warned by it
