"""How agents look: each has one colour in all figures, and lines differ in their dashes too.

The first eight colours are those of Okabe and Ito, the others of Tol: colour-blind readers tell them apart. Agents that
differ in a number alone (explore-64, explore-128) are a family: they share a colour, and those with larger numbers are
paler.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import NamedTuple

Dashes = str | tuple[float, tuple[float, ...]]
SOLID: Dashes = "-"
LONG: Dashes = (0, (6, 1.5))
SHORT: Dashes = (0, (2, 1))
MIXED: Dashes = (0, (6, 1.5, 1, 1.5))
DOTTED: Dashes = ":"
CYCLE = (SOLID, LONG, SHORT, MIXED, DOTTED)


class Look(NamedTuple):
    """Colour and dashes of a line."""

    colour: str
    dashes: Dashes


KNOWN = {
    "explore-then-commit": Look("#0072B2", SOLID),
    "doubling": Look("#E69F00", LONG),
    "doubling-keep": Look("#8C6D00", MIXED),
    "leaf-completion": Look("#009E73", SOLID),
    "safe-leaf-completion": Look("#CC3377", LONG),
    "greedy": Look("#56B4E9", SHORT),
    "thompson": Look("#882255", MIXED),
    "test-everything": Look("#7F7F7F", SHORT),
    "decide-at-once": Look("#D55E00", MIXED),
    "full-information": Look("#000000", DOTTED),
    "clairvoyant": Look("#663333", LONG),
    "certified": Look("#332288", MIXED),
    "thrifty": Look("#117733", LONG),
    "union": Look("#999933", SOLID),
    "algorithm": Look("#AA4499", SOLID),
    "elimination": Look("#AA4499", SOLID),
    "explore": Look("#44AA99", SOLID),
    "raw": Look("#661100", SHORT),
    "regularised": Look("#004488", SOLID),
    "paper": Look("#4477AA", SOLID),
    "certified-exchange": Look("#332288", MIXED),
    "certified-add": Look("#CC6677", LONG),
    "certified-three-by-three": Look("#225555", SHORT),
    "ignore-commit-data": Look("#BB3355", SOLID),
    "complete-case-pooling": Look("#AAAA00", LONG),
    "available-case": Look("#EE8866", SHORT),
    "likelihood": Look("#225522", MIXED),
}
"""Looks by agent, or by family: the name without its number."""
SAME = {"algorithm": "elimination", "certified-exchange": "certified"}
"""What has two names: the paper's Algorithm 4 eliminates, and the certificate's width is by exchange."""

OTHERS = ("#6699CC", "#997700", "#994455", "#DDAA33", "#BB5566", "#55AA55", "#AA7744", "#5566AA", "#77AADD", "#A0522D")
"""Colours of agents of other packages."""
PALEST = 0.4
_NUMBER = re.compile(r"-([0-9.]+(?:e[0-9]+)?)$")


def looks(agents: Iterable[str]) -> dict[str, Look]:
    """Return how the agents of a figure look.

    Examples
    --------
    >>> found = looks(["explore-then-commit", "explore-64", "explore-512"])
    >>> found["explore-then-commit"].colour, found["explore-64"].colour, found["explore-512"].colour
    ('#0072B2', '#44AA99', '#8fccc2')
    """
    names = list(dict.fromkeys(agents))
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name if name in KNOWN else _NUMBER.sub("", name), []).append(name)
    found: dict[str, Look] = {}
    for family, members in families.items():
        base = KNOWN.get(family) or _other(family, {look.colour for look in found.values()})
        ordered = sorted(members, key=_number)
        for n, name in enumerate(ordered):
            pale = PALEST * n / max(1, len(ordered) - 1)
            place = (CYCLE.index(base.dashes) + n) % len(CYCLE)
            found[name] = Look(_paler(base.colour, pale) if n else base.colour, CYCLE[place])
    return {name: found[name] for name in names}


def _number(name: str) -> float:
    number = _NUMBER.search(name)
    return float(number[1]) if number else 0.0


def _other(name: str, taken: set[str]) -> Look:
    """Return the look of an agent that is not known: by its name, another one only where that colour is taken."""
    first = zlib.crc32(name.encode())
    colours = [OTHERS[(first + n) % len(OTHERS)] for n in range(len(OTHERS))]
    colour = next((colour for colour in colours if colour not in taken), colours[0])
    return Look(colour, CYCLE[first % len(CYCLE)])


def _paler(colour: str, share: float) -> str:
    parts = (int(colour[n : n + 2], 16) for n in (1, 3, 5))
    return "#" + "".join(f"{round(part + share * (255 - part)):02x}" for part in parts)
