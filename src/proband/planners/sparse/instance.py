r"""From arrays of past subjects to the form the search works on.

Rows with equal codes are merged. With :math:`\ell(r, y) = \max_{y'} g(r, y') - g(r, y) \ge 0` for the
merged stakes g, the plan of least expected loss

.. math:: J(S) = \min\bigl(\min_y \sum_{r \in S} \ell(r, y),\;
          \min_i c_i\, w(S) + \sum_b J(S_{ib})\bigr)

has value :math:`\sum_r \max_y g(r, y) - J`. A penalty of nodes is added to the price of a test once, whatever the mass
of S. For the match reward the loss of stopping is
:math:`\sum_{r \in S} s_r - \max_{r \in S} s_r`.

Two forms hold the sums over a set of rows. *Packed*: each row is written as a few atoms of few types (an atom
has a fixed weight and loss vector), atoms of a type share 64-bit words, and popcounts give every sum.
*Dense*: one bit per row, and sums run over the rows.

Tests are sorted by their number of outcomes, largest first, so that the columns "test j has outcome b" of a
level b are the tests 0 .. level_size[b]-1: loops over them are contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proband.bundle import Bundle
from proband.errors import PlanError
from proband.planners.sparse.arrays import Arrays
from proband.vocabulary import FloatArray, IntArray

Number = int | np.int64
"""A whole number in compiled code, of 64 bits: literals and shorter ones are cast, for each type compiles anew."""

UNLIMITED = 1 << 40
"""Tests or budget units left where nothing limits them; no budget in units comes near it."""

_UNITS = 1 << 36
"""A budget is so many units: prices are rounded to whole ones, so that what is left of it identifies a state."""

_MOST_TYPES = 24
"""With more types of atoms, sums over rows are quicker than popcounts."""

MOST_GROUPS = 63
"""Which groups are open is one word of a state."""


@dataclass(frozen=True, eq=False)
class Instance(Bundle):
    """Arrays read by the kernels; internal test ids (sorted by number of outcomes)."""

    packed: bool  # which form holds the sums
    match: bool  # whether the reward is match
    uniform: bool  # whether all prices are equal
    dearer: bool  # whether some test is dearer once its group is open
    grouped: bool  # whether groups matter
    opening: bool  # whether some test may pay by opening its group alone
    words: int  # of a set of rows
    bits: int  # atoms (packed) or rows (dense)
    outcomes: IntArray  # of each test
    level_size: IntArray  # tests with an outcome b
    level_offset: IntArray  # the first column of level b
    cells: NDArray[np.uint64]  # the rows of every column (words, columns)
    cell_rows: NDArray[np.uint64]  # the same as (columns, words)
    onehot: FloatArray  # dense: codes (rows, columns)
    row_values: FloatArray  # dense: value vectors of the rows
    type_start: IntArray  # packed: first word of each type
    type_values: FloatArray  # packed: its value vector
    salt: NDArray[np.uint64]  # for the keys of row sets
    price: FloatArray  # of each test
    group_price: FloatArray  # once its group is open
    price_units: IntArray  # both in units of the budget
    group_units: IntArray
    group: IntArray
    opener: NDArray[np.bool_]  # tests whose price is below what they save another one of their group
    least: float  # least price of any test
    penalty: float  # of every test node of the tree, however many rows come to it
    tolerance: float  # bounds closer than this are equal
    constant_below: float  # half the mass of the lightest row: a test splits no set of which it leaves less aside

    def price_of(self, test: int, mask: int) -> float:
        """Price of a test when the groups in `mask` are open."""
        group = int(self.group[test])
        return float((self.group_price if group >= 0 and mask >> group & 1 else self.price)[test])


@dataclass(frozen=True)
class Merged:
    """Distinct rows: codes (n, m), weight (n,), loss (n, a) or best stakes (n, 1) for match, most to be had (n,)."""

    codes: IntArray
    weight: FloatArray
    loss: FloatArray
    ceiling: FloatArray


@dataclass(frozen=True)
class Compiled:
    """An `Instance` with what is needed to speak about it outside the kernels."""

    instance: Instance
    order: IntArray  # the test behind each internal id
    atom_row: IntArray  # the merged row of each bit, -1 for none
    merged: Merged
    budget: int  # in units


def distinct_rows(codes: IntArray) -> tuple[IntArray, IntArray]:
    """First place of each distinct row, in ascending order of rows, and the number of each row among them.

    Rows become byte strings, highest byte first, whose order is that of the rows: sorting them takes a tenth of the
    time of sorting rows of numbers.
    """
    codes = codes if codes.shape[1] else np.zeros((len(codes), 1), dtype=np.int64)
    largest = int(codes.max(initial=0))
    number = next(number for number in (">u1", ">u2", ">u4", ">u8") if largest <= np.iinfo(number).max)
    text = np.ascontiguousarray(codes.astype(number))
    text = text.view(f"S{text.itemsize * codes.shape[1]}").reshape(-1)
    _, first, origin = np.unique(text, return_index=True, return_inverse=True)
    return first.astype(np.int64), origin.reshape(-1).astype(np.int64)


def merge_rows(codes: IntArray, weight: FloatArray, stakes: FloatArray, *, match: bool) -> Merged:
    """Merge rows with equal codes; the irreducible loss of a merged row leaves the problem."""
    first, origin = distinct_rows(codes)
    distinct, n = codes[first], first.size
    mass = np.zeros(n)
    np.add.at(mass, origin, weight)
    if match:
        best = np.zeros((n, 1))
        np.maximum.at(best, origin, stakes)
        return Merged(distinct, mass, best, best[:, 0])
    total = np.zeros((n, stakes.shape[1]))
    np.add.at(total, origin, stakes)
    ceiling = total.max(axis=1)
    loss = ceiling[:, None] - total
    loss[loss < 1e-13 * np.abs(total).max(initial=0.0)] = 0.0
    return Merged(distinct, mass, loss, ceiling)


def _multiples(amounts: FloatArray) -> tuple[list[float], list[IntArray]]:
    """Write amounts as integer multiples of one unit, or else one unit per distinct amount."""
    unit = float(amounts.min())
    ratio = amounts / unit
    count = np.rint(ratio).astype(np.int64)
    if np.abs(ratio - count).max() < 1e-9 and count.sum() <= 2 * amounts.size + 64:
        return [float(amounts.sum() / count.sum())], [count]
    key = np.rint(np.log(amounts) * 1e11).astype(np.int64)
    distinct = np.unique(key)
    if distinct.size > _MOST_TYPES:
        return [], []
    return [float(amounts[key == k].mean()) for k in distinct], [(key == k).astype(np.int64) for k in distinct]


def _atoms(merged: Merged) -> tuple[IntArray, IntArray, FloatArray] | None:
    """Split rows into atoms of few types: (row, type) of each atom and the value vector of each type."""
    size = merged.loss.sum(axis=1)
    rows: list[IntArray] = []
    kinds: list[IntArray] = []
    values: list[FloatArray] = []
    spare = merged.weight.copy()
    pattern = np.rint(merged.loss / np.where(size > 0, size, 1.0)[:, None] * 1e10).astype(np.int64)
    groups: list[tuple[IntArray, FloatArray, FloatArray]] = []
    for direction in np.unique(pattern[size > 0], axis=0):
        member = np.flatnonzero((pattern == direction).all(axis=1) & (size > 0))
        share = float((merged.weight[member] / size[member]).min())
        mean = merged.loss[member].sum(axis=0) / size[member].sum()
        spare[member] -= share * size[member]
        groups.append((member, size[member], np.concatenate(([share], mean))))
        if len(groups) > _MOST_TYPES:
            return None
    spare[spare < 1e-12 * merged.weight] = 0.0
    left = np.flatnonzero(spare > 0)
    if left.size:
        groups.append((left, spare[left], np.concatenate(([1.0], np.zeros(merged.loss.shape[1])))))
    for member, amounts, vector in groups:
        units, counts = _multiples(amounts)
        if not units:
            return None
        for unit, count in zip(units, counts, strict=True):
            atoms = np.repeat(member, count)
            rows.append(atoms)
            kinds.append(np.full(atoms.size, len(values), dtype=np.int64))
            values.append(unit * vector)
    if len(values) > _MOST_TYPES:
        return None
    return np.concatenate(rows), np.concatenate(kinds), np.array(values)


def _layout(merged: Merged, *, match: bool) -> tuple[bool, IntArray, IntArray, FloatArray, int]:
    """Choose packed or dense: (packed, row of each bit or -1, first word of each type, type values, words)."""
    n = merged.weight.size
    atoms = None if match else _atoms(merged)
    if atoms is not None:
        rows, kinds, values = atoms
        sizes = np.bincount(kinds, minlength=len(values))
        start = np.concatenate(([0], np.cumsum((sizes + 63) // 64))).astype(np.int64)
        if 3 * start[-1] <= n + 24:
            bit_row = np.full(64 * start[-1], -1, dtype=np.int64)
            for kind in range(len(values)):
                bit_row[64 * start[kind] : 64 * start[kind] + sizes[kind]] = rows[kinds == kind]
            return True, bit_row, start, values, int(start[-1])
    words = (n + 63) // 64
    bit_row = np.full(64 * words, -1, dtype=np.int64)
    bit_row[:n] = np.arange(n)
    return False, bit_row, np.zeros(1, dtype=np.int64), np.zeros((0, 1)), words


def pack(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack flags (..., 64·words) into words (..., words), lowest bit first."""
    return np.packbits(flags, axis=-1, bitorder="little").view(np.uint64)


