from __future__ import annotations

import math

import numpy as np
import pytest

from proband.experiments.hindsight import geometric_means, places, shown
from proband.experiments.hindsight_report import mean_rows, place_rows
from proband.experiments.tidy import TidyTable

T = np.array([1, 2, 4, 8])
FAMILIES = {"explorers": ("explore-1", "explore-2", "never run"), "absent": ("nobody",)}


def table(regrets: dict[str, dict[str, list[list[float]]]]) -> TidyTable:
    """From a law to an agent to its runs: cumulative regrets after 1, 2, 4 and 8 subjects."""
    rows = [
        (law, agent, replication, t, regret)
        for law, agents in regrets.items()
        for agent, runs in agents.items()
        for replication, run in enumerate(runs)
        for t, regret in zip(T.tolist(), run, strict=True)
    ]
    laws, agents, replications, t, found = (np.array(column) for column in zip(*rows, strict=True))
    return TidyTable(
        {"law": laws, "horizon": np.full(len(rows), 8), "agent": agents, "replication": replications, "t": t}
        | {"pseudo_regret": found}
    )


TABLE = table(
    {
        "one": {
            "explore-1": [[1, 2, 4, 8], [1, 2, 4, 8]],
            "explore-2": [[1, 2, 3, 3], [1, 2, 3, 5]],
            "learner": [[1, 1.5, 2, 2.4], [1, 1.2, 1.6, 1.6]],
        },
        "two": {
            "explore-1": [[1, 2, 2, 2], [1, 2, 2, 2]],
            "explore-2": [[1, 2, 3, 3], [1, 2, 3, 3]],
            "learner": [[1, 2, 4, 8], [1, 2, 4, 8]],
        },
    }
)


def test_of_a_family_the_best_member_on_the_reported_streams_is_the_baseline() -> None:
    found = places(TABLE, FAMILIES, ["learner", "not there"])
    assert [(place.point["law"], place.agent, place.families) for place in found] == [
        ("one", "explore-2", ("explorers",)), ("one", "learner", ()),
        ("two", "explore-1", ("explorers",)), ("two", "learner", ()),
    ]  # fmt: skip
    assert [place.ratios["explorers"] for place in found] == [1, pytest.approx(0.5), 1, 4]
    assert found[0].ratios == {"explorers": 1, "learner": 2}
    assert (found[0].mean, found[0].error) == (4, pytest.approx(1))


def test_gaps_are_losses_a_subject_and_fall_or_do_not() -> None:
    _, learner, _, stuck = places(TABLE, FAMILIES)
    assert learner.gaps == pytest.approx(((0.5 / 2 + 0.4 / 2) / 2, (0.4 / 4 + 0) / 2, (0.4 / 4 + 0) / 2))
    assert (learner.falls, learner.stuck) == (1, 0)
    assert (stuck.gaps, stuck.falls, stuck.stuck) == ((1, 1, 1), 0, 1)


def test_means_over_laws_are_geometric() -> None:
    explorers, learner = geometric_means(places(TABLE, FAMILIES), "law")
    assert (explorers.agent, learner.agent, learner.rest) == ("explorers", "learner", {"horizon": 8})
    assert learner.ratios == {"explorers": (pytest.approx(math.sqrt(0.5 * 4)), 4)}
    assert explorers.ratios == {"explorers": (1, 1)}
    assert geometric_means(places(TABLE, FAMILIES), "horizon") == []  # it does not vary


def test_figures_show_the_best_member_of_the_main_law() -> None:
    assert shown(TABLE, FAMILIES).unique("agent") == ["explore-2", "learner"]
    assert shown(TABLE, {}) is TABLE


def test_rows_for_people() -> None:
    header, rows = place_rows(places(TABLE, FAMILIES))
    assert header == [
        "agent", "law", "regret", "of explorers", "T/4 to T/2", "T/2 to T", "end", "falls", "stuck",
    ]  # fmt: skip
    assert rows[0][:4] == ["explore-2 (best of explorers)", "one", "4 ± 1", "1.000"]
    assert rows[3] == ["learner", "two", "8 ± 0", "4.000", "1.0000", "1.0000", "1.0000", "0%", "100%"]
    assert mean_rows(places(TABLE, FAMILIES), "law")[1][1] == ["learner", "1.414", "4.000"]
    partial = TidyTable(
        {name: column[:-8] for name, column in TABLE.columns.items()}
    )  # the learner ran on one law only
    assert mean_rows(places(partial, FAMILIES), "law")[1][1] == ["learner", "", ""]
