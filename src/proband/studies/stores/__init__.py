"""Stores: studies as append-only logs in memory, in a file, or in PostgreSQL.

Examples
--------
>>> store = open_store("memory:")
>>> store.create("bolts", Entry(1, "first", "0a", "{}"))
>>> store.studies()
['bolts']
"""

from proband.studies.stores.contract import Entry, Store
from proband.studies.stores.memory import MemoryStore
from proband.studies.stores.registry import STORES, open_store
from proband.studies.stores.sqlite import SQLiteStore

__all__ = [
    "STORES",
    "Entry",
    "MemoryStore",
    "SQLiteStore",
    "Store",
    "open_store",
]
