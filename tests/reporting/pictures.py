"""The picture of a report for the documentation, that of the tutorial's castings: ``make pictures``."""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

from PIL import Image
from tests.service.page.conftest import browsing

import proband
from proband.reporting import report_on

ROOT = Path(__file__).parents[2]
SIZE = {"width": 900, "height": 1790}
COLOURS = 96


def draw(folder: Path) -> None:
    """Make the picture: the beginning of what ``proband report castings.toml --data castings.csv`` writes."""
    tutorial = (ROOT / "docs" / "spreadsheets.md").read_text(encoding="utf-8")
    [text] = re.findall(r"^```toml\n(.*?)^```$", tutorial, re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "castings.toml").write_text(text, encoding="utf-8")
        problem = proband.Problem.load(Path(scratch) / "castings.toml")
        page_of_html = Path(scratch) / "report.html"
        report_on(proband.fit(problem, ROOT / "examples" / "castings.csv")).save(page_of_html)
        with browsing() as browser:
            page = browser.new_page(viewport=SIZE)
            page.goto(page_of_html.as_uri())
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = folder / "report.png"
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    sys.stdout.write(f"{path} {path.stat().st_size // 1024} kB\n")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
