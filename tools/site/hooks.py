"""Hooks of MkDocs: pages are written for a forge, and the site is made from the same.

`docs/README.md` lists every page by question, so the navigation is read from it. The
pages at the root and in `packages/` join the site; a link to a source file becomes the
file's path.
"""

import re
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
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)#]+\.md)\)", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill `nav` from `docs/README.md`; add the decisions and the root pages."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    nav: list[dict[str, object]] = [{"Home": ["README.md"]}]
    for section in _parts(index, "## "):
        title, _, body = section.partition("\n")
        groups = [group.partition("\n") for group in _parts(body, "### ")]
        nested = [{name: _rows(rows)} for name, _, rows in groups]
        nav.append({title: nested or _rows(body)})
    nav.append({"Decisions": sorted(_decisions())})
    nav.append({"Project": ["overview.md", "contributing.md", "changelog.md"]})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the root, and the style sheet of this folder."""
    for name, site_name in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, site_name, content=text))
    css = Path(__file__).with_name("site.css").read_text(encoding="utf-8")
    files.append(File.generated(config, "site.css", content=css))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that leave `docs/` into links of the site, or into the file's path."""
    del config
    source = {new: old for old, new in ROOT_PAGES.items()}.get(
        page.file.src_uri, f"docs/{page.file.src_uri}"
    )
    folder = str(Path(source).parent)
    here = str(Path(page.file.src_uri).parent)

    def in_site(link: re.Match[str]) -> str:
        bang, text, target = link.groups()
        path, hash_sign, anchor = target.partition("#")
        in_repository = normpath(join(folder, path))
        uri = ROOT_PAGES.get(in_repository, in_repository.removeprefix("docs/"))
        if in_repository == "docs/decisions":
            uri = min(_decisions())
        if files.get_file_from_path(uri) is not None:
            return f"{bang}[{text}]({relpath(uri, here)}{hash_sign}{anchor})"
        if (ROOT / in_repository).exists():
            return text if in_repository in text else f"{text} (`{in_repository}`)"
        return link[0]  # MkDocs refuses it by name

    return _LINK.sub(in_site, markdown)


def _parts(text: str, heading: str) -> list[str]:
    return re.split(f"^{heading}", text, flags=re.MULTILINE)[1:]


def _rows(text: str) -> list[dict[str, str]]:
    return [{name: _in_site(target)} for name, target in _ROW.findall(text)]


def _decisions() -> list[str]:
    pages = (ROOT / "docs/decisions").glob("*.md")
    return [f"decisions/{page.name}" for page in pages]


def _in_site(target: str) -> str:
    return ROOT_PAGES.get(target.removeprefix("../"), target)
