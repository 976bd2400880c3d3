"""A store in one file, by SQLite."""

from proband.studies.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
