"""What a store is: studies as append-only logs of opaque entries, durable before acknowledged.

A store knows nothing of events: an entry is a number, an idempotency key, a hash and a text. Correctness rests on two
unique keys, (study, number) and (study, key): whoever loses a race gets :class:`~proband.errors.ConflictError`, reads
what the others wrote, and tries again. :meth:`Store.exclusive` lets writers queue instead of racing; it is a courtesy
that throughput rests on, not correctness.

Every method but `create` and `studies` raises :class:`~proband.errors.UnknownStudyError` for a study that does not
exist, and every one raises :class:`~proband.errors.StoreError` when the store cannot be read or written: then nothing
was acknowledged, though a write may have been recorded, which its key will show. A store serves any number of threads,
and children that are forked.

Conformance is checked by :func:`proband.testing.check_store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable


class Entry(NamedTuple):
    """One line of a log.

    Attributes
    ----------
    number : int
        1, 2, ... without gaps.
    key : str
        Idempotency key, unique within the study.
    hash : str
        Of the body, in hexadecimal digits.
    body : str
        What happened, as canonical JSON.
    """

    number: int
    key: str
    hash: str
    body: str


@runtime_checkable
class Store(Protocol):
    """Logs of studies, by name."""

    @property
    def url(self) -> str:
        """How this store is opened again, without secrets."""
        ...

    def create(self, study: str, first: Entry, rest: Iterable[Entry] = ()) -> None:
        """Begin a log with its first entry, or with more of them, all or none; they are durable when this returns.

        Parameters
        ----------
        study : str
        first : Entry
        rest : iterable of Entry
            It may be long, and may be gone through more than once.

        Raises
        ------
        StudyExistsError
            If there is such a study.
        """
        ...

    def studies(self) -> list[str]:
        """Return the names of all studies, sorted."""
        ...

    def length(self, study: str) -> int:
        """Return the number of entries of a study; raise :class:`~proband.errors.UnknownStudyError` if unknown."""
        ...

    def read(self, study: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """Return the entries numbered after + 1, after + 2, ..., at most `limit` of them."""
        ...

    def find(self, study: str, key: str) -> Entry | None:
        """Return the entry with an idempotency key."""
        ...

    def append(self, study: str, entries: Sequence[Entry], expected: int) -> None:
        """Add entries numbered expected + 1, ... all or none; they are durable when this returns.

        Raises
        ------
        ConflictError
            If the log has not exactly `expected` entries, or has one of the keys.
        """
        ...

    def exclusive(self, study: str) -> AbstractContextManager[None]:
        """Hold off other writers of the study: until the first append in the block, or its end, no other gets in.

        An append in the block is durable when it returns, so a database may have to give up its lock with it.
        """
        ...

    def cached(self, study: str, name: str) -> bytes | None:
        """Return what was kept under a name by :meth:`keep`; None if nothing was, or it was cleared."""
        ...

    def keep(self, study: str, name: str, content: bytes) -> None:
        """Keep a cache beside the log: it may be deleted at any time, nothing may rest on it."""
        ...

    def close(self) -> None:
        """Release files and connections; a store that is used again opens them again."""
        ...


@runtime_checkable
class Defers(Protocol):
    """A store that can make many appends durable at once: what a service with many stations gains by.

    An append in :meth:`deferring` is committed when it returns, and seen by others, as between commit and sync of every
    append; nobody may acknowledge it before :meth:`settle` has returned. What :meth:`Store.find` finds is durable all
    the same, unless it was asked in such a block.
    """

    @property
    def one_turn(self) -> bool:
        """Whether the writers of all studies take turns with each other."""
        ...

    @property
    def syncs_at_once(self) -> int:
        """How many calls of :meth:`settle` get on side by side; one more would only wait for the others."""
        ...

    def deferring(self) -> AbstractContextManager[int]:
        """Let appends of this thread in the block return before they are durable; give what settling them asks for."""
        ...

    def settle(self, since: int) -> None:
        """Make everything durable that was appended before, by whichever thread, in blocks that gave this number.

        Raise StoreError if that fails: then it is not known what of it was recorded, and its keys will show.
        """
        ...


@runtime_checkable
class Foresees(Protocol):
    """A store that gives with a turn what every writer asks for at its beginning: what a distant one gains by."""

    def turn(
        self, study: str, after: int, limit: int, key: str | None
    ) -> AbstractContextManager[tuple[list[Entry], Entry | None]]:
        """Hold off other writers as :meth:`Store.exclusive` does.

        Give at most `limit` of the entries after a number, as :meth:`Store.read`, and the entry with a key, as
        :meth:`Store.find`; without a key none.
        """
        ...


@runtime_checkable
class Swaps(Protocol):
    """A store whose caches can be taken in turns: what processes need that share plans, and make each of them once.

    All three raise :class:`~proband.errors.UnknownStudyError` for a study that does not exist.
    """

    def swap(self, study: str, name: str, expected: bytes | None, content: bytes | None) -> bool:
        """Keep a content under a name in the place of the expected one, in one step; return whether that was there.

        None stands for nothing: as what is expected, and as what is to be there. Of several who expect the same, one
        succeeds. Like everything beside the log, what is kept need not outlive the machine.
        """
        ...

    def kept(self, study: str) -> list[str]:
        """Return the names under which something is kept, sorted."""
        ...

    def forget(self, study: str, name: str) -> None:
        """Keep nothing under a name any more."""
        ...


@runtime_checkable
class Lists(Protocol):
    """A store that lists its studies in pages: what a service with thousands of them gains by."""

    def listed(self, after: str, limit: int) -> list[tuple[str, Entry, Entry]]:
        """Return the names that come after a text, by their characters' numbers, with their first and last entries."""
        ...
