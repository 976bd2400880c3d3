"""``proband token create``, ``list`` and ``revoke``."""

from __future__ import annotations

import getpass
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from proband.cli import inputs, printing
from proband.cli.study.options import DEFAULT_STORE, StoreOption
from proband.service.access.log import AccessLog
from proband.service.access.tokens import ROLES, Role, Token
from proband.studies import open_store
from proband.texts import escaped


def create_command(
    user: Annotated[str, typer.Argument(metavar="USER", help="Who stands in the log for what is done with it.")],
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=f"{', '.join(ROLES)}.")] = "operator",
    study: Annotated[
        list[str] | None, typer.Option("--study", metavar="NAME", help="For this study alone; once for each.")
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", help="For how many days; by default for good.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: inputs.JsonOption = False,
) -> None:
    """Make a token for the service on a store; it is shown this once, and only a hash of it is kept.

    [bold]Examples[/bold]
    $ proband token create "line 1" --role operator --study bolts
    $ proband token create Ada --role admin --days 90
    """
    with closing(open_store(store)) as where:
        secret, token = AccessLog(where).make(user, Role.of(role), study, days=days, by=_me())
    printing.print_content({**_shown(token), "token": secret}, as_json=as_json)


def list_command(store: StoreOption = DEFAULT_STORE, as_json: inputs.JsonOption = False) -> None:
    """List all tokens, without their secrets.

    [bold]Examples[/bold]
    $ proband token list --store sqlite:///bolts.db
    """
    with closing(open_store(store)) as where:
        rows = [_shown(token) for token in AccessLog(where).tokens()]
    if as_json:
        printing.print_json({"tokens": rows})
    elif rows:
        printing.print_table(list(rows[0]), [[str(cell) for cell in row.values()] for row in rows])
    else:
        printing.say("There is no token yet: make one with proband token create.")


def revoke_command(
    token: Annotated[str, typer.Argument(metavar="ID", help="As proband token list shows it.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: inputs.JsonOption = False,
) -> None:
    """Revoke a token; running services learn of it within a second, and end its log-ins.

    [bold]Examples[/bold]
    $ proband token revoke 1f0c2a9b
    """
    with closing(open_store(store)) as where:
        printing.print_content(_shown(AccessLog(where).revoke(token, by=_me())), as_json=as_json)


def _shown(token: Token) -> dict[str, str]:
    ended = "revoked" if token.revoked is not None else "" if token.expires is None else _date(token.expires)
    return {
        "id": token.id,
        "user": token.user,
        "role": str(token.role),
        "studies": "all" if token.studies is None else ", ".join(token.studies),
        "created": f"{_date(token.created)} by {token.created_by}",
        "ends": ended or "never",
    }


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")[:16]


def _me() -> str:
    try:
        return escaped(getpass.getuser())
    except (KeyError, OSError):
        return "unknown"
