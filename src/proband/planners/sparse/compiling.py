"""Where other packages find `kernel` until they take it from :mod:`proband.compiling`."""

from proband.compiling import kernel

__all__ = ["kernel"]
