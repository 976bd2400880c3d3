"""The operator's terminal: small ones, two stations, corrections."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from proband import Study
from proband.cli.study.menus import window
from proband.instances import bolts

STORE = "sqlite:///s.db"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A terminal of a size, and the command that runs on it; `screen` is what stands there, a line each."""

    def __init__(self, folder: Path, *, columns: int = 60, lines: int = 12, station: str = "line 1") -> None:
        self.columns, self.lines = columns, lines
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            arguments = ["study", "run", "s", "--store", STORE, "--station", station]
            environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
            for name in ("COLUMNS", "LINES"):  # would stand for the terminal's size
                environment.pop(name, None)
            os.execve(sys.executable, [sys.executable, "-m", "proband", *arguments], environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.seen = ""

    def expect(self, words: str, seconds: float = 60.0) -> str:
        """Read until the words appear in what was not read before, and nothing more comes."""
        end, new = time.monotonic() + seconds, ""
        while words not in ESCAPES.sub("", new).replace("\r\n", " ").replace("     ", " "):
            assert time.monotonic() < end, f"{words!r} did not appear in:\n{new}"
            new += self._read(0.2)
        while more := self._read(0.1):
            new += more
        self.seen += new
        return new

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def close(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def _read(self, seconds: float) -> str:
        try:
            ready = select.select([self.master], [], [], seconds)[0]
            return os.read(self.master, 65536).decode(errors="replace") if ready else ""
        except OSError:  # the program has left
            return ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Study.create(bolts().problem, name="s", store=STORE, agent="test-everything", replan="never").close()
    return tmp_path


def test_a_small_terminal_shows_whole_words_and_the_chosen_row(folder: Path) -> None:
    with Study.open("s", store=STORE, station="line 1", replan="never") as study:
        for n in range(17):
            study.arrive(subject=f"the bolt of the long name that was brought on pallet {n}")
    terminal = Terminal(folder)
    shown = terminal.expect("of 21)")
    assert "\x1b[7m  1  new subject" in shown
    for _ in range(3):  # up from the first row is the last one
        terminal.press("\x1b[A")
        shown = terminal.expect("of 21)")
        lines = shown.split("\x1b[J")[-1].split("\r\n")
        assert sum("\x1b[7m" in line for line in lines) >= 1
        assert len(lines) <= terminal.lines
        assert all(len(ESCAPES.sub("", line)) <= terminal.columns for line in lines)
    terminal.press("q")
    terminal.expect("Good bye")
    assert terminal.close() == 0
    for line in terminal.seen.split("\n"):
        text = ESCAPES.sub("", line).strip("\r")
        assert len(text) <= terminal.columns, text


def test_a_subject_of_another_station_is_not_taken_without_asking(folder: Path) -> None:
    with Study.open("s", store=STORE, station="line 2", replan="never") as study:
        study.arrive(subject="b")
    terminal = Terminal(folder, columns=100, lines=40)
    terminal.expect("leave")
    terminal.press("2")
    terminal.expect("take it over")
    terminal.press("1")
    terminal.expect("leave")
    with Study.open("s", store=STORE, replan="never") as study:
        assert study.subject("b").station == "line 2"
    terminal.press("2")
    terminal.expect("take it over")
    terminal.press("2")
    terminal.expect("leave it open")
    with Study.open("s", store=STORE, replan="never") as study:
        assert study.subject("b").station == "line 1"
    terminal.press("\x03")
    terminal.expect("stopped: everything that was told is recorded")
    assert terminal.close() == 130


def test_what_is_said_at_the_end_breaks_between_words(folder: Path) -> None:
    terminal = Terminal(folder)
    terminal.expect("leave")
    terminal.press("\x03")
    assert "an open\r\nsubject stays open" in terminal.expect("stays open")
    assert terminal.close() == 130


def by_numbers(folder: Path, lines: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "proband", "study", "run", "s", "--store", STORE, "--station", "line 1"],
        input=lines, cwd=folder, check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.stdout


def test_a_finished_subject_is_corrected_and_undo_knows_when_there_is_nothing(folder: Path) -> None:
    assert "there is nothing to correct" in by_numbers(folder, "2\nq\n")
    with Study.open("s", store=STORE, station="line 1", replan="never") as study:
        study.arrive(subject="a")
        study.tell("a", "bolt weight", "nominal")
        study.decide("a", "pass")
        study.arrive(subject="b")
    told = by_numbers(folder, "3\n1\n1\n1\nmisread\nq\n")  # correct, a, bolt weight, light
    assert "Corrected: a" in told
    with Study.open("s", store=STORE, replan="never") as study:
        assert study.subject("a").known["bolt weight"] == "light"
        assert study.subject("a").decision == "pass"
    told = by_numbers(folder, "2\n5\nq\nq\n")  # go on with b; undo
    assert "There is nothing to undo" in told
    assert told.count("Next test") == 1  # what has not changed would push the answer off a small terminal


def test_the_chosen_row_is_always_in_view() -> None:
    for heights in ([1] * 30, [3, 1, 2, 5, 1, 1, 4] * 4, [20, 20]):
        for room in (4, 10, 100):
            for place in range(len(heights)):
                start, stop = window(heights, place, room)
                assert start <= place < stop
                assert sum(heights[start:stop]) <= room or stop - start == 1


def test_ctrl_c_says_what_is_kept(tmp_path: Path) -> None:
    agents = ["--agents", "explore-then-commit"]  # all is loaded with the first cell: loading swallows signals
    arguments = ["experiment", "run", "easy", "--horizon", "2^18", "--replications", "500", *agents]
    program = (  # in the background Ctrl-C is ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from proband.cli import main; main({arguments})"
    )
    run = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    cells = tmp_path / "out" / "experiments" / "easy" / "cells"
    end = time.monotonic() + 120
    try:
        while not cells.exists() or not any(cells.iterdir()):
            assert run.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        told = run.communicate(timeout=60)[1]
    finally:
        run.kill()
    assert run.returncode == 130
    assert re.search(r"stopped: \d+ of \d+ cells are finished and kept in out/experiments/easy", told), told


def test_hints_keep_the_options_that_were_given(run) -> None:
    made = run("study", "create", "bolts", "--name", "my bolts", "--store", "sqlite:///own.db")
    assert made.out.rstrip().endswith("proband study run 'my bolts' --store sqlite:///own.db")
    assert "study create PROBLEM --store sqlite:///none.db" in run("study", "list", "--store", "sqlite:///none.db").out
    refused = run("study", "show", "yours", "--store", "sqlite:///own.db")
    assert "proband study list --store sqlite:///own.db shows them" in refused.err
    example = run("example", "bolts", "--out", "my files", "--records", "20")
    assert "proband plan 'my files/bolts.toml' --data 'my files/bolts-records.csv'" in example.out


def test_help_shows_no_types_of_python(run) -> None:
    for command in (["plan"], ["study", "take"], []):
        shown = run(*command, "--help").out
        assert "<bool>" not in shown
        assert "<str>" not in shown


def test_ctrl_c_before_a_command_is_found(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("proband.cli._run", pressed)
    stopped = run("plan", "bolts")
    assert (stopped.status, stopped.err) == (130, "\nstopped: nothing was written\n")
