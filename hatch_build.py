"""The description of the package: the README, whose links must lead somewhere from a package index, too.

Links of the README are paths of the repository. An address in ``[tool.hatch.metadata.hooks.custom]`` of pyproject.toml
goes before them, and before pictures; while there is none, links become the names of the files in the sdist, and
pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]*)\)")


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
