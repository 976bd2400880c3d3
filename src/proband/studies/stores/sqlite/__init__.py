"""A store in one file, by SQLite."""

from proband.studies.stores.sqlite.schema import JournalMode, journal_mode
from proband.studies.stores.sqlite.store import SQLiteStore

__all__ = ["JournalMode", "SQLiteStore", "journal_mode"]
