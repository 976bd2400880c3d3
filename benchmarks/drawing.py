"""What the pictures of all benchmarks share: letters, colours, labels at the ends of lines, and the file."""

from contextlib import contextmanager

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from proband.quantities import marked

GREEN, BLUE, RED, YELLOW, PURPLE, GREY = "#0b6e4f", "#3d5a98", "#c8553d", "#e09f3e", "#7a5195", "#8a8a8a"
PALE_GREEN, PALE_BLUE = "#8fb9a8", "#9fb2d8"
"""proband is green in all of them; one peer has one colour."""


@contextmanager
def picture(path, size, columns=1):
    """Give the axes of a picture side by side, and write it in the end."""
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        canvas, axes = plt.subplots(1, columns, figsize=size, squeeze=False)
        yield axes[0]
        for ax in axes[0]:
            ax.grid(alpha=0.25)
            ax.set_axisbelow(True)
        canvas.tight_layout(w_pad=3)
        canvas.savefig(path, dpi=160, metadata={"Software": None})
        plt.close(canvas)


def ticks(axis, values):
    """Mark these values alone, as people write them."""
    axis.set_ticks(values, [marked(value) for value in values])
    axis.set_minor_locator(mpl.ticker.NullLocator())
