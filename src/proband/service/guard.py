"""Who asks, and whether a browser was tricked into asking.

A token comes in the header ``Authorization: Bearer ...``, or in a cookie that was given for it at log-in. A browser
sends cookies by itself, so that a page of somebody else's could ask in a user's name (cross-site request forgery).
Against it stand the cookie's ``SameSite=Strict``, and what browsers say of every request: one that changes something
must come from a page of this service (``Sec-Fetch-Site``, or where a browser does not send it, ``Origin``). A page of
somebody else's that calls its own name by this service's address (DNS rebinding) is found out by the ``Host``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from proband.errors import AccessError, MisdirectedError
from proband.service.access.tokens import Caller, digest_of

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OWN = frozenset({"same-origin", "none"})
"""What Sec-Fetch-Site says of requests from this service's pages, and of those that the user himself typed."""

ANONYMOUS = "anonymous"
"""Who stands in the log where nobody need say who he is."""

Headers = Mapping[str, str]
Find = Callable[[str], Caller | None]


@dataclass(frozen=True)
class Guard:
    """The rules of one service.

    Attributes
    ----------
    hosts : frozenset of str
        Names under which it is reached, in lower case, without port; empty for any.
    port : int
        Part of the cookie's name: browsers send the cookies of one port to all others.
    secure : bool
        Whether browsers reach it by TLS.
    opened : Caller or None
        Who everybody is, where no token is needed.
    startup : Caller or None
        Who comes by the link that was printed at the start ...
    startup_digest : str
        ... with this secret, as a hash.
    """

    hosts: frozenset[str] = frozenset()
    port: int = 0
    secure: bool = False
    opened: Caller | None = None
    startup: Caller | None = None
    startup_digest: str = field(default="", repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie; with its prefix, no other name of the domain can set it."""
        return f"__Host-proband-{self.port}" if self.secure else f"proband-{self.port}"

    @cached_property
    def _addresses(self) -> frozenset[str]:
        """What most requests name as their host."""
        return frozenset(f"{host}:{self.port}" for host in self.hosts if ":" not in host)

    def check_host(self, named: list[str]) -> None:
        """Raise unless a request, which names these hosts, is meant for this service."""
        if len(named) == 1 and named[0] in self._addresses:
            return
        host = hostname(named[0]) if len(named) == 1 else ", ".join(named)  # two names are nobody's
        if self.hosts and host not in self.hosts:
            raise MisdirectedError(
                f"the request is for the host {host!r}; this service is reached as {', '.join(sorted(self.hosts))}; "
                "use one of these names, or start the service with --hostname"
            )

    def bearer(self, headers: Headers) -> str | None:
        """Return the token that a request brings in its header."""
        scheme, _, secret = headers.get("authorization", "").partition(" ")
        return secret.strip() if scheme.lower() == "bearer" and secret.strip() else None

    def session(self, headers: Headers) -> str | None:
        """Return the secret of the log-in that a request brings in its cookie."""
        sent = headers.get("cookie")
        if sent is None:
            return None
        try:
            found = SimpleCookie(sent).get(self.cookie)
        except CookieError:
            return None
        return None if found is None else found.value

    def holder(self, secret: str, find: Find) -> Caller | None:
        """Return who holds a token: by the link that was printed, or by the log of access."""
        if self.startup is not None and digest_of(secret) == self.startup_digest:
            return self.startup
        return find(secret)

    def check_origin(self, method: str, headers: Headers, *, cookie: bool) -> None:
        """Raise if a request that changes something may come from a page of somebody else's.

        Programs send neither header; they are let through unless they come with a browser's cookie.
        """
        if method in SAFE:
            return
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            own = site in OWN
        elif origin is not None:
            own = urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
        else:
            own = not cookie
        if not own:
            raise AccessError(
                f"the request comes from another site ({origin or site or 'it does not say which'}); a browser may "
                "change something from this service's own pages only; a program sends its token in the header "
                "Authorization"
            )


def hostname(host: str) -> str:
    """Return the name in a Host header, without port, in lower case.

    Examples
    --------
    >>> hostname("Localhost:8765"), hostname("[::1]:8765"), hostname("10.0.0.7")
    ('localhost', '::1', '10.0.0.7')
    """
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""
