from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.canary import betrayed, spellings

from proband import Problem, Test
from proband.errors import ProbandError, ProblemError, StudyError
from proband.rewards import Score, Table
from proband.texts import cell_of, check_plain, escaped, quoted, text_of, without_passwords

ACTING = [
    *map(chr, range(32)), *map(chr, range(127, 160)), "\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u061c",
    "\u200b", "\u2060", "\ufeff", "\u00ad", "\u2028", "\u2029", "\U000e0041", "\ud800", "\u3164",
]  # fmt: skip


@pytest.mark.parametrize("character", ACTING)
def test_no_name_has_a_character_that_acts(character: str) -> None:
    name = f"a{character}b"
    attempts = [
        lambda: Test(name, 1.0),
        lambda: Test("t", 1.0, outcomes=("ok", name)),
        lambda: Test("t", 1.0, outcomes=None, unit=name),
        lambda: Test("t", 1.0, group=name, group_cost=0.5),
        lambda: Score(name, {"t": 1.0}),
        lambda: Score("s", {"t": 1.0}, unit=name),
        lambda: Problem([Test("t", 1.0)], ["pass", name], Table(["t"], [[1, 0], [0, 1]])),
        lambda: Problem([Test("t", 1.0)], ["pass", "fail"], Table(["t"], [[1, 0], [0, 1]]), name=name),
        lambda: Problem([Test("t", 1.0)], ["pass", "fail"], Table(["t"], [[1, 0], [0, 1]]), unit=name),
    ]
    for attempt in attempts:
        with pytest.raises(
            ProblemError, match=rf"with the character U\+{ord(character):04X}; .*leave them out$"
        ) as caught:
            attempt()
        assert escaped(str(caught.value)) == str(caught.value)


def test_names_of_all_tongues_are_plain() -> None:
    for name in (
        "Prüfmaß ü̈",
        "硬さ　試験",
        "Härte (HV 10)",
        "твёрдость",
        "קשיות",
        "صلابة",
        "🔩 M8×1,25",
        "½″ · 5 µm",
        "1 000 €",
    ):
        assert check_plain("a name", name, ProblemError) == name == escaped(name)
    with pytest.raises(StudyError, match="the unit is 5; it must be a text"):
        check_plain("the unit", 5, StudyError)  # type: ignore[arg-type]


@given(st.text())
def test_what_is_escaped_does_not_act(text: str) -> None:
    shown = escaped(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Zl", "Zp", "Cs"}
    check_plain("a text", shown, ProbandError)
    assert escaped(text, keep="\n").count("\n") == text.count("\n")
    assert len(quoted(text)) < 1000


@given(st.text("'=+-@\t \r\n1.a＝", max_size=6))
def test_cells_come_back_and_begin_no_formula(text: str) -> None:
    assert text_of(cell_of(text)) == text
    cell = cell_of(text)
    assert cell.strip()[:1] not in ("=", "@", "＝")
    assert cell.strip()[:1] not in ("+", "-") or not set(cell) - set("+-") or float(cell) is not None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no study 'postgresql://qa:se@cr/et@db:5432/x' in y", "no study 'postgresql://qa:...@db:5432/x' in y"),
        ("(POSTGRES://qa:secret)", "(POSTGRES://qa:..."),
        ("host=a password = 'se cret' user=b", "host=a password =..."),
        ("?SSLPASSWORD=secret&x=1", "?SSLPASSWORD=..."),
        ("postgresql://qa@db:5432/x: no answer", "postgresql://qa@db:5432/x: no answer"),
        ("postgresql://db:5432/x: no answer", "postgresql://db:5432/x: no answer"),
        ("sqlite:///bolts.db: it is damaged", "sqlite:///bolts.db: it is damaged"),
        ("write postgresql://user@host:port/database", "write postgresql://user@host:port/database"),
    ],
)
def test_passwords_of_misplaced_addresses(text: str, shown: str) -> None:
    assert without_passwords(text) == shown


@pytest.mark.parametrize("url", spellings())
def test_an_address_in_a_message_shows_no_password(url: str) -> None:
    if "://" in url or "assw" in url or "pwd" in url:
        for message in (f"there is no study {url!r} in sqlite:///proband.db", f"Got unexpected argument ({url})"):
            assert not betrayed(without_passwords(message))
