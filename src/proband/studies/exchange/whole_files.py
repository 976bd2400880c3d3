"""Files that are there whole or not at all: written beside their place, and put into it when they are complete."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proband.errors import ProbandError, StudyError


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Lend a path to write to; when the block ends well, what is there is synced and takes the place of the other.

    Raises
    ------
    StudyError
        If it cannot be written; then what was there before is as it was.
    """
    target = Path(path)
    scratch = target.with_name(f".proband-{uuid.uuid4().hex}")
    try:
        yield scratch
        with scratch.open("rb+") as file:
            os.fsync(file.fileno())
        scratch.replace(target)
    except ProbandError:
        raise
    except OSError as error:
        raise StudyError(
            f"{path}: it cannot be written ({error.strerror or error}); check the path and the disk"
        ) from error
    finally:
        scratch.unlink(missing_ok=True)
