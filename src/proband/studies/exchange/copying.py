"""A study from one store to another: the same log, hash by hash, verified in its new place."""

from __future__ import annotations

import tempfile
from pathlib import Path

from proband.errors import StudyError, StudyExistsError
from proband.studies.exchange.exports import Verified, export_study, import_study, verify
from proband.studies.log.fold import read_entries
from proband.studies.stores.contract import Store


def copy_study(study: str, *, source: Store, target: Store) -> Verified:
    """Copy a study into another store, whole or not at all; return the length and the hash that both have.

    The source is only read, and stations may go on with it: what they write meanwhile is not copied. Copying again adds
    what came since. The log is exported and imported, with all the checks of both, and then read back and verified.

    Parameters
    ----------
    study : str
    source, target : Store

    Raises
    ------
    StudyExistsError
        If the target has another study of this name, or one that has gone on by itself.
    TamperedError
        If the log is not whole, here or there.

    Examples
    --------
    >>> from proband.studies import Study, open_store
    >>> from proband.instances import bolts
    >>> here, there = open_store("memory:"), open_store("memory:")
    >>> _ = Study.create(bolts().problem, name="bolts", store=here).arrive()
    >>> copy_study("bolts", source=here, target=there).length, there.read("bolts") == here.read("bolts")
    (2, True)
    """
    with tempfile.TemporaryDirectory(prefix="proband-") as folder:
        path = Path(folder) / "log.jsonl"
        found = export_study(source, study, path)
        try:
            import_study(path, store=target)
        except StudyError as error:
            raise type(error)(str(error).replace(str(path), f"study {study!r} of {source.url}")) from error
    there = verify(read_entries(target, study), length=found.length, hash=found.hash)
    if there.length > found.length:
        raise StudyExistsError(
            f"study {study!r} has {there.length} entries in {target.url} and {found.length} in {source.url}: it has "
            "gone on there by itself; nothing was copied; go on with that one, or copy into another store"
        )
    return found
