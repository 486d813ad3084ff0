"""The documentation site: `make docs` builds it into docs/_build/html."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from crib_env.distribution import __version__  # noqa: E402 -- after the path

project = "crib_env"
author = "The crib_env authors"
copyright = author
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "site_pages",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"crib_env {version}"
html_math_renderer = "mathml"
html_copy_source = False
html_theme_options = {"source_repository": "", "footer_icons": []}
