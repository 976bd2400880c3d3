from __future__ import annotations

from collections.abc import Callable

import pytest

from proband.errors import ConflictError, StudyError
from proband.studies.stores import Entry, Store
from proband.studies.stores.entries import key_taken

MakeStore = Callable[[], Store]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "has 0 characters; it must have 1 to 500"),
        ("x" * 501, "has 501 characters; it must have 1 to 500"),
        ("nul\0", "has the NUL character"),
        ("half \ud83d", "is no valid Unicode"),
    ],
)
def test_texts_that_a_database_cannot_keep(make_store: MakeStore, name: str, message: str) -> None:
    """Every store refuses the same ones, so that a study can move from each to each."""
    store = make_store()
    with pytest.raises(StudyError, match=f"the name of a study {message}"):
        store.create(name, Entry(1, "key", "0", "{}"))
    store.create("bolts", Entry(1, "key", "0", "{}"))
    with pytest.raises(StudyError, match=f"an idempotency key {message}"):
        store.append("bolts", [Entry(2, name, "0", "{}")], 1)
    assert store.studies() == ["bolts"]
    assert store.length("bolts") == 1


def test_bodies_that_a_database_cannot_keep(make_store: MakeStore) -> None:
    store = make_store()
    store.create("bolts", Entry(1, "key", "0", "{}"))
    for body in ("nul\0", "half \ud83d"):
        with pytest.raises(StudyError, match="a body"):
            store.append("bolts", [Entry(2, "second", "0", body)], 1)
    assert store.length("bolts") == 1


def test_the_longest_name_and_key(make_store: MakeStore) -> None:
    store, longest = make_store(), "🔩" * 500
    store.create(longest, Entry(1, longest, "0", "{}"))
    assert store.studies() == [longest]
    assert store.find(longest, longest) is not None


def test_a_conflict_names_the_keys() -> None:
    error = key_taken("bolts", [Entry(n, key, "0", "{}") for n, key in enumerate("abcd", start=1)])
    assert isinstance(error, ConflictError)
    assert "one of the keys 'a', 'b', 'c', ...;" in str(error)
