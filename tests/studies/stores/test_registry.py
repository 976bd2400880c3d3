from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from proband.errors import StoreError
from proband.studies.stores import STORES, Entry, MemoryStore, SQLiteStore, open_store


def test_relative_and_absolute_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite:///bolts.db", f"sqlite:///{tmp_path}/nuts.db"):
        with closing(open_store(url)) as store:
            assert isinstance(store, SQLiteStore)
            assert store.url == url
            store.create("study", Entry(1, "key", "0", "{}"))
        with closing(open_store(store.url)) as again:
            assert again.studies() == ["study"]
    assert {"bolts.db", "nuts.db"} <= {file.name for file in tmp_path.iterdir()}


def test_every_store_in_memory_is_a_new_one() -> None:
    first, second = open_store("memory:"), open_store("memory:")
    assert isinstance(first, MemoryStore)
    first.create("bolts", Entry(1, "key", "0", "{}"))
    assert second.studies() == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("bolts.db", "'bolts.db' is no URL of a store; .* for a file, write sqlite:/// before it"),
        ("", "no URL of a store"),
        ("mysql://localhost/bolts", "it must be one of memory:, sqlite:///file.db"),
        ("SQLITE:///bolts.db", "no URL of a store"),
        ("sqlite:bolts.db", "names no file; write sqlite:///bolts.db"),
        ("sqlite://bolts.db", "names no file"),
        ("sqlite:///", "names no file"),
        ("memory:bolts", "no store in memory; write memory: and nothing else"),
    ],
)
def test_what_is_no_store_is_explained(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        open_store(url)


def test_the_schemes() -> None:
    assert set(STORES) == {"memory", "sqlite", "postgresql"}


def test_without_its_extra_postgresql_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from proband.errors import MissingExtraError\n"
        "from proband.studies.stores import open_store\n"
        "open_store('memory:')\n"
        "try: open_store('postgresql://localhost/bolts')\n"
        "except MissingExtraError as error: print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'psycopg, which is not installed; pip install "proband[postgresql]"' in ended.stdout
