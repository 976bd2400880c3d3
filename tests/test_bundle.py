"""Bundles: compiled code reads and writes the arrays that Python holds, and is compiled once."""

from __future__ import annotations

import copy
import importlib
import pickle
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import proband.planners.rollout
import proband.planners.sparse
from proband.bundle import Bundle
from proband.planners.rollout import grow_many, grow_tree, tree_value
from proband.planners.sparse import solve_support


@dataclass(frozen=True, eq=False)
class Things(Bundle):
    cube: NDArray[np.float64]
    words: NDArray[np.uint64]
    flags: NDArray[np.bool_]
    short: NDArray[np.int16]
    number: int
    share: float
    yes: bool


def things(shape=(2, 3, 4), yes=True):
    cube = np.arange(float(np.prod(shape))).reshape(shape)
    words, flags = np.array([1 << 63, 5], dtype=np.uint64), np.array([True, False])
    return Things(cube, words, flags, np.array([-7, 9], dtype=np.int16), -(1 << 40), 0.1, yes)


@numba.njit
def read(x):
    row = x.cube[1]
    shape = (x.cube.shape[0], x.cube.shape[2], x.cube.size, row.shape[0], row[2].size, x.words.size)
    numbers = (x.cube[1, 2, 3], row[2, 3], row[2][3], x.words[0], x.short[0], x.number, x.share)
    return shape, numbers, (x.flags[0], x.flags[1], x.yes)


@numba.njit
def write(x):
    x.cube[0, 1, 2] += 0.5
    x.cube[1][0][1] = 7
    x.words[1] |= np.uint64(8)
    x.flags[1] = True
    x.short[1] = x.short[0] - 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_has_addresses_of_its_own(copied):
    first = things()
    second = copied(first)
    assert read(second) == read(first)
    if second.cube is not first.cube:
        write(second)
        assert read(first) == read(things())


@dataclass(frozen=True, eq=False)
class Room(Bundle):
    short: NDArray[np.int16]
    table: NDArray[np.float64]
    flags: NDArray[np.bool_]


@numba.njit
def fill(x):
    for i in range(x.short.size):
        x.short[i], x.flags[i] = -1, True
        for j in range(x.table.shape[1]):
            x.table[i, j] = i - j


def test_arrays_of_zeros_lie_side_by_side_and_not_in_each_other():
    room = Room.zeros(flags=3, short=3, table=(3, 2))
    assert not any(array.any() for array in (room.short, room.table, room.flags))
    fill(room)
    assert room.short.tolist() == [-1, -1, -1]
    assert room.table.tolist() == [[0, -1], [1, 0], [2, 1]]
    assert room.flags.tolist() == [True, True, True]
    assert Room.zeros(flags=0, short=0, table=(0, 2)).table.shape == (0, 2)


def test_fields_and_elements_are_those_of_python():
    shape, numbers, truths = read(things())
    assert shape == (2, 4, 24, 3, 4, 2)
    assert numbers == (23.0, 23.0, 23.0, 1 << 63, -7, -(1 << 40), 0.1)
    assert truths == (True, False, True)
    assert read(things(yes=False))[2] == (True, False, False)


def test_what_is_written_stays():
    x = things()
    write(x)
    assert x.cube[0, 1, 2] == 6.5
    assert x.cube[1, 0, 1] == 7.0
    assert (x.cube != things().cube).sum() == 2
    assert x.words.tolist() == [1 << 63, 13]
    assert x.flags.tolist() == [True, True]
    assert x.short.tolist() == [-7, -8]


def test_other_sizes_are_no_other_type():
    read(things())
    read(things((2, 3, 9)))
    assert len(read.signatures) == 1


def test_arrays_with_gaps_are_refused():
    with pytest.raises(ValueError, match="cube is an array with gaps"):
        Things(*(things().cube[:, :, ::2], *(getattr(things(), name) for name in list(Things.__annotations__)[1:])))


def test_each_kernel_of_the_sparse_search_is_compiled_for_one_signature():
    """A second one, for a literal or a shorter integer, would be compiled beside it on every new machine."""
    rng = np.random.default_rng(0)
    codes, weight = rng.integers(0, 3, size=(20, 5)), np.full(20, 0.05)
    for kind, stakes in (("max", np.full((20, 1), 0.05)), ("sum", rng.random((20, 3)))):
        for limits in ({}, {"max_tests": 3}, {"budget": 0.05}, {"group": [0, 0, 1, 1, -1], "group_cost": [0.01] * 5}):
            solve_support(codes, weight, stakes, np.linspace(0.01, 0.03, 5), kind=kind, **limits)
    assert kernels_of_one_signature(proband.planners.sparse) > 50


def test_each_kernel_of_rollouts_is_compiled_for_one_signature():
    rng = np.random.default_rng(0)
    codes, weight, cost = rng.integers(0, 3, size=(20, 5)), np.full(20, 0.05), np.linspace(0.01, 0.03, 5)
    for stakes in (rng.random((20, 3)), np.eye(2)[codes[:, 0] % 2] / 20):
        for limits in ({}, {"max_tests": 3}, {"budget": 0.05}, {"group": [0, 0, 1, 1, -1], "group_cost": [0.01] * 5}):
            tree = grow_tree(codes, weight, stakes, None, cost, **limits)
            tree_value(tree, codes, weight, stakes, cost)
        grow_many(codes, np.tile(weight, (2, 1)), np.tile(stakes, (2, 1, 1)), None, cost)
    assert kernels_of_one_signature(proband.planners.rollout) > 15


def kernels_of_one_signature(package):
    """Check that none of the kernels of a package has two signatures; returns how many there are."""
    seen = 0
    for path in Path(package.__file__).parent.glob("*_kernel.py"):
        module = importlib.import_module(f"{package.__name__}.{path.stem}")
        for name, function in vars(module).items():
            if isinstance(function, numba.core.dispatcher.Dispatcher):
                assert len(function.signatures) <= 1, (name, function.signatures)
                seen += function.py_func.__module__ == module.__name__
    return seen
