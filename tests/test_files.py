from __future__ import annotations

from pathlib import Path

import pytest

from proband import files
from proband.errors import PolicyError, TableError, shown
from proband.files import DEEPEST, LARGEST_FILE, check_nesting, read_bytes, read_json, read_text


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfgr\xc3\xbcn")
    assert read_bytes(tmp_path / "a", TableError) == b"\xef\xbb\xbfgr\xc3\xbcn"
    assert read_text(tmp_path / "a", TableError) == "grün"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(8 * 10**12)  # it claims eight terabytes, and takes none
    with pytest.raises(TableError, match=r"a: it has more than 256 MiB, which is the most that is read; split"):
        read_bytes(tmp_path / "a", TableError)
    (tmp_path / "b").write_bytes(bytes(11))
    assert len(read_bytes(tmp_path / "b", TableError, most=11)) == 11
    with pytest.raises(TableError, match="more than 0 MiB"):
        read_bytes(tmp_path / "b", TableError, most=10)


def test_what_has_no_end_is_read_up_to_the_limit() -> None:
    with pytest.raises(TableError, match="more than"):
        read_bytes("/dev/zero", TableError, most=1000)


@pytest.mark.parametrize("path", ["nowhere", ".", "a\0b", "x" * 5000])
def test_what_cannot_be_opened(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TableError, match=r"it cannot be read \(.+\); check the path"):
        read_bytes(path, TableError)


def test_a_text_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(PolicyError, match="not UTF-8"):
        read_text(tmp_path / "a", PolicyError)


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, "1" * 5000, '{"a":' * (DEEPEST + 1) + "1" + "}" * (DEEPEST + 1)]
)
def test_json_that_is_none(content: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(content)
    with pytest.raises(PolicyError, match="it is not JSON"):
        read_json(tmp_path / "a", PolicyError)


def test_plain_values() -> None:
    check_nesting({"a": [1, 2.5, None, {"b": "c"}], "d": 10**400})
    with pytest.raises(ValueError, match="more than 4300 digits"):
        check_nesting([0x1 << 20_000])
    value: list[object] = []
    for _ in range(DEEPEST - 1):
        value = [value]
    check_nesting(value)
    with pytest.raises(ValueError, match=f"more than {DEEPEST} deep"):
        check_nesting([value])


def test_a_message_shows_a_part_of_what_is_long() -> None:
    assert shown([1, "a"]) == "[1, 'a']"
    assert len(shown("x" * 10**6)) < 300


def test_every_limit_is_documented() -> None:
    text = (Path(__file__).parents[1] / "docs" / "problem-files.md").read_text(encoding="utf-8")
    limits = {name: value for name, value in vars(files).items() if name.isupper()}
    assert limits["LARGEST_FILE"] == LARGEST_FILE
    for name, value in limits.items():
        if name != "LARGEST_NUMBER":
            written = files.size(value) if name.startswith("LARGEST") else f"{value:,}"
            assert f"| {written} |" in text, name
