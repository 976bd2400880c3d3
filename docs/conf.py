"""The documentation site: ``make docs``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import reference_pages

_ROOT = Path(__file__).parents[1]
project, author, copyright = "proband", "The proband developers", "The proband developers"
release = re.search(r'__version__ = "(.*)"', (_ROOT / "src" / "proband" / "__init__.py").read_text())[1]
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"proband {release}"
exclude_patterns = ["_build"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
reference_pages.write(Path(__file__).parent / "reference")
html_show_search_summary = False  # it would be fetched, which files do not allow
