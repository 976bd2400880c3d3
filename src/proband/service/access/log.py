"""The log of access: which tokens were made, revoked and used to log in, in the store beside the studies.

It is a log like those of studies, chained by hashes, under a name that no study can have
(:data:`~proband.studies.stores.entries.BESIDE`). So every service process on a store knows the same tokens, whatever
the store is; a backup of the store has them; and who gave whom which rights, and when, can be read for good. Of secrets
only hashes stand in it.

Whoever asks is looked up in memory. The log is read anew every second, and for a secret that is not known: a token that
was revoked by another process opens nothing after that second, or once the store can be read again.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import proband
from proband.errors import ConflictError, StudyExistsError, TamperedError, UnknownNameError, UnknownStudyError
from proband.service.access.tokens import Caller, Role, Token, checked_life, checked_scope, digest_of, new_secret
from proband.studies.events import checks
from proband.studies.ledger.chain import NO_HASH, Event, as_seconds, as_time, linked, seal
from proband.studies.log.fold import read_entries
from proband.studies.stores.contract import Store
from proband.studies.stores.entries import BESIDE

NAME = f"{BESIDE}access"
FRESH = 1.0
"""Seconds between two looks at the log."""

UNKNOWN = 0.05
"""Seconds between two looks at the log for secrets that are not known: whoever guesses costs no more."""

STARTUP = "start-up"
"""Stands for the token that a process makes when it starts, and nobody keeps."""

MADE, REVOKED, CAME, LEFT = "token made", "token revoked", "logged in", "logged out"


@dataclass(frozen=True)
class Session:
    """A log-in: by which token, and until when."""

    token: str
    user: str
    expires: float


class AccessLog:
    """Tokens and log-ins of a store.

    Examples
    --------
    >>> from proband.studies import open_store
    >>> access = AccessLog(open_store("memory:"))
    >>> secret, token = access.make("Ada", Role.OPERATOR, ["bolts"], by="root")
    >>> access.holder(secret).user, access.holder("guess")
    ('Ada', None)
    >>> _ = access.revoke(token.id, by="root")
    >>> access.holder(secret) is None
    True
    """

    def __init__(self, store: Store, *, startup: Caller | None = None, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self._startup = startup  # whoever came by the link that this process printed, if it did
        self._lock = threading.RLock()
        self._position, self._hash, self._read = 0, NO_HASH, -UNKNOWN
        self._tokens: dict[str, Token] = {}
        self._by_digest: dict[str, str] = {}
        self._sessions: dict[str, Session] = {}

    def tokens(self) -> list[Token]:
        """Return all tokens, in the order in which they were made."""
        self.refresh(0.0)
        return list(self._tokens.values())

    def any_valid(self) -> bool:
        """Return whether somebody could come in."""
        now = self._clock()
        return any(token.valid(now) for token in self.tokens())

    def make(
        self, user: str, role: Role, studies: Sequence[str] | None = None, *, days: float | None = None, by: str
    ) -> tuple[str, Token]:
        """Make a token; return its secret, which nobody can see again, and the token."""
        secret, now, life = new_secret(), self._clock(), checked_life(days)
        token = Token(
            secrets.token_hex(4), checks.text("the name of the user", user), role, checked_scope(role, studies), now,
            checks.text("the actor", by), None if life is None else now + life, digest_of(secret),
        )  # fmt: skip
        content = token.to_dict()
        self._append(MADE, token.id, {key: content[key] for key in content if key not in ("id", "revoked")}, by)
        return secret, token

    def revoke(self, id: str, *, by: str) -> Token:
        """Revoke a token, and end its log-ins."""
        self.refresh(0.0)
        if id not in self._tokens:
            raise UnknownNameError(f"there is no token {id!r}; proband token list shows all of them; copy its id")
        if self._tokens[id].revoked is None:
            self._append(REVOKED, id, {}, by)
        return self._tokens[id]

    def holder(self, secret: str) -> Caller | None:
        """Return who holds the secret of a token, by what was read; None if it opens nothing."""
        token = self._tokens.get(self._by_digest.get(digest_of(secret), ""))
        return token.caller() if token is not None and token.valid(self._clock()) else None

    def log_in(self, caller: Caller, seconds: float) -> str:
        """Record a log-in; return the secret of the session, which ends with its token at the latest."""
        secret = new_secret()
        data = {"digest": digest_of(secret), "expires": self._clock() + seconds}
        self._append(CAME, caller.token, data, caller.user)
        return secret

    def visitor(self, secret: str) -> Caller | None:
        """Return who logged in and was given this secret; None if the log-in is over."""
        return self._visiting(digest_of(secret))

    def log_out(self, secret: str, caller: Caller) -> None:
        """End a log-in."""
        self._append(LEFT, caller.token, {"digest": digest_of(secret)}, caller.user)

    def still(self, caller: Caller) -> bool:
        """Return whether a caller may go on: his token is valid still, and the log-in by which he came is not over."""
        if caller.session is not None:
            return self._visiting(caller.session) is not None
        token = self._tokens.get(caller.token)
        return token is None or token.valid(self._clock())

    def refresh(self, age: float = 0.0) -> None:
        """Fold what was added to the log, unless it was looked at a moment ago; it may have to wait for the store."""
        if time.monotonic() - self._read < age:
            return
        with self._lock:
            began = time.monotonic()
            try:
                for entry, event in linked(
                    read_entries(self._store, NAME, after=self._position), after=self._position, previous=self._hash
                ):
                    self._fold(event)
                    self._position, self._hash = event.number, entry.hash
            except UnknownStudyError:  # nobody made a token yet
                pass
            self._read = began

    def _visiting(self, digest: str) -> Caller | None:
        """Return who logged in, by the hash of the secret that he was given."""
        session, now = self._sessions.get(digest), self._clock()
        if session is None or now >= session.expires:
            return None
        if session.token == STARTUP:
            known = self._startup
            return None if known is None or known.user != session.user else replace(known, session=digest)
        token = self._tokens.get(session.token)
        return token.caller(digest) if token is not None and token.valid(now) else None

    def _append(self, kind: str, token: str, data: dict[str, Any], actor: str) -> None:
        key = secrets.token_hex(16)
        with self._lock:
            while True:
                self.refresh(0.0)
                event = Event(
                    self._position + 1, kind, token, data, as_time(self._clock()), actor, "access",
                    proband.__version__, key, self._hash,
                )  # fmt: skip
                try:
                    if self._position:
                        self._store.append(NAME, [seal(event)], self._position)
                    else:
                        self._store.create(NAME, seal(event))
                except (ConflictError, StudyExistsError):  # another process was faster
                    continue
                self.refresh(0.0)
                return

    def _fold(self, event: Event) -> None:
        data, id, now = event.data, str(event.subject), self._clock()
        try:
            if event.kind == MADE:
                scope = None if data["studies"] is None else tuple(map(str, data["studies"]))
                self._tokens[id] = Token(
                    id, str(data["user"]), Role.of(data["role"]), scope, float(data["created"]),
                    str(data["created_by"]), data["expires"], str(data["digest"]),
                )  # fmt: skip
                self._by_digest[data["digest"]] = id
            elif event.kind == REVOKED:
                self._tokens[id] = replace(self._tokens[id], revoked=as_seconds(event.time))
            elif event.kind == CAME and float(data["expires"]) > now:
                self._sessions[data["digest"]] = Session(id, event.actor, float(data["expires"]))
            elif event.kind == LEFT:
                self._sessions.pop(data["digest"], None)
        except (LookupError, TypeError, ValueError) as error:
            raise TamperedError(
                f"entry {event.number} of the log of access is none that proband writes ({error}); it was altered "
                "together with its hash; put back a copy of the store"
            ) from error
        if len(self._sessions) > 10_000:
            self._sessions = {key: kept for key, kept in self._sessions.items() if kept.expires > now}
