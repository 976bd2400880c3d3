from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proband import Problem, plan
from proband.instances import bolts_measured, monitoring_network
from proband.rewards import Entropy


@pytest.fixture
def measured_files(run) -> None:
    assert run("example", "bolts-measured", "--records", "400").status == 0


class TestPlan:
    def test_an_example_is_planned_with_its_own_law(self, run) -> None:
        result = run("plan", "bolts-measured")
        best = plan(bolts_measured().problem, bolts_measured().distribution)
        assert result.status == 0
        assert f"{best.value:.4g} EUR a subject" in result.out
        assert "905 ± 52 MPa: below 800 MPa 2.17 %" in result.out
        assert "test: hardness" in result.out

    def test_json_and_files(self, run, tmp_path: Path) -> None:
        content = run("plan", "bolts-measured", "--plot", "r.png", "--out", "p.json", "--json").json
        assert content["first"] == "hardness"
        assert content["error"] < 1e-5
        assert content["written"] == ["p.json", "r.png"]
        assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG"

    def test_records_with_gaps_are_learned_from(self, run, measured_files, tmp_path: Path) -> None:
        lines = (tmp_path / "bolts-measured-records.csv").read_text().splitlines()
        holes = [
            lines[0],
            *(",".join([*line.split(",")[:4], "", ""]) if n % 3 else line for n, line in enumerate(lines[1:])),
        ]
        Path("gaps.csv").write_text("\n".join(holes) + "\n")
        content = run("plan", "bolts-measured.toml", "--data", "gaps.csv", "--json").json
        assert "maximum likelihood" in content["law"]
        exact = plan(bolts_measured().problem, bolts_measured().distribution)
        assert content["value"] == pytest.approx(exact.value, abs=0.3)
        complete = run("plan", "bolts-measured.toml", "--data", "gaps.csv", "--complete-only", "--json").json
        assert "complete records" in complete["law"]

    def test_a_covariance_is_a_law(self, run, measured_files) -> None:
        instance = bolts_measured()
        instance.distribution.save("law.csv", instance.problem)
        content = run("plan", "bolts-measured.toml", "--distribution", "law.csv", "--json").json
        assert content["value"] == pytest.approx(plan(instance.problem, instance.distribution).value)

    def test_redundant_tests_are_named(self, run, measured_files) -> None:
        law = bolts_measured().distribution
        copied = law.covariance.copy()
        copied[1] = copied[0] * 2
        copied[:, 1] = copied[:, 0] * 2
        copied[1, 1] = 4 * copied[0, 0]
        np.save("singular.npy", copied)
        result = run("plan", "bolts-measured.toml", "--distribution", "singular.npy")
        assert result.status == 0
        assert "redundant" in result.out
        assert "bolt weight: linear functions" in result.out

    @pytest.mark.parametrize(
        ("arguments", "status", "fragment"),
        [
            (("plan", "bolts-measured", "--tree", "text"), 2, "no tree of outcomes"),
            (("plan", "bolts", "--plot", "x.png"), 2, "use --tree"),
            (("plan", "bolts-measured", "--tolerance", "-1"), 2, "tolerance is -1"),
            (("plan", "bolts-measured", "--method", "dense"), 2, "measured outcomes and scores are gaussian;"),
            (("plan", "bolts-measured", "--plot", "x.xls"), 2, "figures end in"),
            (("plan", "bolts-measured.toml"), 2, "needs one"),
            (
                ("plan", "bolts-measured.toml", "--data", "bolts-measured-records.csv", "--estimate", "dirichlet"),
                2,
                "not for",
            ),
        ],
    )
    def test_mistakes(self, run, measured_files, arguments: tuple[str, ...], status: int, fragment: str) -> None:
        result = run(*arguments)
        assert result.status == status
        assert fragment in result.err


class TestNextAndEvaluate:
    def test_next_answers_from_a_file(self, run) -> None:
        assert run("plan", "bolts-measured", "--out", "p.json").status == 0
        shown = run("next", "p.json", "--known", "hardness=28.5")
        assert "Next test: shear strength for 0.22 EUR" in shown.out
        content = run("next", "p.json", "--known", "hardness=28.5", "--json").json
        assert content["test"] == "shear strength"
        assert content["known"] == {"hardness": 28.5}
        assert content["beliefs"][0]["score"] == "strength"
        assert "Decide: ship" in run("next", "p.json", "--known", "hardness=31").out
        mistake = run("next", "p.json", "--known", "hardness=soft")
        assert mistake.status == 2
        assert "finite number of HRC" in mistake.err

    def test_policies_are_evaluated(self, run) -> None:
        run("plan", "bolts-measured", "--out", "p.json")
        best = run("evaluate", "bolts-measured", "p.json", "--json").json
        everything = run("evaluate", "bolts-measured", "everything")
        assert everything.status == 0
        assert "standard error" in everything.out
        assert run("evaluate", "bolts-measured", "now", "--json").json["value"] < best["value"]
        assert run("evaluate", "network", "set:site 4,site 7", "--json").json["expected_tests"] == 2


