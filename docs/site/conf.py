# Settings of Sphinx for the site, which tools/site builds.
project = "gpubench"
html_title = "gpubench"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_heading_anchors = 4
# Blocks that are no language of the highlighter stay as they are.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
