"""Starting the service: what must be true before it listens, and how it runs.

On a loopback address (this machine alone) it prints a link with a token that holds until it ends, or is open to
everybody on the machine if that was said aloud. On any other address, or behind a proxy, it is reached by others, and
does not start unless somebody has a token, and what is sent is encrypted: by this process, or by the proxy before it.
"""

from __future__ import annotations

import getpass
import ipaddress
import platform
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import uvicorn

from proband.errors import AccessError, ServiceError
from proband.service.access.log import STARTUP, AccessLog
from proband.service.access.tokens import Caller, Role, digest_of, new_secret
from proband.service.application import create_app
from proband.service.guard import ANONYMOUS, Guard
from proband.service.limits import Limits
from proband.service.planning import ASIDE, Planning
from proband.service.protocol import PatientProtocol
from proband.studies.stores import Store
from proband.texts import escaped

GRACE = 5
"""Seconds that requests under way get to end when the service stops."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Serving:
    """Where and how to serve.

    Attributes
    ----------
    host, port : str and int
        Port 0 takes a free one.
    hostnames : sequence of str
        Names under which it is reached, beside its address.
    open : bool
        Whether nobody need say who he is; on a loopback address only.
    behind_proxy : bool
        Whether a proxy that encrypts stands before it.
    certificate, key : str or None
        Files for TLS.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    hostnames: Sequence[str] = ()
    open: bool = False
    behind_proxy: bool = False
    certificate: str | None = None
    key: str | None = None

    @property
    def exposed(self) -> bool:
        """Whether others than the users of this machine reach it."""
        return self.behind_proxy or not is_loopback(self.host)

    @property
    def encrypted(self) -> bool:
        """Whether browsers reach it by TLS."""
        return self.certificate is not None or self.behind_proxy

    def check(self, access: AccessLog) -> None:
        """Raise unless it may start like this."""
        if self.key is not None and self.certificate is None:
            raise ServiceError("there is a key and no certificate; TLS needs both; give --tls-cert, too")
        if not self.exposed:
            return
        where = f"{self.host} behind a proxy" if self.behind_proxy else self.host
        if self.open:
            raise AccessError(
                f"others can reach {where}; --open is for this machine alone; leave it out and make tokens (proband "
                "token create), or listen on 127.0.0.1"
            )
        if not self.encrypted:
            raise AccessError(
                f"others can reach {where}, and could read tokens on the way; give --tls-cert and --tls-key, or "
                "--behind-proxy where a proxy encrypts"
            )
        if not access.any_valid():
            raise AccessError(
                f"others can reach {where}, and nobody has a token for this store yet; make one first (proband token "
                "create)"
            )


def is_loopback(host: str) -> bool:
    """Return whether an address is that of this machine alone.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "plant.example")]
    [True, True, True, False, False]
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    store: Store,
    serving: Serving,
    *,
    limits: Limits | None = None,
    planner: str = ASIDE,
    say: Callable[[str], None] = lambda line: None,
    begun: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until the process is told to end.

    Parameters
    ----------
    store : Store
        Closed in the end.
    serving : Serving
    limits : Limits, optional
    planner : str
        Who makes the plans: "process", "thread", or the address of a Dask scheduler
        (:class:`~proband.service.planning.Planning`).
    say : callable, optional
        Is told where the service is, with the link to log in, once it listens.
    begun : callable, optional
        Is called with its address then.
    """
    bounds = limits or Limits()
    serving.check(AccessLog(store))
    with _listening(serving) as listener:
        port = int(listener.getsockname()[1])
        guard, secret = _guard(serving, port)
        app = create_app(
            store, guard=guard, limits=bounds, behind_proxy=serving.behind_proxy, planning=Planning(planner)
        )
        config = uvicorn.Config(
            app, http=PatientProtocol, ws="none", lifespan="on", log_config=None, access_log=False,
            proxy_headers=False, server_header=False, limit_concurrency=bounds.connections,
            timeout_keep_alive=int(bounds.idle_seconds), timeout_graceful_shutdown=GRACE,
            ssl_certfile=serving.certificate, ssl_keyfile=serving.key,
        )  # fmt: skip
        _load(config, serving)
        for line in _lines(serving, port, secret):
            say(line)
        begun(_place(serving, port))
        _Server(config, app.state.service.feeds.close).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that ends event streams first: they would be waited for."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_streams()
        await super().shutdown(sockets)


def _load(config: uvicorn.Config, serving: Serving) -> None:
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise ServiceError(
            f"TLS cannot be set up with {serving.certificate} and {serving.key} ({error}); give a certificate and its "
            "key, in PEM format"
        ) from error
    if config.ssl is not None:
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2


def _listening(serving: Serving) -> socket.socket:
    """Return a socket that listens, or raise."""
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sends at once on such only
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((serving.host, serving.port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise ServiceError(
            f"{serving.host}, port {serving.port}, cannot be listened to ({error.strerror or error}); choose another "
            "--port, or --host"
        ) from error
    return listener


def _guard(serving: Serving, port: int) -> tuple[Guard, str]:
    """Return the rules of a service, and the secret of its link; empty if it has none."""
    hosts, secure = _hosts(serving), serving.encrypted
    if serving.open:
        return Guard(hosts, port, secure, opened=Caller(ANONYMOUS, Role.ENGINEER, None, "open")), ""
    if serving.exposed:
        return Guard(hosts, port, secure), ""
    secret = new_secret()
    owner = Caller(_user(), Role.ADMIN, None, STARTUP)
    return Guard(hosts, port, secure, startup=owner, startup_digest=digest_of(secret)), secret


def _hosts(serving: Serving) -> frozenset[str]:
    own: list[str] = list(LOOPBACK) if is_loopback(serving.host) and not serving.behind_proxy else [serving.host]
    if serving.exposed:
        own += [platform.node(), socket.getfqdn(), *LOOPBACK]
    return frozenset(name.lower() for name in (*own, *serving.hostnames) if name)


def _lines(serving: Serving, port: int, secret: str) -> list[str]:
    place = _place(serving, port)
    if secret:
        return [f"proband serves at {place}", f"log in: {place}/login?token={secret}"]
    who = "to everybody on this machine, without a token" if serving.open else "to whoever has a token"
    return [f"proband serves at {place}, {who}"]


def _place(serving: Serving, port: int) -> str:
    scheme = "https" if serving.certificate else "http"
    host = f"[{serving.host}]" if ":" in serving.host else serving.host
    return f"{scheme}://{host}:{port}"


def _user() -> str:
    try:
        return escaped(getpass.getuser())
    except (KeyError, OSError):  # a container may run under a number without a name
        return "owner"
