from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from tests.processes import in_child

from proband.distributions import covariance_files
from proband.distributions.array_files import read_mat
from proband.errors import DistributionError
from proband.files import LARGEST_ARRAYS, MOST_ARRAYS

TYPES = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
MATRIX = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 3.0]])


def saved(content: dict[str, Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, content, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 5), (0, 3), (1, 3)])
def test_matrices_are_read_as_scipy_reads_them(kind: str, shape: tuple[int, int], compressed: bool) -> None:
    array = np.arange(np.prod(shape), dtype=kind).reshape(shape)
    content = saved({"C": array, "a_longer_name": array + 1, "text": "of three sites"}, do_compression=compressed)
    found, expected = read_mat(content), loadmat(io.BytesIO(content))
    assert sorted(found) == ["C", "a_longer_name"]
    for name in found:
        assert np.array_equal(found[name], expected[name])
        assert found[name].shape == expected[name].shape


def test_numbers_that_were_stored_in_fewer_bytes() -> None:
    """MATLAB keeps whole doubles as bytes."""
    plain = saved({"C": np.eye(2) * 7})
    numbers = struct.pack("<2I", 9, 32) + np.array([7.0, 0.0, 0.0, 7.0]).tobytes()
    assert plain.endswith(numbers)
    small = plain[: -len(numbers)] + struct.pack("<HH4B", 2, 4, 7, 0, 0, 7)
    size = struct.unpack("<I", plain[132:136])[0] - len(numbers) + 8
    content = small[:132] + struct.pack("<I", size) + small[136:]
    assert np.array_equal(read_mat(content)["C"], loadmat(io.BytesIO(content))["C"])


def test_files_of_machines_that_begin_with_the_large_end() -> None:
    words = struct.pack(">4I", 6, 8, 6, 0) + struct.pack(">4I", 5, 8, 3, 3) + struct.pack(">HH4s", 1, 1, b"C")
    words = words[:32] + struct.pack(">I4s", 1 << 16 | 1, b"C") + struct.pack(">2I", 9, 72)
    body = words + MATRIX.astype(">f8").tobytes(order="F")
    content = b"MATLAB 5.0".ljust(124) + struct.pack(">H2s", 0x0100, b"MI") + struct.pack(">2I", 14, len(body)) + body
    assert np.array_equal(loadmat(io.BytesIO(content))["C"], MATRIX)
    assert np.array_equal(read_mat(content)["C"], MATRIX)


@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "i2", "u2", "u1"])
@pytest.mark.parametrize("order", "<>")
def test_level_four(kind: str, order: str) -> None:
    numbers = np.arange(6, dtype=order + kind).reshape(2, 3)
    precision = ("f8", "f4", "i4", "i2", "u2", "u1").index(kind)
    code = 10 * precision + (1000 if order == ">" else 0)
    content = struct.pack(f"{order}5i", code, 2, 3, 0, 2) + b"C\0" + numbers.tobytes(order="F")
    assert np.array_equal(loadmat(io.BytesIO(content))["C"], numbers)
    assert np.array_equal(read_mat(content)["C"], numbers)


def test_level_four_as_it_is_written() -> None:
    content = saved({"C": MATRIX, "name": "text", "z": MATRIX * 1j}, format="4")
    assert list(read_mat(content)) == ["C"]
    assert np.array_equal(read_mat(content)["C"], MATRIX)


def test_what_is_no_real_matrix_is_passed_over() -> None:
    cells = np.empty((1, 2), dtype=object)
    cells[:] = [["a", 1.0]]
    from scipy.sparse import csc_array

    content = {
        "cells": cells,
        "struct": {"a": 1},
        "z": MATRIX * 1j,
        "sparse": csc_array(MATRIX),
        "cube": np.ones((2, 2, 2)),
    }
    for compressed in (False, True):
        assert list(read_mat(saved({**content, "C": MATRIX}, do_compression=compressed))) == ["C"]


def test_version_7_3_is_refused(tmp_path: Path) -> None:
    head = b"MATLAB 7.3 MAT-file".ljust(124) + struct.pack("<H2s", 0x0200, b"IM")
    (tmp_path / "c.mat").write_bytes(head.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(DistributionError, match=r"version 7\.3 \(HDF5\), or later; save it with -v7"):
        covariance_files.read(tmp_path / "c.mat", None)


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    n = LARGEST_ARRAYS // 8 + 1
    outer = struct.pack("<2I", 14, 48 + 8 * n) + struct.pack("<4I", 6, 8, 6, 0) + struct.pack("<2I2i", 5, 8, n, 1)
    packed = zlib.compress(outer + struct.pack("<HH4s", 1, 1, b"C") + struct.pack("<2I", 9, 8 * n) + bytes(10**6))
    head = saved({"C": MATRIX})[:128]
    (tmp_path / "c.mat").write_bytes(head + struct.pack("<2I", 15, len(packed)) + packed)
    with pytest.raises(DistributionError, match="would take 256 MiB of memory; at most 256 MiB are read"):
        covariance_files.read(tmp_path / "c.mat", None)


def test_a_wrong_checksum_and_a_tail() -> None:
    head, plain = saved({"C": MATRIX})[:128], saved({"C": MATRIX})[128:]
    packed = zlib.compress(plain)
    assert np.array_equal(read_mat(head + struct.pack("<2I", 15, len(packed)) + packed)["C"], MATRIX)
    for wrong in (packed[:-1] + bytes([packed[-1] ^ 1]), zlib.compress(plain + bytes(10**6)), packed[:-4]):
        with pytest.raises(ValueError, match=r"incorrect data check|does not end where it says"):
            read_mat(head + struct.pack("<2I", 15, len(wrong)) + wrong)


def test_a_file_of_many_empty_elements() -> None:
    with pytest.raises(ValueError, match="more than 1000 elements"):
        read_mat(saved({"C": MATRIX}) + struct.pack("<2I", 1, 0) * MOST_ARRAYS)


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}])
def test_no_change_of_one_byte_is_too_much(options: dict[str, Any]) -> None:
    """In a child, as what read these files before was killed by one of them."""
    content = saved({"C": MATRIX}, **options)

    def read_all() -> str:
        read = 0
        for place in range(len(content)):
            for value in (0, 1, 5, 14, 15, 127, 128, 255):
                try:
                    read_mat(content[:place] + bytes([value]) + content[place + 1 :])
                    read += 1
                except ValueError:
                    pass
            with pytest.raises(ValueError):  # noqa: PT011 (whichever)
                read_mat(content[:place] if place != 128 or "format" in options else b"")
        return str(read > 0)

    assert in_child(read_all) == "True"
