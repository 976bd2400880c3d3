from __future__ import annotations

import json
import os
import pty
import re
import select
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from proband import Study, plan
from proband.cli.app import app
from proband.figures.study import MOST_NODES, study_report
from proband.instances import paper_example
from proband.studies.drift import drift

DOCUMENT = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands["study"].commands  # type: ignore[attr-defined]


@pytest.fixture
def study(run, monkeypatch: pytest.MonkeyPatch):
    """A study of the bolts, in a file of its own."""
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///bolts.db")
    assert run("study", "create", "bolts", "--name", "bolts", "--agent", "test-everything").status == 0
    return lambda *arguments: run("study", *arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_subcommand_is_documented(name: str) -> None:
    _, found, rest = DOCUMENT.partition(f"### `proband study {name}`\n")
    assert found, f"docs/command-line.md has no section on proband study {name}"
    text = rest.partition("\n#")[0]
    for parameter in COMMANDS[name].params:
        names = parameter.opts if parameter.opts[0].startswith("-") else [parameter.metavar.strip("[]{}")]
        for option in names:
            if option not in ("--help", "-h"):
                assert option in text, f"docs/command-line.md does not mention {option} of proband study {name}"


def treat(study, name: str, weight: str = "nominal") -> None:
    assert study("arrive", "bolts", "--subject", name).status == 0
    assert study("tell", "bolts", name, f"bolt weight={weight}").status == 0
    assert study("decide", "bolts", name, "pass").status == 0


def test_a_subject_from_arrival_to_decision(study) -> None:
    came = study("arrive", "bolts", "--subject", "bolt 17", "--json").json
    assert came["advice"]["action"] == "thread pitch"
    told = study("tell", "bolts", "bolt 17", "thread pitch=true", "bolt weight=light", "--json").json
    assert told["subject"]["known"] == {"thread pitch": "true", "bolt weight": "light"}
    assert told["subject"]["deviations"] == 1
    asked = study("ask", "bolts", "bolt 17")
    assert "Next test: bolt length for 0.1 USD" in asked.out
    assert "0.2 USD so far" in asked.out
    assert study("decide", "bolts", "bolt 17", "fail").out == "bolt 17: fail, for 0.2 USD of tests\n"
    shown = study("show", "bolts")
    assert "1 finished, 0 open" in shown.out
    assert re.search(r"against advice +tests [0-9]+ · decisions [0-9]+\n", shown.out)
    content = study("show", "bolts", "--json").json
    assert content["decisions"] == {"fail": 1}
    assert content["drift"]["alarm"] is False


def test_what_an_agent_needs_can_be_told(run) -> None:
    missing = run("study", "create", "paper-entropy", "--name", "e", "--agent", "elimination")
    assert missing.status == 2
    assert "--condition-number" in missing.err
    told = ("--agent", "elimination", "--condition-number", "40")
    assert run("study", "create", "paper-entropy", "--name", "e", *told, "--json").json["agent"] == "elimination"
    assert run("study", "create", "bolts", "--name", "b", "--horizon", "500").status == 0
    with Study.open("e", replan="never") as sites, Study.open("b", replan="never") as bolts:
        assert next(sites.events()).data["condition_number"] == 40.0
        assert next(bolts.events()).data["horizon"] == 500
    wrong = run(
        "study", "create", "paper-entropy", "--name", "f", "--agent", "elimination", "--condition-number", "0.5"
    )
    assert wrong.status == 2
    assert "1 or more" in wrong.err


def test_amending(study) -> None:
    treat(study, "a")
    treat(study, "b")
    assert "light" in study("correct", "bolts", "a", "bolt weight=light", "--reason", "misread").out
    assert "voided" in study("void", "bolts", "b", "--reason", "dropped").out
    assert study("reveal", "bolts", "a", "ultrasonic=crack", "--json").json["subject"]["known"]["ultrasonic"] == "crack"
    assert study("restart", "bolts", "--reason", "new supplier").status == 0
    content = study("show", "bolts", "--json").json
    assert (content["corrections"], content["voided"], content["revelations"]) == (1, 1, 1)
    assert study("verify", "bolts", "--replay", "--json").json["advice_that_differs"] == 0


def test_keys_make_commands_repeatable(study) -> None:
    first = study("arrive", "bolts", "--key", "k1", "--json").json
    again = study("arrive", "bolts", "--key", "k1", "--json").json
    assert first["subject"]["name"] == again["subject"]["name"]
    assert study("show", "bolts", "--json").json["open"] == 1
    other = study("arrive", "bolts", "--key", "k1", "--subject", "else")
    assert other.status == 5


def test_a_station_that_left_is_taken_over(study) -> None:
    study("arrive", "bolts", "--subject", "a", "--station", "line 1")
    held = study("tell", "bolts", "a", "bolt weight=light", "--station", "line 2")
    assert held.status == 5
    assert "line 1" in held.err
    assert study("take", "bolts", "a", "--station", "line 2").status == 5
    assert study("take", "bolts", "a", "--at-once", "--station", "line 2").status == 0
    assert study("tell", "bolts", "a", "bolt weight=light", "--station", "line 2").status == 0


def test_spreadsheets_in_and_out(study, run, tmp_path: Path) -> None:
    run("example", "bolts", "--records", "50")
    added, nothing = ({"subjects_added": n, "subjects_recognised": 50 - n} for n in (50, 0))
    assert study("import", "bolts", "bolts-records.csv", "--json").json == added
    assert study("import", "bolts", "bolts-records.csv", "--json").json == nothing
    treat(study, "a")
    assert study("export", "bolts", "subjects.csv", "--json").json["subjects"] == 1
    assert "bolt weight" in Path("subjects.csv").read_text().splitlines()[0]
    whole = study("export", "bolts", "bolts.jsonl", "--json").json
    copied = study("import", "bolts", "bolts.jsonl", "--store", "sqlite:///copy.db", "--json").json
    assert copied == {"events": whole["events"], "hash": whole["hash"]}
    assert study("import", "bolts", "bolts.jsonl", "--store", "sqlite:///copy.db", "--json").json == copied
    assert study("verify", "bolts", "--store", "sqlite:///copy.db", "--export", "bolts.jsonl").status == 0


def test_a_copy_under_another_name_is_refused_before_anything_is_written(study) -> None:
    treat(study, "a")
    assert study("export", "bolts", "all.jsonl").status == 0
    refused = study("import", "copy", "all.jsonl", "--store", "sqlite:///copy.db")
    assert refused.status == 2
    assert "it holds the study 'bolts', not 'copy'" in refused.err
    assert not Path("copy.db").exists()
    remedy = refused.err.partition("write proband ")[2].partition(",")[0].split()
    assert remedy == ["study", "import", "bolts", "all.jsonl"]
    assert study(*remedy[1:], "--store", "sqlite:///copy.db").status == 0
    assert "there is no study" not in refused.err


def test_studies_are_copied_and_verified(study, run) -> None:
    treat(study, "a")
    run("study", "create", "gout", "--name", "gout", "--agent", "test-everything")
    looked = study("verify", "bolts", "--json").json
    one = study("copy", "sqlite:///bolts.db", "sqlite:///one.db", "--study", "bolts", "--json").json
    assert one == {"copied": [{"study": "bolts", "events": looked["events"], "hash": looked["hash"]}]}
    both = study("copy", "sqlite:///bolts.db", "sqlite:///both.db")
    assert both.status == 0
    assert looked["hash"] in "".join(both.out.split())
    assert study("verify", "bolts", "--store", "sqlite:///both.db", "--hash", looked["hash"]).status == 0
    assert study("verify", "gout", "--store", "sqlite:///both.db").status == 0
    treat(study, "b")
    assert study("copy", "sqlite:///bolts.db", "sqlite:///both.db").status == 0
    treat(lambda *words: study(*words, "--store", "sqlite:///both.db"), "c")
    result = study("copy", "sqlite:///bolts.db", "sqlite:///both.db")
    assert result.status == 5
    assert "gone on there by itself" in result.err
    nothing = study("copy", "sqlite:///nothing.db", "sqlite:///both.db")
    assert nothing.status == 2
    assert "there is no study in sqlite:///nothing.db" in nothing.err


def test_a_hash_alone_is_not_ignored(study) -> None:
    looked = study("verify", "bolts", "--json").json
    treat(study, "a")
    assert study("verify", "bolts", "--hash", looked["hash"]).status == 0
    result = study("verify", "bolts", "--hash", "0" * 64)
    assert result.status == 5
    assert "none of the 4 entries has the hash 0000" in result.err


def test_tampering_is_found(study) -> None:
    treat(study, "a")
    looked = study("verify", "bolts", "--json").json
    with sqlite3.connect("bolts.db") as database:
        [table] = [t for (t,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'") if "entr" in t]
        database.execute(f"UPDATE {table} SET body = replace(body, 'nominal', 'light') WHERE number = 3")
    result = study("verify", "bolts")
    assert result.status == 5
    assert "3" in result.err
    assert looked["events"] == 4


def test_a_report_is_one_file(study, run) -> None:
    run("example", "bolts", "--records", "200")
    study("import", "bolts", "bolts-records.csv")
    treat(study, "a")
    assert study("report", "bolts", "--out", "r.html").status == 0
    text = Path("r.html").read_text()
    assert "<svg" in text
    assert "Cost per subject over time" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    assert study("report", "bolts", "--out", "r.pdf").status == 2


@pytest.mark.parametrize("command", [("show",), ("show", "--json"), ("report",)])
def test_drift_is_worked_out_once(study, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    treat(study, "a")
    looks = []
    monkeypatch.setattr(
        "proband.studies.drift.drift", lambda *given, **options: looks.append(1) or drift(*given, **options)
    )
    assert study(command[0], "bolts", *command[1:]).status == 0
    assert len(looks) == 1


def test_a_tree_that_is_too_large_for_the_report_comes_with_a_way_to_see_it() -> None:
    instance = paper_example()
    tree = plan(instance.problem, instance.distribution).tree(depth=6)
    assert sum(1 for _ in tree.nodes()) > MOST_NODES
    with Study.create(instance.problem, store="memory:") as live:
        text = study_report(live.summary(), tree=tree)
    assert "<code>proband.Study.tree</code> returns it, cut" in text
    assert "study show" not in text


def test_outcomes_are_told_all_or_none(study) -> None:
    study("arrive", "bolts", "--subject", "a")
    wrong = study("tell", "bolts", "a", "bolt weight=light", "bolt length=huge", "--key", "k")
    assert (wrong.status, "huge" in wrong.err) == (2, True)
    for _ in range(2):  # the corrected command goes through, and once more under its key
        told = study("tell", "bolts", "a", "bolt weight=light", "bolt length=off", "--key", "k", "--json")
        assert told.json["subject"]["known"] == {"bolt weight": "light", "bolt length": "off"}
    assert study("show", "bolts", "--json").json["events"] == 4


@pytest.mark.parametrize(
    ("arguments", "status", "fragment"),
    [
        (("show", "nuts"), 2, "nuts"),
        (("ask", "bolts", "nobody"), 2, "nobody"),
        (("tell", "bolts", "a", "bolt weight=huge"), 2, "light, nominal, heavy"),
        (("tell", "bolts", "a", "bolt weight"), 2, "length=ok"),
        (("decide", "bolts", "a", "melt"), 2, "melt"),
        (("create", "bolts", "--name", "bolts"), 5, "bolts"),
        (("create", "bolts", "--name", "x", "--agent", "oracle"), 2, "oracle"),
        (("create", "bolts", "--name", "x", "--agent", "explore-then-commit"), 2, "horizon"),
        (("correct", "bolts", "a", "bolt weight=light", "--reason", " "), 2, "reason"),
        (("list", "--store", "mongo://x"), 6, "mongo"),
        (("list", "--store", "sqlite:///no/such/folder/x.db"), 6, "folder"),
        (("import", "bolts", "nowhere.csv"), 2, "nowhere.csv"),
    ],
)
def test_mistakes(study, arguments: tuple[str, ...], status: int, fragment: str) -> None:
    study("arrive", "bolts", "--subject", "a")
    result = study(*arguments)
    assert result.status == status, result.err
    assert fragment in result.err


def test_the_terminal_by_numbers(study) -> None:
    keys = "1\nbolt 1\n1\n2\n6\n7\nq\n"  # new, its name, true, off, undo, leave it open, leave
    done = subprocess.run(
        [sys.executable, "-c", "from proband.cli import main; main(['study', 'run', 'bolts'])"],
        input=keys, capture_output=True, text=True, env=os.environ, timeout=120, check=True,
    )  # fmt: skip
    assert "Next test: thread pitch" in done.stdout
    assert "Everything is recorded" in done.stdout
    kinds = [json.loads(line)["kind"] for line in exported(study)[1:]]
    assert kinds[:5] == ["created", "arrived", "observed", "observed", "corrected"]


def exported(study) -> list[str]:
    study("export", "bolts", "bolts.jsonl")
    return Path("bolts.jsonl").read_text().splitlines()


def test_the_terminal_by_arrow_keys(study) -> None:
    script = "from proband.cli import main; main(['study', 'run', 'bolts', '--station', 'line 1'])"
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-c", script])
    seen = expect(terminal, "new subject")
    os.write(terminal, b"\r")
    seen += expect(terminal, "Name of the subject")
    os.write(terminal, b"bolt 9\n")
    seen += expect(terminal, "leave it open")
    os.write(terminal, b"\x1b[B")  # down: from true to off
    time.sleep(0.3)
    os.write(terminal, b"\r")
    seen += expect(terminal, "bolt length: nominal")
    os.write(terminal, b"q")
    seen += expect(terminal, "new subject")
    os.write(terminal, b"q")
    seen += expect(terminal, "Good bye")
    os.waitpid(process, 0)
    events = [json.loads(line) for line in exported(study)[1:]]
    assert events[-1]["data"]["outcome"] == "off"
    assert events[-1]["station"] == "line 1"


def expect(terminal: int, words: str, seconds: float = 60.0) -> str:
    """Read from the terminal until the words appear."""
    seen, end = "", time.monotonic() + seconds
    while words not in seen:
        assert time.monotonic() < end, f"{words!r} did not appear in:\n{seen}"
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen
