"""Records as frames of others: pandas, and whatever takes an Arrow stream; each is imported when it is asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proband.errors import MissingExtraError
from proband.vocabulary import Records

COUNT = "count"
"""The column that says how many subjects a row stands for, where that is not one each."""


def columns(records: Records) -> dict[str, list[Any]]:
    """Return records by the names of their tests: outcomes by name, measurements as numbers, None where not run.

    Examples
    --------
    >>> from proband import Problem, Test
    >>> from proband.rewards import Match
    >>> problem = Problem([Test("crack", 1.0, outcomes=("none", "deep"))], reward=Match())
    >>> columns(problem.records({"crack": ["deep", None]}))
    {'crack': ['deep', None]}
    >>> columns(Records([[0.0, np.nan]], counts=[3]))
    {'test 1': [0.0], 'test 2': [None], 'count': [3]}
    """
    found: dict[str, list[Any]] = {}
    for i, values in enumerate(records.outcomes.T.tolist()):
        test = None if records.tests is None else records.tests[i]
        names = None if test is None else test.outcomes
        cells = [None if math.isnan(x) else x if names is None else names[int(x)] for x in values]
        found[f"test {i + 1}" if test is None else test.name] = cells
    if (records.counts != 1).any():
        name = COUNT
        while name in found:
            name = f"{name} of subjects"
        found[name] = records.counts.tolist()
    return found


def to_pandas(records: Records) -> Any:
    """Return a frame of pandas; outcomes are categories, in the order in which the test lists them."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError(
            "a frame of pandas needs pandas, which is not installed; pip install pandas, or take records.columns()"
        ) from error
    frame = {}
    for i, (name, cells) in enumerate(columns(records).items()):
        test = None if records.tests is None or i >= len(records.tests) else records.tests[i]
        listed = test is not None and not test.measured
        numbers = np.array([np.nan if cell is None else cell for cell in cells]) if not listed else None
        frame[name] = pandas.Categorical(cells, categories=test.names, ordered=False) if listed and test else numbers
    return pandas.DataFrame(frame)


def to_arrow(records: Records) -> Any:
    """Return an Arrow table, by pyarrow, an extra."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError(
            "an Arrow table needs pyarrow, which is not installed; install proband[tables], or take records.columns()"
        ) from error
    return pyarrow.table(columns(records))


def arrow_stream(records: Records, requested_schema: Any = None) -> Any:
    """Return the capsule of an Arrow stream, for whatever takes one (polars, DuckDB, pyarrow)."""
    return to_arrow(records).__arrow_c_stream__(requested_schema)
