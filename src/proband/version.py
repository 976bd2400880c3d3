"""The version of what is installed; it comes from the tags of the repository when it is built (``hatch_build.py``)."""

from __future__ import annotations

import importlib.metadata


def installed() -> str:
    """Return the version that the installed package says of itself.

    Examples
    --------
    >>> installed() == importlib.metadata.version("proband")
    True
    """
    try:
        return importlib.metadata.version("proband")
    except importlib.metadata.PackageNotFoundError:  # run from its sources, as with PYTHONPATH=src
        return "0+unknown"


__version__ = installed()
"""The version of what is installed."""
