"""The container file and the unit of systemd: what can be checked without an engine and without a running systemd."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

ROOT = Path(__file__).parents[2]
CONTAINER = ROOT / "deploy" / "Containerfile"
UNIT = ROOT / "deploy" / "proband.service"
INSTRUCTIONS = {
    *("FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "ARG"),
    *("STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
}


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in CONTAINER.read_text().splitlines() if line and not line.startswith("#")]
    assert not any(line.endswith("\\") for line in lines)
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def unit() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for line in UNIT.read_text().splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), defaultdict(list))
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            assert equals, line
            section[name].append(value)
    return found


def check_options(command: list[str]) -> None:
    """Raise unless `proband` takes the options of a command."""
    shown = subprocess.run(
        [sys.executable, "-m", "proband", command[0], "--help"], capture_output=True, text=True, check=True,
        env={"COLUMNS": "200", "TERM": "dumb", "PATH": ""},
    ).stdout  # fmt: skip
    for option in command[1:]:
        if option.startswith("--"):
            assert re.search(rf"{option}\b", shown), option


def test_the_container_file_says_what_there_is() -> None:
    named = instructions()
    assert {name for name, _ in named} <= INSTRUCTIONS
    assert [name for name, _ in named].count("FROM") == 2
    for name, rest in named:
        if name == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            assert all((ROOT / source).exists() for source in sources), rest
        if name in ("CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(rest), list)
    last = dict(named)
    assert last["USER"] == "proband"
    assert last["ENTRYPOINT"] == '["proband"]'
    check_options(json.loads(last["CMD"]))
    health = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
    compile(health[2], "HEALTHCHECK", "exec")
    extras = re.findall(r"\.\[(.*)\]", CONTAINER.read_text())[0].split(",")
    assert (
        set(extras) <= tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    )


def test_what_is_copied_is_not_ignored() -> None:
    ignored = (ROOT / "deploy" / "Containerfile.dockerignore").read_text().splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        part for name, rest in instructions() if name == "COPY" and "--from" not in rest for part in rest.split()[:-1]
    }
    assert copied == kept


def test_what_is_copied_is_enough_to_build_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ignored = (ROOT / "deploy" / "Containerfile.dockerignore").read_text().splitlines()
    for name in (line[1:] for line in ignored if line.startswith("!") and line != "!src"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setenv("PROBAND_VERSION", "1.2.0")
    found = ProjectMetadata(str(tmp_path), PluginManager())
    assert found.version == "1.2.0"
    assert found.core.readme.startswith("# proband")
    assert set(re.findall(r"\.\[(.*)\]", CONTAINER.read_text())[0].split(",")) <= set(found.core.optional_dependencies)


def test_the_versions_are_the_pinned_ones(tmp_path: Path) -> None:
    [pattern] = re.findall(r"grep -oE '(.*?)'", CONTAINER.read_text())
    found = subprocess.run(
        ["grep", "-oE", pattern, ROOT / "requirements" / "dev.txt"], capture_output=True, text=True, check=True
    ).stdout.split()
    pinned = {line.partition("==")[0] for line in found}
    assert {"numpy", "numba", "scipy", "fastapi", "uvicorn", "psycopg", "distributed", "typer"} <= pinned
    assert not any("\\" in line or ";" in line for line in found)


def test_the_unit_starts_what_there_is() -> None:
    service = unit()["Service"]
    [start] = service["ExecStart"]
    program, *command = shlex.split(start)
    assert program.endswith("/bin/proband")
    check_options(command)
    assert "--behind-proxy" in command  # else it would print a link into the journal, and serve one user
    for switch in ("NoNewPrivileges", "PrivateTmp", "ProtectHome", "LockPersonality"):
        assert service[switch] == ["yes"]
    assert service["Restart"] == ["always"]
    assert unit()["Install"]["WantedBy"] == ["multi-user.target"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    text = UNIT.read_text().replace("/opt/proband/bin/proband", sys.executable)
    (tmp_path / "proband.service").write_text(re.sub(r"^(User|Group)=.*$", r"\1=root", text, flags=re.MULTILINE))
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", tmp_path / "proband.service"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    own = [line for line in checked.stderr.splitlines() if "proband.service" in line]
    assert (own, checked.returncode) == ([], 0), checked.stderr