class TestSensors:
    def test_amounts_stand_in_one_unit(self, run) -> None:
        run("plan", "network", "--out", "network.json")
        told = run("next", "network.json").out.splitlines()
        [value] = [line.split()[1] for line in told if line.startswith("value ")]
        assert value == "835.8"  # EUR/month, of a unit of 100 EUR/month
        assert [line.split()[-2:] for line in told if line.startswith("test: site 4 ")] == [[value, "best"]]

    def test_the_network(self, run) -> None:
        best = plan(monitoring_network().problem, monitoring_network().distribution)
        content = run("sensors", "network", "--plot", "sizes.png", "--json").json
        assert content["value"] == pytest.approx(best.value)
        assert content["proved"]
        assert len(content["chosen"]) == len(best.chosen)
        assert Path("sizes.png").exists()
        assert "8 of 24 sites are worth their costs" in run("sensors", "network").out

    def test_a_nat_is_worth_what_is_said(self, run) -> None:
        instance = monitoring_network()
        assert run("sensors", "network", "--scale", "0.1", "--json").json["chosen"] == []
        for costs in ((), ("--costs", "3")):
            once = run("sensors", "network", *costs, "--json").json
            much = run("sensors", "network", *costs, "--scale", "3", "--json").json
            assert set(once["chosen"]) < set(much["chosen"])
        problem = Problem(instance.problem.tests, instance.problem.decisions, Entropy(3.0))
        best = plan(problem, instance.distribution)
        assert run("sensors", "network", "--scale", "3", "--json").json["value"] == pytest.approx(best.value)

    def test_sizes_and_forced_sites(self, run) -> None:
        several = run(
            "sensors", "network", "--size", "2-4", "--include", "site 1", "--exclude", "site 4", "--json"
        ).json
        for row in several["sizes"]:
            assert "site 1" in row["chosen"]
            assert "site 4" not in row["chosen"]
            assert len(row["chosen"]) == row["size"]
        assert "certified" in run("sensors", "network", "--size", "1-3").out
        assert "proved best" in run("sensors", "network", "--size", "3").out

    def test_files_costs_and_records(self, run) -> None:
        instance = monitoring_network()
        np.save("c.npy", instance.distribution.covariance)
        assert run("sensors", "c.npy", "--costs", "3").status == 0
        rows = instance.sample(np.random.default_rng(0), 200)[:, :3]
        header = "harbour,park,road"
        Path("rounds.csv").write_text("\n".join([header, *(",".join(f"{x:.3f}" for x in row) for row in rows)]))
        Path("prices.csv").write_text("site,cost,group,group_cost\nharbour,2,van,1\npark,2,van,1\nroad,9,,\n")
        content = run("sensors", "rounds.csv", "--records", "--costs", "prices.csv", "--json").json
        assert set(content["chosen"]) <= {"harbour", "park", "road"}

    @pytest.mark.parametrize(
        ("arguments", "fragment"),
        [
            (("sensors", "c.npy"), "--costs"),
            (("sensors", "c.npy", "--costs", "-1"), "cost is -1"),
            (("sensors", "c.npy", "--costs", "nowhere.csv"), "cannot be read"),
            (("sensors", "c.npy", "--costs", "1", "--scale", "-2"), "above 0"),
            (("sensors", "network", "--scale", "nan"), "above 0"),
            (("sensors", "network", "--size", "3", "--scale", "2"), "--size leaves costs aside"),
            (("sensors", "c.npy", "--size", "2", "--costs", "1"), "--size leaves costs aside"),
            (("sensors", "network", "--records"), "--records is about a table"),
            (("sensors", "c.npy", "--size", "9"), "there are 3 sites"),
            (("sensors", "c.npy", "--size", "many"), "a range such as"),
            (("sensors", "c.npy", "--costs", "1", "--include", "x"), "site 'x' does not exist"),
            (("sensors", "asymmetric.npy", "--costs", "1"), "symmetric"),
            (("sensors", "indefinite.npy", "--costs", "1"), "positive semi-definite"),
            (("sensors", "c.npy", "--costs", "prices.csv"), "it has no cost for"),
            (("sensors", "bolts", "--costs", "1"), "has no sites"),
            (("sensors", "nowhere.npy", "--costs", "1"), "No such file"),
            (("sensors", "singular.npy", "--costs", "1"), "singular"),
            (("sensors", "c.npy", "--costs", "binary.csv"), "it has no cost for"),
            (("sensors", "c.npy", "--costs", "long.csv"), "field larger than field limit"),
            (("sensors", "c.npy", "--costs", "ragged.csv"), "it has 1 entry; the header has 2"),
            (("sensors", "binary.csv", "--records"), "is no number; give a measurement (the file is no UTF-8"),
            (("sensors", "long.csv", "--records"), "field larger than field limit"),
            (("sensors", "wide.csv", "--records"), "at most 4096 are read"),
            (("sensors", "empty.csv", "--records"), "it is empty"),
        ],
    )
    def test_mistakes(self, run, arguments: tuple[str, ...], fragment: str) -> None:
        np.save("c.npy", np.eye(3) * 2)
        np.save("asymmetric.npy", np.array([[1.0, 0.5], [0.1, 1.0]]))
        np.save("indefinite.npy", np.array([[1.0, 2.0], [2.0, 1.0]]))
        np.save("singular.npy", np.ones((2, 2)))
        Path("prices.csv").write_text("site,cost\nsite 1,2\nsite 2,2\n")
        Path("binary.csv").write_bytes(b"site,cost\n\xff,1\n")
        Path("long.csv").write_text("site,cost\n" + "x" * 200_000 + ",1\n")
        Path("ragged.csv").write_text("site,cost\nsite 1\n")
        Path("wide.csv").write_text(",".join(f"s{n}" for n in range(4097)) + "\n")
        Path("empty.csv").write_text("\n")
        result = run(*arguments)
        assert result.status == 2
        assert fragment in result.err
