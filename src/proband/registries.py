"""Pieces by name: agents, planners, stores, of this library and of others.

A piece of this library is named by its place, ``"module:attribute"``, and loaded when it is first used, so that nobody
waits for what he does not use. Packages add their own by entry points; whoever develops one names its place instead.

Examples
--------
>>> numbers = Registry[float]("numbers.of.nobody", "number", ValueError, {"pi": "math:pi"})
>>> list(numbers), numbers["pi"], numbers["math:tau"]
(['pi'], 3.141592653589793, 6.283185307179586)
>>> numbers["e"]
Traceback (most recent call last):
ValueError: the number is 'e'; numbers are pi, or a place such as package.module:attribute; choose one
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from typing import TypeVar

Piece = TypeVar("Piece")


class Registry(Mapping[str, Piece]):
    """A mapping from names to pieces that are loaded when they are asked for.

    Parameters
    ----------
    group : str
        Of the entry points by which other packages add theirs.
    noun : str
        What a piece is called in messages.
    error : type of Exception
        Raised for a name that is not known, or whose piece cannot be loaded.
    own : mapping of str to str
        Names to places, ``"module:attribute"``. A package cannot take one of these names.
    """

    def __init__(self, group: str, noun: str, error: type[Exception], own: Mapping[str, str]) -> None:
        self.group, self.noun, self.error, self.own = group, noun, error, dict(own)
        self._loaded: dict[str, Piece] = {}

    @cached_property
    def places(self) -> dict[str, str]:
        """The place of each name: those of this library first, then those of installed packages."""
        return {**{point.name: point.value for point in entry_points(group=self.group)}, **self.own}

    def __iter__(self) -> Iterator[str]:
        return iter([*self.own, *sorted(self.places.keys() - self.own.keys())])

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __getitem__(self, name: str) -> Piece:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Piece:
        module, colon, attribute = self.places.get(name, name).partition(":")
        if not module or not colon or not attribute:
            raise self.error(
                f"the {self.noun} is {name!r}; {self.noun}s are {', '.join(self)}, or a place such as "
                "package.module:attribute; choose one"
            )
        try:
            piece: Piece = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            raise self.error(
                f"the {self.noun} {name!r} cannot be loaded ({error}); it must be importable from here; install its "
                "package, or correct the place"
            ) from error
        return piece
