from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proband.distributions import covariance_files
from proband.distributions.array_files import read_npy, read_npz
from proband.errors import DistributionError
from proband.files import LARGEST_ARRAYS, MOST_ARRAYS, MOST_SITES

REAL = ["f8", "f4", "f2", ">f8", ">i4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


def npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), version=version)
    return buffer.getvalue()


def header(text: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode("latin-1") + content


@pytest.mark.parametrize("kind", REAL)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_arrays_are_read_as_numpy_reads_them(kind: str, order: str, version: tuple[int, int]) -> None:
    array = np.asarray(np.arange(12).reshape(3, 4), dtype=kind, order=order)  # type: ignore[call-overload]
    content = npy(array, version)
    found = read_npy(content)[""]
    assert np.array_equal(found, np.load(io.BytesIO(content)))
    assert found.dtype == array.dtype


@given(st.lists(st.integers(0, 4), max_size=2), st.booleans())
def test_shapes(shape: list[int], compressed: bool) -> None:
    array = np.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, a=array)
    assert np.array_equal(read_npz(buffer.getvalue())["a"], array)
    assert np.array_equal(read_npy(npy(array))[""], array)


def test_what_is_no_matrix_of_real_numbers_is_left_out() -> None:
    buffer = io.BytesIO()
    np.savez(
        buffer, text=np.array(["a"]), yes=np.array([True]), complex=np.array([1j]), cube=np.zeros((2, 2, 2)),
        table=np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]), when=np.array(["2024-05-01"], dtype="M8[D]"), C=np.eye(2),
    )  # fmt: skip
    assert list(read_npz(buffer.getvalue())) == ["C"]


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (str(tmp_path / "exploded"),)

    np.save(tmp_path / "a.npy", np.array([Bomb()]), allow_pickle=True)
    with pytest.raises(DistributionError, match="its square arrays are"):
        covariance_files.read(tmp_path / "a.npy", None)
    assert not (tmp_path / "exploded").exists()


LIES = {
    "eight terabytes": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }", bytes(64)),
    "a shape of forty digits": header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'9' * 40},), }}"),
    "code": header("{'descr': '<f8', 'fortran_order': False, 'shape': (exit(),), }"),
    "brackets": header("{" + "(" * 9000),
    "minus signs": header("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "-" * 9000 + "1,), }"),
    "a field twice less": header("{'descr': '<f8', 'shape': (1, 1), }", bytes(8)),
    "one field more": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), 'x': True}", bytes(8)),
    "too few numbers": header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }", bytes(64)),
    "too many numbers": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", bytes(64)),
    "a long header": b"\x93NUMPY\2\0" + struct.pack("<I", 2**32 - 1),
    "a format to come": b"\x93NUMPY\7\0" + bytes(100),
    "nothing": b"",
    "a magic word": b"\x93NUMPY",
}


@pytest.mark.parametrize("name", LIES)
def test_a_header_that_lies(name: str, tmp_path: Path) -> None:
    (tmp_path / "c.npy").write_bytes(LIES[name])
    with pytest.raises(DistributionError, match=r"c\.npy: it cannot be read"):
        covariance_files.read(tmp_path / "c.npy", None)


def archive(compression: int, *members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return buffer.getvalue()


def test_a_bomb_is_not_unfolded(tmp_path: Path) -> None:
    n = LARGEST_ARRAYS // 8 + 1
    zeros = header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 1), }}", bytes(10**6))
    (tmp_path / "c.npz").write_bytes(archive(zipfile.ZIP_DEFLATED, ("C.npy", zeros)))
    with pytest.raises(DistributionError, match="would take 256 MiB of memory; at most 256 MiB are read"):
        covariance_files.read(tmp_path / "c.npz", None)
    half = header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n // 2}, 1), }}")
    content = archive(zipfile.ZIP_DEFLATED, *((f"{letter}.npy", half) for letter in "abc"))
    with pytest.raises(ValueError, match="and the file holds 0 for it"):
        read_npz(content)


def test_archives_that_numpy_never_writes() -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(ValueError, match="NumPy never uses"):
            read_npz(archive(method, ("C.npy", npy(np.eye(2)))))
    many = [(f"{n}.npy", npy(np.eye(1))) for n in range(MOST_ARRAYS + 1)]
    with pytest.raises(ValueError, match="more than 1000 arrays"):
        read_npz(archive(zipfile.ZIP_STORED, *many))
    assert len(read_npz(archive(zipfile.ZIP_STORED, *many[:-1]))) == MOST_ARRAYS
    with pytest.raises(ValueError, match="no archive"):
        read_npz(b"PK")


def test_more_tests_than_are_read(tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.zeros((MOST_SITES + 1, MOST_SITES + 1), dtype=np.int8))
    with pytest.raises(DistributionError, match="it is of 4097 tests; at most 4096 are read; leave some out"):
        covariance_files.read(tmp_path / "c.npy", None)


def test_a_mean_that_does_not_fit(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", C=np.eye(3), mean=np.zeros(2))
    with pytest.raises(DistributionError, match="its mean has 2 numbers and its covariance 3 tests"):
        covariance_files.read(tmp_path / "c.npz", None)
    (tmp_path / "c.csv").write_text(",a,b\nmean,1\na,1,0\nb,0,1\n")
    with pytest.raises(DistributionError, match="a covariance is square"):
        covariance_files.read(tmp_path / "c.csv", ["b", "a"])


def test_a_cell_longer_than_any_number(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("x" * 200_000 + ",a\n1,0\n0,1\n")
    with pytest.raises(DistributionError, match="cannot be read"):
        covariance_files.read(tmp_path / "c.csv", None)
