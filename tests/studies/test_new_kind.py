"""A new kind of event is an `EventKind` and a line in the dictionary: then it is written, folded, exported, read."""

from __future__ import annotations

from pathlib import Path

import pytest

from proband.errors import KeyReusedError, StudyError, TamperedError, UnknownNameError
from proband.instances import bolts
from proband.studies import Event, Ledger, Study, import_study
from proband.studies.events import EVENTS, checks
from proband.studies.events.kind import Data, Draft, EventKind, Leases, Request, same_under
from proband.studies.stores import MemoryStore


def draft(ledger: Ledger, request: Request, leases: Leases | None) -> list[Draft]:
    checks.live_subject(ledger, str(request.subject), "noting")
    return [Draft(request.subject, {"note": request.content["note"]})]


def read(ledger: Ledger, event: Event, data: Data) -> int:
    checks.written(data, "note")
    return checks.live_row(ledger, event)


def fold(ledger: Ledger, event: Event, seconds: float, i: int) -> None:
    ledger.columns.touched[i] = event.number


def asked(ledger: Ledger, event: Event, data: Data) -> Data:
    return {"note": checks.text("the note", data["note"])}


NOTED = EventKind("noted", draft, same_under("note"), read, fold, asked)


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setitem(EVENTS, NOTED.name, NOTED)
    return Study.create(bolts().problem, name="bolts", store="memory:", agent="test-everything", station="line 1")


def note(study: Study, text: object, key: str | None = None, subject: str = "one") -> Event:
    return study._journal.write(study._journal.request("noted", subject, {"note": text}, key))


def test_it_is_written_once_and_read(study: Study) -> None:
    study.arrive(subject="one")
    assert note(study, "scratched", "k") == note(study, "scratched", "k")
    with pytest.raises(KeyReusedError):
        note(study, "bent", "k")
    with pytest.raises(UnknownNameError, match="does not exist"):
        note(study, "bent", subject="two")
    with pytest.raises(TamperedError, match="its note is 7; it must be a text"):
        note(study, 7)
    assert [event.data for event in study.events() if event.kind == "noted"] == [{"note": "scratched"}]
    assert study.verify().length == 3
    assert not study.replay().differences


def test_it_goes_elsewhere(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study.arrive(subject="one")
    note(study, "scratched")
    study.export(tmp_path / "bolts.jsonl")
    assert import_study(tmp_path / "bolts.jsonl", store=MemoryStore()).length == 3
    note(study, "x" * (checks.LONGEST + 1))
    study.export(tmp_path / "bolts.jsonl")
    with pytest.raises(StudyError, match="line 5: the note is"):
        import_study(tmp_path / "bolts.jsonl", store=MemoryStore())
    monkeypatch.delitem(EVENTS, NOTED.name)
    with pytest.raises(StudyError, match="install a newer proband"):
        import_study(tmp_path / "bolts.jsonl", store=MemoryStore())
