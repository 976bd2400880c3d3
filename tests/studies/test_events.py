from __future__ import annotations

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proband.errors import StudyError, TamperedError
from proband.studies.events.arrived import coin
from proband.studies.ledger.chain import NO_HASH, Event, as_seconds, as_time, canonical, linked, seal, unseal
from proband.studies.stores import Entry

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcé", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def event(number: int = 1, previous: str = NO_HASH, **data: object) -> Event:
    return Event(number, "restarted", None, data, as_time(number), "QA", "line 1", "0.1.0", f"key {number}", previous)


def chain(n: int = 5) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(1, n + 1):
        entries.append(seal(event(number, entries[-1].hash if entries else NO_HASH, reason="é")))
    return entries


@given(st.dictionaries(st.text("ab", max_size=3), VALUES, max_size=4))
def test_an_event_comes_back_from_its_entry(data: dict[str, object]) -> None:
    entry = seal(Event(1, "restarted", None, data, as_time(1), "QA", "line 1", "0.1.0", "key 1"))
    back = unseal(entry)
    assert seal(back) == entry
    assert back.data == data


def test_the_hash_is_that_of_the_body_and_the_body_canonical() -> None:
    [first, second] = chain(2)
    assert first.hash == sha256(first.body.encode()).hexdigest()
    assert json.loads(second.body)["previous"] == first.hash
    assert json.loads(first.body)["previous"] == "0" * 64
    assert first.body == json.dumps(json.loads(first.body), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert "\n" not in first.body
    assert "é" in first.body


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object()])
def test_what_json_cannot_hold(value: object) -> None:
    with pytest.raises(StudyError, match="cannot be recorded"):
        canonical({"x": value})


def test_a_whole_chain_is_linked() -> None:
    entries = chain()
    assert [found.number for _, found in linked(entries)] == [1, 2, 3, 4, 5]
    assert len(list(linked(entries[2:], after=2, previous=entries[1].hash))) == 3


def test_whatever_is_altered_reordered_or_dropped_is_named() -> None:
    entries = chain()
    altered = entries[2]._replace(body=entries[2].body.replace("é", "e"))
    forged = altered._replace(hash=sha256(altered.body.encode()).hexdigest())
    moved = entries[3]._replace(number=3)
    other_key = entries[2]._replace(key="key 9")
    no_event = Entry(3, "key 3", sha256(b"[1]").hexdigest(), "[1]")
    no_json = Entry(3, "key 3", sha256(b"{").hexdigest(), "{")
    cases = {
        "entry 3 was altered: its hash": [*entries[:2], altered, *entries[3:]],
        "entry 3 was altered or replaced: entry 4 follows": [*entries[:2], forged, *entries[3:]],
        "entry 3 is missing: entry 4": [*entries[:2], *entries[3:]],
        "entry 2 is missing: entry 3": [entries[0], entries[2], entries[1], *entries[3:]],
        "entry 3 was altered or moved: it calls itself 4": [*entries[:2], moved, *entries[3:]],
        "entry 3 was altered or moved: it calls itself 3, key 'key 3'": [*entries[:2], other_key],
        "entry 3 is no event": [*entries[:2], no_event],
        "entry 3 is no event .*Expecting": [*entries[:2], no_json],
        "entry 1 is missing": entries[1:],
    }
    for message, log in cases.items():
        with pytest.raises(TamperedError, match=message):
            list(linked(log))
    with pytest.raises(TamperedError, match="entry 1 is not the first of its log"):
        list(linked([seal(event(1, "a" * 64))]))


@given(st.floats(0, 4e9))
def test_times_come_back_to_the_microsecond_and_sort_like_seconds(seconds: float) -> None:
    assert as_seconds(as_time(seconds)) == pytest.approx(seconds, abs=1e-6)
    assert as_time(seconds) <= as_time(seconds + 1e-5)
    assert len(as_time(seconds)) == 27


def test_coins_do_not_change_between_versions() -> None:
    assert [coin(0, 1), coin(0, 2), coin(12345, 1), coin(2**70, 10**6)] == COINS


COINS = [0.6719626023983837, 0.6411262320864598, 0.8113592607459966, 0.09703034678138056]
