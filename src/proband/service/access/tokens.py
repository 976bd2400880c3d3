"""Tokens: a secret that is shown once and kept as a hash, a user's name, a role, and the studies that it is for.

A secret has 256 random bits, so that a plain SHA-256 of it cannot be turned back, and nobody guesses one. Roles are
ordered: each may do what those before it may.
"""

from __future__ import annotations

import enum
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from proband.errors import AccessError, UnknownNameError
from proband.studies.events import checks

PREFIX = "proband_"
"""Begins every secret, so that whoever scans files for secrets finds it."""

LONGEST_LIFE = 3653
"""Days for which a token lasts at most."""


class Role(enum.IntEnum):
    """What somebody may do: look; work on subjects; begin, fill and restart studies; hand out tokens."""

    VIEWER = 1
    OPERATOR = 2
    ENGINEER = 3
    ADMIN = 4

    @classmethod
    def of(cls, name: str) -> Role:
        """Return a role by its name."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise UnknownNameError(f"there is no role {name!r}; roles are {', '.join(ROLES)}; choose one") from None

    def __str__(self) -> str:
        return self.name.lower()


ROLES = tuple(str(role) for role in Role)


@dataclass(frozen=True)
class Caller:
    """Somebody who asks: his name for the log, his role, the studies that he may see (None: all), and by which token.

    Whoever logged in is known by that log-in as well, as the hash of its secret: his right ends with it.

    Examples
    --------
    >>> ada = Caller("Ada", Role.OPERATOR, ("bolts",), "a1")
    >>> ada.check(Role.VIEWER, "bolts")
    >>> ada.check(Role.ENGINEER, "bolts")
    Traceback (most recent call last):
    proband.errors.AccessError: 'Ada' is an operator; this needs the role engineer; ask an admin for another token
    """

    user: str
    role: Role
    studies: tuple[str, ...] | None
    token: str
    session: str | None = None

    def sees(self, study: str) -> bool:
        """Return whether a study is one of his."""
        return self.studies is None or study in self.studies

    def check(self, role: Role, study: str | None = None) -> None:
        """Raise unless he may do what needs a role, in a study; None stands for what concerns all studies."""
        if self.role < role:
            article = "an" if str(self.role)[0] in "aeo" else "a"
            raise AccessError(
                f"{self.user!r} is {article} {self.role}; this needs the role {role}; ask an admin for another token"
            )
        if study is None and self.studies is not None:
            raise AccessError(
                f"{self.user!r} has a token for some studies; this concerns all of them; ask an admin for another token"
            )
        if study is not None and not self.sees(study):
            raise AccessError(
                f"{self.user!r} has no token for the study {study!r}; a token names the studies that it is for; ask an "
                "admin for another one"
            )


@dataclass(frozen=True)
class Token:
    """A token as it is kept.

    Attributes
    ----------
    id : str
        By which it is listed and revoked.
    user : str
        Who stands in the log of a study for what is done with it.
    role : Role
    studies : tuple of str or None
        None for all.
    created, created_by : float and str
        When, in seconds since 1970, and by whom.
    expires : float or None
        When it ends by itself.
    revoked : float or None
        When it was revoked.
    digest : str
        SHA-256 of the secret.
    """

    id: str
    user: str
    role: Role
    studies: tuple[str, ...] | None
    created: float
    created_by: str
    expires: float | None
    digest: str
    revoked: float | None = None

    def valid(self, now: float) -> bool:
        """Return whether it opens anything."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def caller(self, session: str | None = None) -> Caller:
        """Return whoever holds it, or logged in by it."""
        return Caller(self.user, self.role, self.studies, self.id, session)

    def to_dict(self) -> dict[str, Any]:
        """Return what anybody may know of it, as JSON values."""
        studies = None if self.studies is None else list(self.studies)
        return {**vars(self), "role": str(self.role), "studies": studies}


def new_secret() -> str:
    """Return a new secret."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """Return what is kept of a secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def checked_scope(role: Role, studies: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the studies of a new token; an admin's is for all of them."""
    if studies is None:
        return None
    if role is Role.ADMIN:
        raise AccessError("an admin hands out tokens for all studies; leave the studies out, or choose another role")
    if not studies:
        raise AccessError("the token is for no study; name one or more, or leave the studies out for all")
    return tuple(dict.fromkeys(checks.text("the name of a study", study) for study in studies))


def checked_life(days: float | None) -> float | None:
    """Return for how many seconds a new token lasts; None for ever."""
    if days is None:
        return None
    if not 0 < days <= LONGEST_LIFE:
        raise AccessError(f"the token is to last {days:g} days; it must be more than 0 and at most {LONGEST_LIFE:,}")
    return days * 86_400.0
