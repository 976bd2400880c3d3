"""Versions come from tags, and nothing but a tag calls itself a release."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import ModuleType

import pytest

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PROBAND_VERSION", raising=False)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "first")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *AUTHOR, *arguments], check=True, capture_output=True)


def commit(folder: Path, text: str) -> None:
    (folder / "file").write_text(text)
    git(folder, "add", "file")
    git(folder, "commit", "--quiet", "--message", text)


def test_a_tag_is_the_version_and_commits_after_it_are_on_the_way_to_the_next(
    hook: ModuleType, repository: Path
) -> None:
    assert hook.version(repository) == "0.1.0.dev1"
    git(repository, "tag", "-a", "v0.1.0", "-m", "first")
    git(repository, "tag", "other")
    assert hook.version(repository) == "0.1.0"
    (repository / "file").write_text("changed")
    assert hook.version(repository) == "0.1.1.dev0"
    commit(repository, "second")
    assert hook.version(repository) == "0.1.1.dev1"
    git(repository, "tag", "v0.2.0")
    assert hook.version(repository) == "0.2.0"
    git(repository, "tag", "-f", "v3", "HEAD")
    git(repository, "tag", "-d", "v0.2.0")
    with pytest.raises(ValueError, match="tags of versions are v and three numbers"):
        hook.version(repository)


def test_an_sdist_keeps_its_version_and_a_container_is_told(
    hook: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROBAND_VERSION", raising=False)
    assert hook.version(tmp_path) == hook.UNKNOWN
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: proband\nVersion: 1.2.0\n\nVersion of a README\n")
    assert hook.version(tmp_path) == "1.2.0"
    monkeypatch.setenv("PROBAND_VERSION", "1.3.0")
    assert hook.version(tmp_path) == "1.3.0"
