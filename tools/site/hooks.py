"""Hooks of MkDocs: pages are written for a forge, and the site is made from the same.

`docs/README.md` lists every page by question, and `docs/internals/README.md` those for
developers, so the navigation is read from both. The pages at the root and in `packages/`
join the site; a link to a source file becomes the file's path.
"""

import re
from html import escape, unescape
from pathlib import Path
from posixpath import join, normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "README.md": "overview.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "packages/offline-markets/README.md": "offline-markets/overview.md",
    "packages/offline-markets/docs/connect.md": "offline-markets/connect.md",
    "packages/offline-markets/docs/prolific.md": "offline-markets/prolific.md",
}
_INTERNALS = "internals/README.md"
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
_TABLE, _TABLE_ROW = (re.compile(f"<{tag}>.*?</{tag}>", re.DOTALL) for tag in ("table", "tr"))
_HEAD, _CELL, _TAG = (
    re.compile(r"<th\b[^>]*>(.*?)</th>"),
    re.compile(r"<td\b"),
    re.compile("<[^>]+>"),
)
_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)#]+\.md)\)", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill `nav` from the two lists of pages; add the root pages."""
    config.nav = [
        {"Home": "README.md"},
        *_sections("README.md"),
        {"Internals": [{"Overview": _INTERNALS}, *_sections("internals/README.md")]},
        {"Project": ["overview.md", "contributing.md", "changelog.md"]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the root, and the style sheet and script of this folder."""
    for name, site_name in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, site_name, content=text))
    for name in ("site.css", "site.js"):
        own = Path(__file__).with_name(name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=own))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that leave `docs/` into links of the site, or into the file's path."""
    del config
    if page.file.src_uri == "README.md":  # the site's navigation has the lists of pages
        markdown = re.split("^## Start$", markdown, flags=re.MULTILINE)[0]
    source = {new: old for old, new in ROOT_PAGES.items()}.get(
        page.file.src_uri, f"docs/{page.file.src_uri}"
    )
    folder = str(Path(source).parent)
    here = str(Path(page.file.src_uri).parent)

    def in_site(link: re.Match[str]) -> str:
        bang, text, target = link.groups()
        path, hash_sign, anchor = target.partition("#")
        in_repository = normpath(join(folder, path))
        uri = _in_site(in_repository)
        if files.get_file_from_path(uri) is not None:
            return f"{bang}[{text}]({relpath(uri, here)}{hash_sign}{anchor})"
        if (ROOT / in_repository).exists():
            return text if in_repository in text else f"{text} (`{in_repository}`)"
        return link[0]  # MkDocs refuses it by name

    return _LINK.sub(in_site, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give each cell of a table the name of its column, which a phone shows before it."""
    del page, config, files
    return _TABLE.sub(lambda table: _with_columns(table[0]), html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the theme's search dialog, for screen readers."""
    del page, config
    return _with_names(output)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The same on the page for addresses that lead nowhere."""
    del config
    return _with_names(output_content) if template_name == "404.html" else output_content


def _with_names(html: str) -> str:
    return html.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def _with_columns(table: str) -> str:
    names = [escape(unescape(_TAG.sub("", head)).strip()) for head in _HEAD.findall(table)]

    def with_names(row: re.Match[str]) -> str:
        columns = iter(names)
        return _CELL.sub(lambda _: f'<td data-label="{next(columns, "")}"', row[0])

    # The corner above rows with headings is no heading of a column.
    return _TABLE_ROW.sub(with_names, table).replace("<th></th>", "<td></td>")


def _parts(text: str, heading: str) -> list[str]:
    return re.split(f"^{heading}", text, flags=re.MULTILINE)[1:]


def _sections(list_of_pages: str) -> list[dict[str, object]]:
    """The parts of the navigation that the sections of a list of pages make."""
    sections: list[dict[str, object]] = []
    folder = f"docs/{Path(list_of_pages).parent}"
    for section in _parts((ROOT / "docs" / list_of_pages).read_text(encoding="utf-8"), "## "):
        title, _, body = section.partition("\n")
        groups = [group.partition("\n") for group in _parts(body, "### ")]
        nested = [{name: _rows(rows, folder)} for name, _, rows in groups]
        if pages := nested or _rows(body, folder):
            sections.append({title: pages})
    return sections


def _rows(text: str, folder: str) -> list[dict[str, str]]:
    pages = [(name, _in_site(normpath(join(folder, at)))) for name, at in _ROW.findall(text)]
    return [{name: page} for name, page in pages if page != _INTERNALS]


def _in_site(path: str) -> str:
    return ROOT_PAGES.get(path, path.removeprefix("docs/"))
