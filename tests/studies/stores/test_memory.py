from __future__ import annotations

from collections.abc import Iterator

from proband.studies.stores import Entry, MemoryStore


class Watched(dict[str, Entry]):
    """Counts how many keys somebody goes through."""

    seen = 0

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self.seen += 1
            yield key


def test_an_append_does_not_go_through_the_log() -> None:
    store = MemoryStore()
    store.create("bolts", Entry(1, "key 1", "0", "{}"))
    store.append("bolts", [Entry(n, f"key {n}", "0", "{}") for n in range(2, 1001)], 1)
    log = store._logs["bolts"]
    log.by_key = watched = Watched(log.by_key)
    watched.seen = 0
    store.append("bolts", [Entry(1001, "key 1001", "0", "{}")], 1000)
    assert store.length("bolts") == 1001
    assert watched.seen == 0
