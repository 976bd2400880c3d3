"""The picture: planning and the times of asks against the processes; memory and the list against the studies."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

GREEN, GREY, BLUE = "#0b6e4f", "#8a8a8a", "#3d5a98"


def draw(path, processes, studies):
    """Draw four small pictures."""
    with plt.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        canvas, axes = plt.subplots(2, 2, figsize=(7.4, 5.2))
        n = [row["processes"] for row in processes]
        planning, asks, memory, lists = axes.flat
        planning.plot(n, [row["planning"] for row in processes], "o-", color=GREEN)
        planning.set(title="seconds of planning, all together", xlabel="service processes")
        asks.plot(n, [1000 * row["ask"][1] for row in processes], "o-", color=GREEN, label="processes")
        asks.set(title="99 % of asks within, ms", xlabel="service processes")
        for ax in (planning, asks):
            ax.set_xticks(n, [str(each) for each in n])
        m = [row["studies"] for row in studies]
        memory.plot(m, [max(row["memory"]) / 1e6 for row in studies], "o-", color=BLUE)
        memory.set(title="memory of a service process, MB", xlabel="studies")
        lists.plot(m, [1000 * row["ask"][1] for row in studies], "o-", color=GREEN, label="99 % of asks")
        pages = [1000 * row["list"][len(row["list"]) // 2] for row in studies]
        lists.plot(m, pages, "o-", color=GREY, label="a page of the list")
        lists.legend(frameon=False, ncols=2, loc="upper right")
        lists.set(title="times, ms", xlabel="studies")
        for ax in (memory, lists):
            ax.set_xscale("log")
            ax.set_xticks(m, [f"{each:,}" for each in m])
            ax.minorticks_off()
        for ax in axes.flat:
            ax.set_ylim(0, 1.3 * ax.dataLim.y1)
            ax.grid(alpha=0.25)
        canvas.tight_layout()
        canvas.savefig(path, dpi=160, metadata={"Software": None})
        plt.close(canvas)
