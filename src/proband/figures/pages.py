"""Pages of HTML: one file with its pictures inside, readable without a network, and fit to be printed on A4."""

from __future__ import annotations

import html
from collections.abc import Iterable

from proband.texts import escaped

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22303c; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } .when { color: #5f6b76; margin-top: .2rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.tile { border: 1px solid #d8dee4; border-radius: .5rem; padding: .6rem 1rem; min-width: 8rem; }
.tile b { display: block; font-size: 1.35rem; } .tile span { color: #5f6b76; font-size: .85rem; }
.alarm { border-left: .3rem solid #d2691e; padding-left: .8rem; }
.calm { border-left: .3rem solid #2e8b57; padding-left: .8rem; }
table { border-collapse: collapse; } td.n, th.n { text-align: right; } td.n, .k { white-space: nowrap; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
.lined td, .lined th { border-bottom: 1px solid #e5e9ec; } .wide { overflow-x: auto; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; }
svg { max-width: 100%; height: auto; display: block; } figure { margin: .6rem 0; } li { margin: .2rem 0; }
@page { size: A4; margin: 14mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; font-size: 10.5pt; }
  h2, h3 { break-after: avoid; } tr, .tile, .alarm, .calm, svg, figure { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow-x: visible; }
}
"""


WITHIN = """
.proband .tiles { display: flex; flex-wrap: wrap; gap: .6rem; margin: .4rem 0; }
.proband .tile { border: 1px solid #8a97a3; border-radius: .4rem; padding: .3rem .8rem; }
.proband .tile b { display: block; font-size: 1.2em; } .proband .tile span { opacity: .75; font-size: .85em; }
.proband td, .proband th { text-align: left; } .proband td.n, .proband th.n { text-align: right; }
.proband svg { max-width: 100%; height: auto; } .proband figure { margin: .4rem 0; }
"""
"""The style of a piece of HTML that stands on a page of others, which has its own letters and colours."""


def page(title: str, parts: Iterable[str]) -> str:
    """Return a page of parts that are HTML already.

    Examples
    --------
    >>> page("a < b", ["<p>c</p>"]).splitlines()[1][:75]
    '<html lang="en"><head><meta charset="utf-8"><title>a &lt; b</title><style>'
    """
    head = '<html lang="en"><head><meta charset="utf-8">'
    body = "\n".join(parts)
    named = f"<title>{as_html(title)}</title><style>{STYLE}</style></head>"
    return f"<!doctype html>\n{head}{named}<body>\n{body}\n</body></html>\n"


def as_html(text: str) -> str:
    """Return a text for a page, where it is text and nothing else."""
    return html.escape(escaped(text))
