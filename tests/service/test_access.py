"""Tokens and log-ins in the store, whatever the store is."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from proband.cli import main
from proband.errors import AccessError, StudyError, TamperedError, UnknownNameError
from proband.service.access.log import NAME, STARTUP, AccessLog
from proband.service.access.tokens import Caller, Role, digest_of
from proband.studies import Study, open_store
from proband.studies.stores import MemoryStore, Store
from proband.studies.stores.entries import names_of_studies


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    url = f"sqlite:///{tmp_path}/a.db" if request.param == "sqlite" else request.getfixturevalue("postgresql_url")
    store = open_store(url)
    yield store
    store.close()


def test_two_processes_know_the_same(where: Store) -> None:
    one, two = AccessLog(where), AccessLog(where)
    secret, token = one.make("Ada", Role.OPERATOR, ["bolts", "bolts"], by="root")
    two.refresh()
    caller = two.holder(secret)
    assert caller == Caller("Ada", Role.OPERATOR, ("bolts",), token.id)
    assert caller is not None
    session = two.log_in(caller, 60.0)
    one.refresh()
    visitor = one.visitor(session)
    assert visitor == Caller("Ada", Role.OPERATOR, ("bolts",), token.id, digest_of(session))
    assert visitor is not None
    assert one.still(visitor)
    two.log_out(session, caller)
    one.refresh()
    assert one.visitor(session) is None
    assert not one.still(visitor), "he came by the log-in, which is over"
    assert one.still(caller), "the token is not"
    again = one.log_in(caller, 60.0)
    assert two.revoke(token.id, by="root").revoked is not None
    two.revoke(token.id, by="root")
    one.refresh()
    assert one.visitor(again) is one.holder(secret) is None
    assert not one.still(caller)
    assert not one.any_valid()
    assert len(where.read(NAME)) == 5
    assert names_of_studies(where) == []


def test_many_at_once(where: Store) -> None:
    logs = [AccessLog(where) for _ in range(4)]
    threads = [
        threading.Thread(target=lambda log=log: [log.make("x", Role.VIEWER, by="t") for _ in range(5)]) for log in logs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(AccessLog(where).tokens()) == 20


def test_what_a_token_may_be() -> None:
    access = AccessLog(MemoryStore())
    with pytest.raises(AccessError, match="an admin hands out tokens for all studies"):
        access.make("Ada", Role.ADMIN, ["bolts"], by="root")
    with pytest.raises(AccessError, match="for no study"):
        access.make("Ada", Role.VIEWER, [], by="root")
    with pytest.raises(AccessError, match="0 days"):
        access.make("Ada", Role.VIEWER, days=0, by="root")
    with pytest.raises(StudyError, match="printable"):
        access.make("Ada\n", Role.VIEWER, by="root")
    with pytest.raises(UnknownNameError, match="roles are viewer"):
        Role.of("owner")
    with pytest.raises(UnknownNameError, match="no token"):
        access.revoke("none", by="root")


def test_tokens_and_log_ins_end_by_themselves() -> None:
    now = [1e9]
    access = AccessLog(MemoryStore(), clock=lambda: now[0])
    secret, _ = access.make("Ada", Role.VIEWER, days=2, by="root")
    caller = access.holder(secret)
    assert caller is not None
    session = access.log_in(caller, 3600.0)
    visitor = access.visitor(session)
    assert visitor is not None
    now[0] += 3600
    assert access.visitor(session) is None
    assert not access.still(visitor)
    assert access.holder(secret) == caller
    now[0] += 2 * 86400
    assert access.holder(secret) is None


def test_a_log_in_by_link_holds_where_there_is_a_link_alone() -> None:
    store = MemoryStore()
    owner = Caller("me", Role.ADMIN, None, STARTUP)
    session = AccessLog(store, startup=owner).log_in(owner, 60.0)
    for startup, expected in ((owner, True), (None, False), (Caller("you", Role.ADMIN, None, STARTUP), False)):
        access = AccessLog(store, startup=startup)
        access.refresh()
        assert (access.visitor(session) is not None) == expected


def test_a_log_that_was_altered_lets_nobody_in() -> None:
    store = MemoryStore()
    AccessLog(store).make("Ada", Role.VIEWER, by="root")
    [entry] = store.read(NAME)
    forged = MemoryStore()
    forged.create(NAME, entry._replace(body=entry.body.replace('"viewer"', '"admin"')))
    with pytest.raises(TamperedError):
        AccessLog(forged).tokens()


def test_the_command_line_makes_lists_and_revokes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"sqlite:///{tmp_path}/a.db"

    def proband(*arguments: str) -> str:
        with pytest.raises(SystemExit) as stop:
            main(["token", *arguments, "--store", url])
        assert not stop.value.code
        return capsys.readouterr().out

    assert "There is no token yet" in proband("list")
    made = json.loads(proband("create", "line 1", "--study", "bolts", "--days", "90", "--json"))
    assert made["token"].startswith("proband_")
    listed = proband("list")
    assert made["id"] in listed
    assert made["token"] not in listed
    assert json.loads(proband("revoke", made["id"], "--json"))["id"] == made["id"]
    assert json.loads(proband("list", "--json"))["tokens"][0]["ends"] == "revoked"
    [kept] = tmp_path.glob("a.db")
    assert made["token"].encode() not in kept.read_bytes()


def test_studies_are_listed_and_copied_without_the_log_of_access(tmp_path: Path) -> None:
    url, copy = f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db"
    commands = [
        ["study", "create", "bolts", "--name", "bolts", "--store", url],
        ["token", "create", "Ada", "--store", url],
        ["study", "copy", url, copy],
    ]
    for command in commands:
        subprocess.run([sys.executable, "-m", "proband", *command], check=True, capture_output=True)
    with Study.open("bolts", store=copy, replan="never") as copied:
        assert copied.store.studies() == ["bolts"]


def test_no_study_can_be_called_like_the_log_of_access(tmp_path: Path) -> None:
    from proband.instances import bolts

    with pytest.raises(StudyError, match="printable"):
        Study.create(bolts().problem, name=NAME, store=MemoryStore())
