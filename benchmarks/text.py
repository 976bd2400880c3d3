"""Small pieces of Markdown."""

import textwrap


def seconds(time):
    if time is None:
        return "–"
    if time < 1:
        return f"{time * 1e3:.3g} ms"
    return f"{time:.3g} s" if time < 100 else f"{time:.0f} s"


def size(memory):
    return f"{memory / 1e6:.0f} MB" if memory < 1e9 else f"{memory / 1e9:.2f} GB"


def ratio(slow, fast):
    times = slow / fast
    return f"{times:,.0f}×" if times >= 100 else f"{times:.3g}×"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in cells) + " |" for cells in lines)


def paragraph(text):
    return textwrap.fill(" ".join(text.split()), 118, break_on_hyphens=False)
