"""A password that is given to a store is shown nowhere: not in what it says of itself, in errors, in tracebacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.canary import CANARY, betrayed, spellings, trace
from tests.postgres import Server, running_server
from tests.studies.crowd import bolts

from proband import Study
from proband.errors import StoreError
from proband.studies.stores import Entry, open_store
from proband.studies.stores.postgresql import connections
from proband.studies.stores.postgresql.address import SECRETS, read_address, without_secrets

PASSWORD = "#@/ ?%&='é:".join(CANARY)


def everything(thing: Any, depth: int = 4) -> str:
    """Return what an object and its parts say of themselves."""
    inside = getattr(thing, "__dict__", {}) if depth and type(thing).__module__.startswith("proband") else {}
    hidden = ("_parameters",)  # what the library is given; no repr shows it
    parts = [everything(part, depth - 1) for name, part in inside.items() if name not in hidden]
    return "\n".join([repr(thing), str(thing), *parts])


@pytest.mark.parametrize("url", spellings())
def test_no_spelling_of_an_address_betrays_its_password(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_REACH", 0.0)
    with suppress(StoreError), closing(open_store(url)) as store:
        assert not betrayed(everything(store))
        given = {name: value for name, value in read_address(url).items() if name not in SECRETS}
        assert conninfo_to_dict(store.url) == given
    attempts: list[Callable[[], object]] = [
        lambda: open_store(url).length("bolts"),
        lambda: Study.open("bolts", store=url),
        lambda: Study.create(bolts(), store=url),
    ]
    for attempt in attempts:
        with pytest.raises(StoreError) as caught:
            attempt()
        assert not betrayed(trace(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://qa@db.example:5432/bolts?sslmode=require",
        "postgresql:///bolts",
        "postgresql://",
        "postgresql://a@h1:1,h2:2/x",
        "postgresql://a:b@h1:1,h2:2/x?sslmode=require&password=secret",
        "postgresql://a@h1,h2/x",
        "postgresql:///?service=bolts",
        "postgresql://[::1]:5432/bolts",
        "postgresql://%2Ftmp%2Fx/bolts",
        "postgresql://qa%40tenant@db.example/b%C3%B6lts?options=-csearch_path%3Ds1%20-cwork_mem%3D1MB",
        "postgresql:///bolts?host=/tmp/x&port=5433",
        "postgresql://?port=5433",
    ],
)
def test_an_address_without_secrets_leads_to_the_same_place(url: str) -> None:
    shown = without_secrets(read_address(url))
    given = conninfo_to_dict(url)
    assert conninfo_to_dict(shown) == {name: value for name, value in given.items() if name != "password"}
    assert without_secrets(read_address(shown)) == shown


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server that asks the user qa for the password."""
    with running_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE qa LOGIN PASSWORD {psycopg.sql.quote(PASSWORD)}")
            connection.execute("CREATE DATABASE bolts OWNER qa")
            (server.data / "pg_hba.conf").write_text(
                "local all qa scram-sha-256\nlocal all barred reject\nlocal all all trust\n"
            )
            connection.execute("SELECT pg_reload_conf()")
        while True:  # until the server has read the file
            try:
                psycopg.connect(user="qa", host=str(server.folder), dbname="bolts").close()
            except psycopg.OperationalError:
                break
        yield server


def within(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def test_every_spelling_that_the_library_reads_lets_in(guarded: Server, tmp_path: Path, monkeypatch: Any) -> None:
    host, secret = quote(str(guarded.folder), safe=""), quote(PASSWORD, safe="")
    service, passfile = tmp_path / "services", tmp_path / "passwords"
    service.write_text(f"[line 1]\nhost={guarded.folder}\nuser=qa\ndbname=bolts\npassword={PASSWORD}\n")
    passfile.write_text("*:*:bolts:qa:" + PASSWORD.replace("\\", "\\\\").replace(":", "\\:") + "\n")
    passfile.chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    addresses = [
        *(
            f"{scheme}://qa:{secret}@{host}/bolts"
            for scheme in ("postgresql", "postgres", "POSTGRESQL", "postgresql+psycopg")
        ),
        f"postgresql://qa@{host}/bolts?password={secret}",
        f"host={guarded.folder} user=qa dbname=bolts password={within(PASSWORD)}",
        f"postgresql://qa@{host}/bolts?passfile={passfile}",
        "postgresql:///?service=line%201",
    ]
    for n, address in enumerate(addresses):
        with closing(open_store(address)) as store:
            store.create(f"study {n}", Entry(1, "key", "0", "{}"))
            assert not betrayed(everything(store))
    with Study.create(bolts(), store=addresses[0]) as study:
        assert not betrayed(everything(study))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with closing(open_store(store.url if "service" not in store.url else f"postgresql://qa@{host}/bolts")) as again:
        assert "bolts" in again.studies()


REFUSALS = {
    "a wrong password": ("postgresql://qa:{secret}x@{host}/bolts", "the password of this user is wrong"),
    "no password": ("postgresql://qa@{host}/bolts?sslpassword={secret}", "a password is asked for, and none was given"),
    "no such database": ("postgresql://qa:{secret}@{host}/none", "there is no such database; create it"),
    "no such user": ("postgresql://nobody:{secret}@{host}/bolts", "there is no such user; create it"),
    "a barred user": ("postgresql://barred:{secret}@{host}/bolts", "lets nobody in from here under this name"),
    "no such service": ("postgresql://qa:{secret}@{host}/?service=none", "there is no such service"),
    "no such socket": ("postgresql://qa:{secret}@%2Fnowhere/bolts", "no answer; look whether the server runs"),
    "no such machine": ("postgresql://qa:{secret}@nowhere.invalid/bolts", "no answer; look whether the server runs"),
    "a closed port": ("postgresql://qa:{secret}@127.0.0.1:1/bolts", "no answer; look whether the server runs"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_who_is_not_let_in_learns_why_and_shows_nothing(kind: str, guarded: Server, monkeypatch: Any) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_REACH", 0.05)
    address, message = REFUSALS[kind]
    url = address.format(secret=quote(PASSWORD, safe=""), host=quote(str(guarded.folder), safe=""))
    with pytest.raises(StoreError, match=message) as caught:
        Study.create(bolts(), store=url)
    assert not betrayed(trace(caught.value))


def test_a_password_that_is_changed_is_read_anew_from_its_file(guarded: Server, tmp_path: Path) -> None:
    passfile = tmp_path / "passwords"
    passfile.write_text("*:*:*:line1:old\n")
    passfile.chmod(0o600)
    with psycopg.connect(guarded.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE line1 LOGIN PASSWORD 'old' IN ROLE qa")
        (guarded.data / "pg_hba.conf").write_text(
            "local all qa,line1 scram-sha-256\nlocal all barred reject\nlocal all all trust\n"
        )
        connection.execute("SELECT pg_reload_conf()")
        url = f"postgresql://line1@{quote(str(guarded.folder), safe='')}/bolts?passfile={passfile}"
        with closing(open_store(url)) as store:
            before = store.studies()
            connection.execute("ALTER ROLE line1 PASSWORD 'new'")
            passfile.write_text("*:*:*:line1:new\n")
            assert store.studies() == before
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'line1'")
            assert store.studies() == before
