"""Configuration of the documentation site: `make docs` builds it, without network."""

from __future__ import annotations

import gc
import io
import json
import os
import re
from contextlib import redirect_stdout, suppress
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from packaging.version import Version
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.text import TextBuilder

from pytest_fairness import __version__
from pytest_fairness.cli.main import main

os.environ["COLUMNS"] = "80"  # for the help of commands
gc.disable()  # a build ends before its memory matters, and takes a fifth less time

project = "pytest-fairness"
version = release = __version__
html_title = f"{project} {version}"
SUMMARY = "Gate the release of a language model on fairness, in the pytest run you already have."

# The repository is the source, so that a page links to README.md and to the cards of suites as it does on GitHub.
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/api/*.md", "suites/*/README.md", "fixtures/*/README.md"]
exclude_patterns = [".*", "build", "dist", "pytest_fairness", "reports", "site", "tests"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4  # named as GitHub names them
highlight_language = "none"
smartquotes = False

default_role = "py:obj"  # a name in backticks links to its entry, if it has one
autodoc_default_options = {"members": True, "no-value": True}
autodoc_member_order = "bysource"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_show_sourcelink = False
html_sidebars = {"docs/index": [], "**": ["sidebar-nav-bs"]}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "check_switcher": False,
    "switcher": {"json_url": "../versions.json", "version_match": version},
    "navbar_end": ["version-switcher", "theme-switcher"],
    "search_as_you_type": True,
    "header_links_before_dropdown": 4,
    "footer_start": [],
    "footer_end": [],
    "primary_sidebar_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


FROM_DISK = """
if (location.protocol == "file:") {
  delete DOCUMENTATION_OPTIONS.theme_switcher_json_url;
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  document.head.insertAdjacentHTML("beforeend", "<style>.version-switcher__container { display: none }</style>");
}
"""
"""What a page may not read where it is opened from disk: the list of versions, and the pages that a search finds."""


def setup(app: Sphinx) -> None:
    """Connect the functions below to the build."""
    app.add_lexer("csv", TextLexer)
    app.add_directive("command", CommandHelp)
    app.connect("autodoc-skip-member", keep_methods)
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("doctree-read", keep_description)
    app.connect("doctree-read", link_whole_names)
    app.connect("doctree-resolved", list_pages)
    app.connect("html-page-context", list_parameters)
    app.connect("build-finished", write_llms_txt)
    app.connect("build-finished", write_versions)
    app.add_js_file(None, body=FROM_DISK, priority=900)


class CommandHelp(Directive):
    """The help of a command of `pytest-fairness`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the text that the command prints."""
        with redirect_stdout(io.StringIO()) as help_text, suppress(SystemExit):
            main([*self.arguments, "--help"])
        return [nodes.literal_block("", help_text.getvalue().rstrip(), language="none")]


def keep_methods(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Keep public methods whose names need no sentence; fields without a docstring stand in the class's signature."""
    is_method = callable(value) or isinstance(value, property | classmethod | staticmethod)
    return False if skip and what in ("class", "exception") and is_method and not name.startswith("_") else None


def shorten_signature(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Return a signature without the arguments of a protocol, and with defaults that Python can read."""
    if signature == "(*args, **kwargs)":
        return None, returns
    return signature and signature.replace("<factory>", "..."), returns


def keep_description(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the first sentence of a page for the lists of pages."""
    paragraph = next(doctree.findall(nodes.paragraph), None)
    text = "" if paragraph is None else paragraph.astext().replace("\n", " ")
    app.env.metadata[app.env.docname]["description"] = text.partition(". ")[0].rstrip(".:") + "." if text else ""


def link_whole_names(app: Sphinx, doctree: nodes.document) -> None:
    """Link types by their whole names only: by its end, the type `range` would be an attribute of that name."""
    for reference in doctree.findall(addnodes.pending_xref):
        reference.attributes.pop("refspecific", None)


def list_pages(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Give each page in the list of a section its first sentence."""
    if page == root_doc:
        return
    for toctree in list(doctree.findall(addnodes.toctree)):
        pages = nodes.bullet_list()
        for title, target in toctree["entries"]:
            uri = app.builder.get_relative_uri(page, target)
            link = nodes.reference("", title or app.env.titles[target].astext(), refuri=uri, internal=True)
            text = nodes.Text(f": {app.env.metadata[target]['description']}")
            pages += nodes.list_item("", nodes.paragraph("", "", link, text))
        toctree["hidden"] = True
        toctree.parent += [nodes.rubric("", toctree["caption"])] if toctree["caption"] else []
        toctree.parent += pages


def list_parameters(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Make a list of the parameters of a signature, of which Sphinx makes descriptions without terms."""

    def as_list(match: re.Match[str]) -> str:
        lines = match[1].replace("<dd>", '<div role="listitem" class="ms-4">').replace("</dd>", "</div>")
        return f'<div role="list">{lines}</div>'

    context["body"] = re.sub(r"<dl>\n((?:<dd>.*</dd>\n?)+)</dl>", as_list, context.get("body", ""))


def write_llms_txt(app: Sphinx, exception: Exception | None) -> None:
    """Write llms.txt, a list of pages for language models, and llms-full.txt, their texts.

    A page is its Markdown, and a page of names the text that is made of their docstrings.
    """
    if exception or app.builder.name != "html":
        return
    text = TextBuilder(app, app.env)
    text.init()
    text.outdir = app.outdir / "_sources"
    short, full = [f"# {project}", "", f"> {SUMMARY}"], []
    for section in app.env.toctree_includes[root_doc]:
        short += ["", f"## {app.env.titles[section].astext()}", ""]
        for page in app.env.toctree_includes[section]:
            source = f"_sources/{page}.md.txt"
            if page.startswith("docs/api/"):
                source = f"_sources/{page}.txt"
                text.prepare_writing({page})
                text.write_doc(page, app.env.get_and_resolve_doctree(page, text))
            description = app.env.metadata[page]["description"]
            short.append(f"- [{app.env.titles[page].astext()}]({source}): {description}")
            full.append((app.outdir / source).read_text(encoding="utf-8"))
    (app.outdir / "llms.txt").write_text("\n".join(short) + "\n", encoding="utf-8")
    (app.outdir / "llms-full.txt").write_text("\n".join(full), encoding="utf-8")


def write_versions(app: Sphinx, exception: Exception | None) -> None:
    """Write the list of versions beside the folder of this one, and the page that leads to the newest release."""
    site = app.outdir.parent
    names = [folder.parent.parent.name for folder in site.glob("*/docs/index.html")]
    versions = sorted(names, key=Version, reverse=True)
    base = os.environ.get("DOCS_URL", "/")
    entries = [{"version": name, "url": f"{base}{name}/"} for name in versions]
    (site / "versions.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    newest = next((name for name in versions if not Version(name).is_prerelease), versions[0])
    target = f"{newest}/docs/index.html"
    (site / "index.html").write_text(
        f'<!doctype html>\n<html lang="en">\n<title>{project}</title>\n'
        f'<meta http-equiv="refresh" content="0; url={target}">\n<a href="{target}">{project} {newest}</a>\n</html>\n',
        encoding="utf-8",
    )