def _units(prices: FloatArray, cost: FloatArray, budget: float | None) -> tuple[IntArray, int]:
    """Prices and the budget in integer units, so that what is left of the budget is exact."""
    if budget is None:
        return np.zeros(prices.size, dtype=np.int64), UNLIMITED
    unit = (budget if budget > 0 else max(float(cost.max(initial=0.0)), 1.0)) / _UNITS
    units = np.rint(np.minimum(prices / unit, 2.0 * _UNITS)).astype(np.int64)
    return units, (_UNITS if budget > 0 else 0) + (units.size + 7)


def _columns(codes: IntArray, bit_row: IntArray, level_size: IntArray, level_offset: IntArray) -> NDArray[np.bool_]:
    """Return which bits have the outcome of each column, level by level."""
    flags, used = np.zeros((int(level_offset[-1]), bit_row.size), dtype=bool), bit_row >= 0
    for b, size in enumerate(level_size):
        flags[level_offset[b] : level_offset[b + 1], used] = b == codes[bit_row[used], :size].T
    return flags


def compile_instance(arrays: Arrays) -> Compiled:
    """Compile the array contract of `solve_support`."""
    used_rows, match = np.flatnonzero(arrays.context >= 0), arrays.match
    # The start set of a row, as its last code, keeps rows apart and is no test.
    codes = np.concatenate((arrays.codes, arrays.context[:, None]), axis=1)[used_rows]
    merged = merge_rows(codes, arrays.weight[used_rows], arrays.stakes[used_rows], match=match)
    outcomes = codes[:, :-1].max(axis=0, initial=0).astype(np.int64) + 1
    order = np.argsort(-outcomes, kind="stable")
    packed, bit_row, type_start, type_values, words = _layout(merged, match=match)
    outcomes = outcomes[order]
    level_size = np.array([(outcomes > b).sum() for b in range(int(outcomes.max(initial=1)))], dtype=np.int64)
    level_offset = np.concatenate(([0], np.cumsum(level_size))).astype(np.int64)
    flags = _columns(merged.codes[:, order], bit_row, level_size, level_offset)
    cell_rows = pack(flags).reshape(flags.shape[0], words)
    values = np.concatenate((merged.weight[:, None], merged.loss), axis=1)
    if match:
        values = np.concatenate((values, merged.loss), axis=1)
    prices = _prices(arrays.cost[order], arrays.group_cost[order], arrays.group[order], arrays.budget)
    everything = float(values[:, 1].sum() - values[:, 1].max()) if match else float(values[:, 1:].sum(axis=0).min())
    smallest = float(merged.weight.min())
    instance = Instance(
        packed=packed,
        match=match,
        words=words,
        bits=int(bit_row.size if packed else merged.weight.size),
        outcomes=outcomes,
        level_size=level_size,
        level_offset=level_offset,
        cells=np.ascontiguousarray(cell_rows.T),
        cell_rows=np.ascontiguousarray(cell_rows),
        onehot=np.zeros((0, 0)) if packed else np.ascontiguousarray(flags.T[: merged.weight.size], dtype=np.float64),
        row_values=np.ascontiguousarray(values),
        type_start=type_start,
        type_values=np.ascontiguousarray(type_values),
        salt=np.random.default_rng(20_240_229).integers(1, 1 << 63, size=words, dtype=np.uint64),
        penalty=arrays.penalty,
        tolerance=1e-12 * everything,
        constant_below=smallest / 2 if smallest > 1e-11 * merged.weight.sum() else -1.0,
        **prices,
    )
    return Compiled(instance, order, bit_row, merged, _units(arrays.cost, arrays.cost, arrays.budget)[1])


