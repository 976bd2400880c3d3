"""Formulae as MathML, which browsers draw themselves: no script, no font and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def setup(app: Any) -> dict[str, bool]:
    """Make the builder of pages write formulae like this."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def formula(text: str, *, as_block: bool = False) -> str:
    r"""Return a formula as MathML; the bars of an absolute value belong together, and are as high as letters.

    Examples
    --------
    >>> formula(r"\lvert f \rvert").split("\n")[1].strip()
    '<mo form="prefix" stretchy="false">|</mo>'
    """
    found: str = tex2mathml(text, as_block=as_block)
    for bar, form in (('<mo class="mathopen">|</mo>', "prefix"), ("<mo>|</mo>", "postfix")):
        found = found.replace(bar, f'<mo form="{form}" stretchy="false">|</mo>')
    return found


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(formula(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{formula(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode
