"""Names of code in tables and titles may break after dots, slashes, colons and low lines, and in titles nowhere else.

In tables they leave sentences no room otherwise; a title on a phone would break within a word.
"""

from __future__ import annotations

import re
from typing import Any

CELL = re.compile(r"<td>.*?</td>|<h1>.*?</h1>", flags=re.DOTALL)
CODE = re.compile(r'(?<=<span class="pre">)[^<]{16,}(?=</span>)')
PLACE = re.compile(r"(?<=[./_:])(?=[^./_:;])")


def breakable(page: str) -> str:
    """Return a page whose long names in cells and titles may break.

    Examples
    --------
    >>> breakable('<td><span class="pre">proband.agents.Doubling</span></td>')
    '<td><span class="pre">proband.<wbr>agents.<wbr>Doubling</span></td>'
    """
    return CELL.sub(lambda cell: CODE.sub(lambda name: PLACE.sub("<wbr>", name[0]), cell[0]), page)


def setup(app: Any) -> dict[str, bool]:
    """Let names break on every page."""
    app.connect("html-page-context", _on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _on_page(app: Any, name: str, template: str, context: dict[str, Any], tree: Any) -> None:
    if "body" in context:
        context["body"] = breakable(context["body"])