def _prices(cost: FloatArray, group_cost: FloatArray, group: IntArray, budget: float | None) -> dict[str, Any]:
    """Prices, active groups renumbered from 0, and the tests that may pay as mere openers of their group."""
    changes = (group >= 0) & (np.abs(cost - group_cost) > 0)
    names = np.unique(group[changes])
    names = names[[(group == name).sum() > 1 for name in names]]  # alone in its group, a test has one price
    if names.size > MOST_GROUPS:
        raise PlanError(
            f"{names.size} groups lower the prices of their tests; the search tells {MOST_GROUPS} at most apart; take "
            'tests of some groups out of them, each at one price, or use method="lookahead" or "myopic"'
        )
    number = np.full(cost.size, -1, dtype=np.int64)
    opener = np.zeros(cost.size, dtype=bool)
    for g, name in enumerate(names):
        member = np.flatnonzero(group == name)
        number[member] = g
        saving = cost[member] - group_cost[member]
        for position, j in enumerate(member):
            opener[j] = bool((np.delete(saving, position) > cost[j]).any())
    discounted = np.where(number >= 0, group_cost, cost)
    return {
        "uniform": bool(names.size == 0 and np.ptp(cost) == 0) if cost.size else True,
        "dearer": bool((discounted > cost).any()),
        "grouped": bool(names.size),
        "opening": bool(opener.any()),
        "least": float(np.minimum(cost, discounted).min(initial=np.inf)),
        "price": np.ascontiguousarray(cost),
        "group_price": np.ascontiguousarray(discounted),
        "price_units": _units(cost, cost, budget)[0],
        "group_units": _units(discounted, cost, budget)[0],
        "group": number,
        "opener": opener,
    }
