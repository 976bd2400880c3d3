"""What the package is called and says of itself when it is built: its version, and its description.

The version is that of the tag: a commit that has ``v1.2.0`` is 1.2.0, the fifth one after it 1.2.1.dev5, and so is the
tag itself with changes that nobody committed. An sdist keeps what it was built as. Where there is neither, as in a
container, the variable ``PROBAND_VERSION`` says it.

The description is the README, whose links must lead somewhere from a package index, too. They are paths of the
repository. An address in ``[tool.hatch.metadata.hooks.custom]`` of pyproject.toml goes before them, and before
pictures; while there is none, links become the names of the files in the sdist, and pictures are left out.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HERE = Path(__file__).parent
UNKNOWN = "0+unknown"
DESCRIBED = re.compile(r"v(\d+)\.(\d+)\.(\d+)-(\d+)-g[0-9a-f]+(-dirty)?")
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")


def version(root: Path = HERE) -> str:
    """Return the version of what is built in a folder."""
    if said := os.environ.get("PROBAND_VERSION"):
        return said
    kept = root / "PKG-INFO"
    if kept.is_file():
        lines = kept.read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line.startswith("Version: ")).removeprefix("Version: ")
    if not (root / ".git").exists():
        return UNKNOWN
    tagged = _git(root, "describe", "--tags", "--match", "v[0-9]*", "--long", "--dirty")
    if tagged:
        return from_tag(tagged)
    count = _git(root, "rev-list", "--count", "HEAD")
    return f"0.1.0.dev{count}" if count else UNKNOWN  # on the way to the first one


def from_tag(described: str) -> str:
    """Return the version of a commit, from what ``git describe --long --dirty`` says of it.

    Examples
    --------
    >>> from_tag("v1.2.0-0-g2f3a1b0"), from_tag("v1.2.0-5-g2f3a1b0"), from_tag("v1.2.0-0-g2f3a1b0-dirty")
    ('1.2.0', '1.2.1.dev5', '1.2.1.dev0')
    """
    found = DESCRIBED.fullmatch(described)
    if not found:
        raise ValueError(
            f"the last tag is {described}; tags of versions are v and three numbers, as in v1.2.0; mend it"
        )
    major, minor, patch, later = map(int, found.groups()[:4])
    if later or found[5]:
        return f"{major}.{minor}.{patch + 1}.dev{later}"
    return f"{major}.{minor}.{patch}"


def _git(root: Path, *arguments: str) -> str:
    """Return what git says, nothing where it is not there or knows nothing."""
    try:
        return subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def described(readme: str, address: str = "") -> str:
    """Return the README as an index shows it.

    Examples
    --------
    >>> described("![Tree](docs/tree.svg) See [agents](docs/agents.md), [LICENSE](LICENSE).")
    ' See agents (`docs/agents.md`), `LICENSE`.'
    >>> described("[agents](docs/agents.md)", "https://example.org/proband/")
    '[agents](https://example.org/proband/docs/agents.md)'
    """

    def written(found: re.Match[str]) -> str:
        picture, text, path = found.groups()
        if address:
            return f"{picture}[{text}]({address}{path})"
        if picture:
            return ""
        file = path.partition("#")[0]
        return f"`{file}`" if text == file else f"{text} (`{file}`)"

    return LINK.sub(written, readme)


class CustomMetadataHook(MetadataHookInterface):
    """What hatchling calls for the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, self.config.get("address", ""))}
