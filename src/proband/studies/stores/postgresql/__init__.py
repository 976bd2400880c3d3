"""A store in PostgreSQL, an extra: ``pip install "proband[postgresql]"``."""

from proband.errors import MissingExtraError

try:
    import psycopg  # noqa: F401
except ImportError as missing:
    raise MissingExtraError(
        'a store in PostgreSQL needs psycopg, which is not installed; pip install "proband[postgresql]"'
    ) from missing

from proband.studies.stores.postgresql.store import PostgreSQLStore

__all__ = ["PostgreSQLStore"]
