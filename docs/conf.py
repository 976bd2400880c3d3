"""The documentation site: ``make docs``."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import gallery_pages
import reference_pages

_DOCS = Path(__file__).parent
project, author, copyright = "proband", "The proband developers", "The proband developers"
release = importlib.metadata.version("proband")
extensions = ["breaking", "mathematics", "myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_title = f"proband {release}"
exclude_patterns = ["_build"]
add_module_names = False
toc_object_entries_show_parents = "hide"
html_show_search_summary = False  # it would be fetched, which files do not allow
reference_pages.write(_DOCS / "reference")
gallery_pages.write(_DOCS / "gallery")
