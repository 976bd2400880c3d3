"""What Python asks of the memo when it reads the incumbent policy; the rows of a state are in `scratch.here`."""

from __future__ import annotations

from typing import Any

from proband.compiling import kernel
from proband.planners.sparse.instance import Instance
from proband.planners.sparse.memo import Memo
from proband.planners.sparse.memo_kernel import child_state, find, key_of
from proband.planners.sparse.scratch import Scratch


@kernel
def find_here(instance: Instance, memo: Memo, scratch: Scratch, mask: Any, depth: int, budget: int) -> Any:
    """Node of a state, or -1."""
    bits = scratch.here
    return find(memo, key_of(instance, bits, bits, mask, depth, budget), bits, bits, mask, depth, budget)


@kernel
def follow(instance: Instance, scratch: Scratch, b: int, test: int, mask: Any, depth: int, budget: int) -> Any:
    """Open groups, tests left and budget left once `test` had outcome b."""
    cell = instance.cell_rows[instance.level_offset[b] + test]
    return child_state(instance, scratch.here, cell, test, mask, depth, budget)
