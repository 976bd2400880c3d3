"""``proband serve``: studies over HTTP."""

from __future__ import annotations

import logging
import re
import sys
from typing import Annotated

import typer

from proband.cli import printing
from proband.cli.study.options import DEFAULT_STORE, StoreOption
from proband.errors import MissingExtraError, ServiceError
from proband.studies import open_store


def serve_command(
    store: StoreOption = DEFAULT_STORE,
    demo: Annotated[
        bool, typer.Option("--demo", help="Show a simulated line; in memory unless a store is given.")
    ] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")] = 8765,
    hostname: Annotated[
        list[str] | None,
        typer.Option("--hostname", metavar="NAME", help="A name under which it is reached; once for each."),
    ] = None,
    open: Annotated[
        bool, typer.Option("--open", help="Ask nobody for a token; on an address of this machine alone.")
    ] = False,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy that encrypts stands before it.")
    ] = False,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate, in PEM format.")
    ] = None,
    tls_key: Annotated[str | None, typer.Option("--tls-key", metavar="FILE", help="Its key, in PEM format.")] = None,
    planner: Annotated[
        str,
        typer.Option(
            "--planner", metavar="WHERE", help="Make plans in a process, a thread, or on the Dask cluster tcp://..."
        ),
    ] = "process",
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory", metavar="SIZE", help="Close studies in nobody's use beyond it: 2G, 500M; by default half."
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Tell every request on standard error.")] = False,
) -> None:
    """Serve the studies of a store over HTTP: to this machine, or to others who have a token.

    [bold]Examples[/bold]
    $ proband serve
    $ proband serve --demo
    $ proband serve --store postgresql://host/quality --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem
    """
    try:
        from proband.service.limits import Limits
        from proband.service.server import Serving, serve
        from proband.service.shelf import half_the_memory
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f'the service needs {error.name}, which is not installed; pip install "proband[service]"'
        ) from error
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(level=level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    serving = Serving(
        host=host, port=port, hostnames=tuple(hostname or ()), open=open, behind_proxy=behind_proxy,
        certificate=tls_cert, key=tls_key,
    )  # fmt: skip
    limits = Limits(memory=half_the_memory() if memory is None else _bytes(memory))
    if not demo:
        serve(open_store(store), serving, limits=limits, planner=planner, say=printing.say)
        return
    if serving.exposed or tls_cert is not None:
        raise ServiceError("--demo is for this machine alone; leave out --host, --behind-proxy and --tls-cert")
    from proband.cli.line import Line

    where = open_store("memory:" if store == DEFAULT_STORE else store)
    line = Line(where)
    printing.say("some hundred bolts of the last hours are inspected ...")
    line.prepare()
    serve(where, serving, limits=limits, planner=planner, say=printing.say, begun=line.start)


def _bytes(given: str) -> int:
    """Return the bytes that the service may take."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)(i?B)?", given.strip(), re.IGNORECASE)
    if found is None:
        raise ServiceError(f"the memory is {given!r}; it must be a number of bytes such as 2G or 500M; correct it")
    return int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " "))
