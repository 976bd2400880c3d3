"""Policies of every kind on disk: strict JSON in UTF-8, which says its format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from proband.errors import PolicyError, ProbandError
from proband.files import read_json

Built = TypeVar("Built")


MOST_INDENTED = 2**20
"""Longer policy files are not indented: nobody reads them, and it takes ten times as long."""


def write_policy(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the structure of a policy file."""
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        if len(text) <= MOST_INDENTED:
            text = json.dumps(content, indent=1, ensure_ascii=False).encode()
    except ValueError as error:
        raise PolicyError(
            f"a number of the policy is not finite ({error}), and JSON has finite ones alone; give rewards and costs "
            "in larger units"
        ) from error
    Path(path).write_bytes(text + b"\n")


def read_policy(path: str | os.PathLike[str], build: Callable[[Mapping[str, Any]], Built]) -> Built:
    """Return what is built from the structure of a policy file, or say why it is none."""
    content = read_json(path, PolicyError, what="a policy that proband plan or proband fit wrote (--out)")
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):  # numbers that no plan was made with
            return build(content)
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        detail = error if isinstance(error, ProbandError) else f"{type(error).__name__}: {error}"
        raise PolicyError(f"{path}: it is no policy ({detail}); give a file that proband wrote") from error


def check_format(content: Mapping[str, Any], name: str, schema: int) -> None:
    """Raise unless the structure says that it is of this format."""
    if content.get("format") != name or content.get("schema") != schema:
        raise PolicyError(
            f"format is {content.get('format')!r}, schema {content.get('schema')!r}; this version reads "
            f"{name!r}, schema {schema}; write the policy again"
        )
