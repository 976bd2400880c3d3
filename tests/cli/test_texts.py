"""What commands print acts on nothing: not on the terminal, not as markup, whatever is in an older log or a file."""

from __future__ import annotations

import ast
import dataclasses
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.studies.chain import forged

import proband.cli
from proband import Problem, Study, Test
from proband.rewards import Table
from proband.studies.stores import SQLiteStore
from proband.texts import escaped

MARKUP = "[red]x[/red] [link=http://a]y[/link] :smile:"
ESCAPE = "\x1b]0;title\x07\x9b2J\u202e\u200b\x7f"


def problem(name: str) -> Problem:
    return Problem(
        [Test(name, 0.1, outcomes=(f"{name}0", f"{name}1")), Test("b", 0.2)],
        [name, f"no {name}"],
        Table([name], [[1.0, 0.0], [0.0, 1.0]]),
        name=name,
        unit=name,
    )


def test_markup_in_names_is_text(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n\n1\nq\nq\n"))
    problem(MARKUP).save("odd.toml")
    Path("odd.csv").write_text(f"{MARKUP},b\n{MARKUP}0,1\n{MARKUP}1,0\n")
    for words in (
        ["plan", "odd.toml", "--data", "odd.csv", "--out", "policy.json"],
        ["next", "policy.json"],
        ["evaluate", "odd.toml", "everything", "--data", "odd.csv"],
        ["study", "create", "odd.toml", "--name", MARKUP, "--agent", "test-everything"],
        ["study", "list"],
        ["study", "arrive", MARKUP, "--subject", MARKUP],
        ["study", "show", MARKUP],
        ["study", "ask", MARKUP, MARKUP],
        ["study", "tell", MARKUP, MARKUP, f"{MARKUP}={MARKUP}1", "--station", MARKUP, "--actor", MARKUP],
        ["study", "correct", MARKUP, MARKUP, f"{MARKUP}={MARKUP}0", "--reason", MARKUP],
        ["study", "decide", MARKUP, MARKUP],
        ["study", "run", MARKUP],
        ["study", "show", f"{MARKUP}?"],
        ["study", "export", MARKUP, f"{MARKUP.replace('/', '')}.jsonl"],
        [MARKUP],
    ):
        result = run(*words)
        assert "\x1b" not in result.out + result.err
        shown = "".join((result.out + result.err).replace("│", "").split())
        assert "".join(MARKUP.split()) in shown or "export" in words, (words, result)


def texts(content: Any) -> Iterator[str]:
    """Yield the texts in a structure."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from texts(part)


def test_an_older_log_is_shown_escaped(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBAND_STORE", "sqlite:///bolts.db")
    with Study.create(problem("a"), name="bolts", agent="test-everything", store="sqlite:///new.db") as study:
        subject = study.arrive(subject="one")
        study.tell(subject, "a", "a0")
        study.arrive(subject="two")
        entries = study.store.read("bolts")
    odd = forged(entries, 2, lambda event: dataclasses.replace(event, subject=f"one{ESCAPE}\nline"))
    odd = forged(odd, 3, lambda event: dataclasses.replace(event, subject=f"one{ESCAPE}\nline", station=ESCAPE))
    store = SQLiteStore("bolts.db")
    store.create("bolts", odd[0])
    store.append("bolts", odd[1:], 1)
    store.create(f"study{ESCAPE}", odd[0])
    store.close()
    monkeypatch.setattr("sys.stdin", io.StringIO("2\nq\nq\n"))
    name = f"one{ESCAPE}\nline"
    for words in (
        ["list"],
        ["list", "--json"],
        ["show", "bolts"],
        ["show", "bolts", "--json"],
        ["ask", "bolts", name],
        ["ask", "bolts", name, "--json"],
        ["ask", "bolts", f"{name}?"],
        ["take", "bolts", name, "--at-once"],
        ["correct", "bolts", name, "a=a1", "--reason", "misread"],
        ["run", "bolts"],
        ["decide", "bolts", name, "a"],
    ):
        result = run("study", *words)
        told = result.out + result.err
        assert escaped(told, keep="\n") == told, (words, told)
        assert r"\x1b]0;title" in told or r"\u001b]0;title" in told, (words, told)
        if "--json" in words:
            assert ESCAPE in "".join(texts(result.json))


def test_a_path_that_acts_is_shown_escaped(run: Run) -> None:
    path = f"bolts{ESCAPE}.toml"
    problem("a").save(path)
    shutil.copy(path, "copy.toml")
    for words in (
        ["plan", path],
        ["plan", f"{path}?"],
        ["plan", f"{path}?.toml"],
        ["plan", "copy.toml", "--data", path],
    ):
        result = run(*words)
        told = result.out + result.err
        assert result.status == 2
        assert escaped(told, keep="\n") == told


def test_commands_print_by_one_module() -> None:
    """Whoever prints past it would have to escape by himself."""
    allowed = {
        "printing.py": {"echo", "Console", "print"},
        "__init__.py": {"print"},  # mistakes, escaped there
        "menus.py": {"echo"},  # moves the cursor itself
    }
    for path in sorted(Path(proband.cli.__file__).parent.rglob("*.py")):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
        assert names & {"echo", "secho", "print", "Console"} <= allowed.get(path.name, set()), path
