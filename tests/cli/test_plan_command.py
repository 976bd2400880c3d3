from __future__ import annotations

from pathlib import Path

import pytest

from proband import Discrete, plan
from proband.instances import bolts, gout
from proband.policies import Tree
from proband.policies.rendering import dot, mermaid, text


def test_an_example_is_planned_with_its_own_law(run) -> None:
    result = run("plan", "bolts")
    best = plan(bolts().problem, bolts().distribution)
    assert result.status == 0
    assert f"{best.value:.4g} USD a subject" in result.out
    assert f"{best.expected_cost:.4g} USD" in result.out
    assert "pass 75.8 % · fail 24.2 %" in result.out
    assert best.explain_choice in result.out
    assert text(best.tree()) in result.out
    assert result.err == ""


def test_public_tables_are_examples_wherever_one_is_named(run) -> None:
    planned = run("plan", "wine", "--method", "myopic", "--out", "wine.json")
    assert (planned.status, "test: " in planned.out) == (0, False)
    assert "the example's own law: 4,990 outcome vectors" in planned.out
    assert run("evaluate", "wine", "wine.json").status == 0
    assert "digits, wine" in run("plan", "nope").err


def test_json_is_all_that_is_printed(run) -> None:
    content = run("plan", "gout", "--json").json
    best = plan(gout().problem, gout().distribution)
    assert content["value"] == pytest.approx(best.value)
    assert content["bound"] == content["value"] + content["gap"]
    assert content["decisions"] == pytest.approx(best.decision_probabilities)
    assert content["unit"] == "EUR"
    assert content["method"] == best.method
    assert content["tree_nodes"] == sum(1 for _ in best.tree().nodes())


def test_records_are_planned_with(run, files) -> None:
    content = run("plan", "bolts.toml", "--data", "bolts-records.csv", "--json").json
    assert content["law"] == "bolts-records.csv: 800 complete records"


def test_a_table_of_probabilities_is_planned_with(run, files) -> None:
    bolts().distribution.save("law.csv", bolts().problem)
    content = run("plan", "bolts.toml", "--distribution", "law.csv", "--json").json
    assert content["value"] == pytest.approx(plan(bolts().problem, bolts().distribution).value)


@pytest.mark.parametrize(("name", "render"), [("mermaid", mermaid), ("dot", dot)])
def test_trees_for_a_pipe_are_printed_alone(run, name, render) -> None:
    tree = plan(bolts().problem, bolts().distribution).tree()
    assert run("plan", "bolts", "--tree", name).out == render(tree) + "\n"


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("t.svg", b"<?xml"),
        ("t.png", b"\x89PNG"),
        ("t.pdf", b"%PDF"),
        ("t.dot", b"digraph"),
        ("t.mmd", b"flowchart"),
        ("t.txt", b"bolt weight"),
    ],
)
def test_trees_are_written_by_the_files_ending(run, name: str, start: bytes) -> None:
    result = run("plan", "bolts", "--tree", name)
    assert result.status == 0
    assert f"written         {name}" in result.out
    assert "├─" not in result.out
    assert Path(name).read_bytes().startswith(start)


def test_the_written_policy_is_the_plan(run) -> None:
    run("plan", "bolts", "--out", "policy.json")
    assert Tree.load("policy.json") == plan(bolts().problem, bolts().distribution).tree()


def test_a_cut_tree_says_what_it_is_worth(run) -> None:
    result = run("plan", "bolts", "--depth", "1", "--tree", "text")
    assert "cut tree" in result.out
    content = run("plan", "bolts", "--depth", "1", "--json").json
    assert content["cut"]["value"] < content["value"]
    assert content["tree_nodes"] == 4


def test_json_holds_the_tree_if_asked_for(run) -> None:
    assert run("plan", "bolts", "--tree", "mermaid", "--json").json["tree"].startswith("flowchart LR")


def test_a_large_tree_is_not_poured_over_people(run) -> None:
    result = run("plan", "paper-discrete")
    assert "more than 60 nodes" in result.out
    assert len(result.out.splitlines()) < 15
    assert "different ones" in result.out


def test_a_large_cut_tree_is_shown_when_asked_for(run) -> None:
    assert "├─ 0" in run("plan", "paper-discrete", "--depth", "2", "--tree", "text").out


def test_a_plan_that_is_not_exact_shows_its_bound(run) -> None:
    rough = run("plan", "bolts", "--method", "myopic", "--json").json
    assert rough["bound"] > run("plan", "bolts", "--json").json["value"] > rough["value"]
    assert f"at most {rough['gap']:.4g} USD better than this plan" in run("plan", "bolts", "--method", "myopic").out


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "status", "message"),
        [
            (("plan", "nope"), 2, "problem 'nope' is no file, and no example"),
            (("plan", "nope.toml"), 2, "nope.toml: it cannot be read"),
            (("plan", "bolts.toml"), 2, "give --data"),
            (("plan", "bolts", "--tree", "tree.docx"), 2, "--tree is 'tree.docx'"),
            (("plan", "bolts", "--data", "nope.csv"), 2, "nope.csv: it cannot be read"),
            (("plan", "bolts", "--distribution", "bolts-records.csv"), 2, "missing columns ['probability']"),
            (("plan", "gout", "--data", "bolts-records.csv"), 2, "unknown columns"),
            (("plan", "bolts", "--out", "no/such/folder.json"), 1, "no/such/folder.json: it cannot be used"),
            (("plan", "bolts", "--data", "a", "--distribution", "b"), 2, "not both"),
            (("plan", "bolts", "--complete-only"), 2, "give --data too"),
            (("plan", "bolts", "--depth", "-1"), 2, "--depth"),
            (("plan",), 2, "PROBLEM"),
        ],
    )
    def test_a_mistake_is_answered(self, run, files, arguments, status, message) -> None:
        result = run(*arguments)
        assert result.status == status
        assert message in result.err
        assert result.out == ""
        assert "Traceback" not in result.err

    def test_a_broken_problem_file_is_named(self, run, files) -> None:
        Path("broken.toml").write_text(Path("bolts.toml").read_text().replace("cost = 0.05", "cost = -1"))
        result = run("plan", "broken.toml", "--data", "bolts-records.csv")
        assert result.status == 2
        assert result.err.startswith("error: broken.toml: tests[2]")
        Path("broken.toml").write_text(Path("broken.toml").read_text().replace("schema = 1", "schema = 1\nzzz = 1"))
        lines = run("plan", "broken.toml", "--data", "bolts-records.csv").err.splitlines()
        assert lines[0] == "error: broken.toml: 2 mistakes:"
        assert [line.partition(": ")[0] for line in lines[1:]] == ["  zzz", "  tests[2]"]

    def test_incomplete_records_need_a_word(self, run, files) -> None:
        lines = Path("bolts-records.csv").read_text().splitlines()
        lines[1] = "," + lines[1].partition(",")[2]
        Path("holes.csv").write_text("\n".join(lines) + "\n")
        result = run("plan", "bolts.toml", "--data", "holes.csv")
        assert result.status == 2
        assert "1 of 800 records are incomplete" in result.err
        assert "--complete-only" in result.err
        told = run("plan", "bolts.toml", "--data", "holes.csv", "--complete-only", "--json")
        assert told.json["law"] == "holes.csv: 799 complete records, 1 incomplete ones left out"

    def test_records_without_one_complete_row_do_not_help(self, run, files) -> None:
        header = Path("bolts-records.csv").read_text().splitlines()[0]
        Path("holes.csv").write_text(f"{header}\ntrue,,,,,,,,\n")
        result = run("plan", "bolts.toml", "--data", "holes.csv", "--complete-only")
        assert (result.status, "no record is complete" in result.err) == (2, True)

    def test_probabilities_must_sum_to_one(self, run, files) -> None:
        law = bolts().distribution
        half = Discrete.__new__(Discrete)
        half.support, half.probabilities = law.support, law.probabilities / 2
        half.save("law.csv", bolts().problem)
        result = run("plan", "bolts.toml", "--distribution", "law.csv")
        assert result.status == 2
        assert "law.csv: the probabilities sum to 0.5" in result.err

    def test_too_large_has_a_status_of_its_own(self, run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("proband.figures.tree.MOST_LEAVES", 10)
        result = run("plan", "bolts", "--tree", "tree.png")
        assert result.status == 3
        assert "leaves; a picture shows up to 10" in result.err

    def test_a_huge_product_space_is_planned_or_its_size_is_told(self, run) -> None:
        names = [f"t{n}" for n in range(40)]
        tests = "".join(f'[[tests]]\nname = "{name}"\ncost = 1\n' for name in names)
        Path("large.toml").write_text(f'schema = 1\n{tests}[reward]\nkind = "match"\n')
        Path("one.csv").write_text(",".join(names) + "\n" + ",".join("0" * 40) + "\n")
        result = run("plan", "large.toml", "--data", "one.csv")
        assert result.status == 0 or (result.status == 3 and "memory" in result.err)


def test_a_penalty_of_nodes_makes_the_tree_smaller(run) -> None:
    whole, small = run("plan", "bolts", "--json").json, run("plan", "bolts", "--node-penalty", "0.1", "--json").json
    assert small["method"] == "sparse"
    assert small["tree_nodes"] < whole["tree_nodes"]
    assert small["value"] < whole["value"] <= small["bound"]
    assert "the dense planner knows none" in run("plan", "bolts", "--method", "dense", "--node-penalty", "0.1").err
