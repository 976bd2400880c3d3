"""No command shows a password: whatever the address, whatever goes wrong, and wherever it was given by mistake."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import typer
from tests.canary import CANARY, betrayed, spellings
from tests.cli.conftest import Run
from tests.postgres import Server, running_server

from proband.cli.app import app
from proband.studies.stores.postgresql import connections

STUDY = typer.main.get_command(app).commands["study"].commands  # type: ignore[attr-defined]
GIVEN = {
    "PROBLEM": "bolts", "STUDY": "bolts", "SUBJECT": "bolt 17", "DECISION": "pass", "TEST=OUTCOME": "bolt weight=light",
    "TEST=OUTCOME...": "bolt weight=light", "FILE": "bolts-records.csv", "FROM": "sqlite:///here.db",
}  # fmt: skip
SOME = spellings()[::14]
"""For what takes a while; every spelling goes through the library in tests/studies/stores/test_secrets.py."""

PASSWORD = "#@/ ?%&='é:".join(CANARY)


def command(name: str, url: str) -> list[str]:
    """Return a command of studies with all that it needs, and a store."""
    words = ["study", name]
    for parameter in STUDY[name].params:
        if parameter.name == "store":
            words += ["--store", url]
        elif parameter.name == "reason":
            words += ["--reason", "a test"]
        elif not parameter.opts[0].startswith("-"):
            given = parameter.metavar.strip("[]{}")
            words.append(url if given == "TO" else GIVEN[given])
    return words


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_REACH", 0.0)
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n\nq\n"))


@pytest.mark.parametrize("name", STUDY)
def test_no_command_betrays_a_password_however_it_is_spelt(name: str, run: Run, files: None) -> None:
    for url in spellings()[::3] if name == "list" else SOME:
        result = run(*command(name, url))
        assert result.status in (2, 6), (result, url)
        assert not betrayed(result.out + result.err), url


@pytest.mark.parametrize("name", STUDY)
def test_an_address_in_the_environment_is_not_betrayed_by_help(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBAND_STORE", spellings()[0])
    result = run("study", name, "--help")
    assert result.status == 0
    assert not betrayed(result.out + result.err)


@pytest.mark.parametrize(
    "words",
    [
        ["study", "list", "{}"],
        ["study", "show", "{}"],
        ["study", "open", "{}"],
        ["study", "show", "bolts", "{}"],
        ["study", "show", "bolts", "--stroe", "{}"],
        ["study", "show", "bolts", "--stroe={}"],
        ["study", "create", "{}"],
        ["study", "verify", "bolts", "--length", "{}"],
        ["study", "import", "bolts", "{}"],
        ["study", "tell", "bolts", "x", "{}"],
        ["plan", "{}"],
        ["{}"],
    ],
)
def test_an_address_in_the_wrong_place_is_not_betrayed(words: list[str], run: Run) -> None:
    for url in spellings()[::3] if len(words) < 3 else SOME:
        if "://" in url or "assword" in url:
            result = run(*(word.format(url.replace("{", "")) for word in words))
            assert result.status in (1, 2), (result, url)
            assert not betrayed(result.out + result.err), url


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server that asks the user qa for the password."""
    with running_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE qa LOGIN PASSWORD {psycopg.sql.quote(PASSWORD)}")
            connection.execute("CREATE DATABASE bolts OWNER qa")
            (server.data / "pg_hba.conf").write_text("local all qa scram-sha-256\nlocal all all trust\n")
            connection.execute("SELECT pg_reload_conf()")
        yield server


def test_a_whole_study_behind_a_password(guarded: Server, run: Run, tmp_path: Path, files: None) -> None:
    url = f"postgresql://qa:{quote(PASSWORD, safe='')}@{quote(str(guarded.folder), safe='')}/bolts"
    run("study", "create", "bolts", "--name", "here", "--store", "sqlite:///here.db")
    session = [
        ("study", "create", "bolts", "--name", "bolts", "--agent", "test-everything"),
        ("study", "list"),
        ("study", "import", "bolts", "bolts-records.csv"),
        ("study", "arrive", "bolts", "--subject", "bolt 17"),
        ("study", "ask", "bolts", "bolt 17"),
        ("study", "tell", "bolts", "bolt 17", "bolt weight=light"),
        ("study", "correct", "bolts", "bolt 17", "bolt weight=nominal", "--reason", "misread"),
        ("study", "take", "bolts", "bolt 17", "--at-once"),
        ("study", "decide", "bolts", "bolt 17", "pass"),
        ("study", "reveal", "bolts", "bolt 17", "ultrasonic=crack"),
        ("study", "void", "bolts", "bolt 17", "--reason", "dropped"),
        ("study", "restart", "bolts", "--reason", "new supplier"),
        ("study", "show", "bolts"),
        ("study", "verify", "bolts", "--replay"),
        ("study", "export", "bolts", "bolts.jsonl"),
        ("study", "export", "bolts", "bolts.csv"),
        ("study", "report", "bolts"),
        ("study", "run", "bolts"),
        ("study", "copy", "sqlite:///here.db"),
        ("study", "show", "nuts"),
        ("study", "create", "bolts", "--name", "bolts"),
    ]
    assert {words[1] for words in session} == set(STUDY)
    for words in session:
        result = run(*words, *([url, "--study", "here"] if "copy" in words else ["--store", url]))
        assert result.status == (0 if "nuts" not in words and words != session[-1] else result.status), (words, result)
        assert not betrayed(result.out + result.err)
    wrong = run("study", "list", "--store", url.replace("@", "x@"))
    assert "the password of this user is wrong" in wrong.err
    assert not betrayed(wrong.err)
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or not betrayed(file.read_text("utf-8", "replace")), file
