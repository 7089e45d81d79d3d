"""What users can touch is written down: a command or key without a line fails here."""

import doctest
import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pytest
from click.testing import CliRunner

from piecework.cli.lazy_group import LazyCommand
from piecework.cli.main import main
from piecework.hit_templates.starters import STARTER_KINDS, StarterKind, starter_files
from piecework.hit_templates.tasks import task_names
from tests.for_each import for_each
from tests.test_layout import APART, MODULES, PACKAGE, ROOMS
from tools import campaign_keys_page, python_api_page

ROOT = Path(__file__).resolve().parents[1]
DOCS = {path: path.read_text() for path in ROOT.glob("docs/**/*.md")}
README = (ROOT / "README.md").read_text()
WITH_EXAMPLES = [path for path in MODULES if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)]
APARTS_PAGES = [*ROOT.glob("packages/*/README.md"), *ROOT.glob("packages/*/docs/*.md")]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *APARTS_PAGES,
    *DOCS,
]
_FOLDERS = "|".join([*ROOMS, "tests", "tools", "src"])
_OUR_FILE = re.compile(rf"`((?:{_FOLDERS})/[\w/.-]*(?:\.(?:py|sql|toml|js)|/))`")
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)")


def test_the_tables_of_the_campaign_file_are_the_generated_ones() -> None:
    """`python -m tools.campaign_keys_page` would change nothing."""
    for page in (campaign_keys_page.PAGE, campaign_keys_page.SHARED_PAGE):
        assert page.read_text(encoding="utf-8") == campaign_keys_page.render(page)


def test_the_meaning_of_a_key_fits_its_cell() -> None:
    """At most 25 words; more goes below the tables."""
    pages = (campaign_keys_page.PAGE, campaign_keys_page.SHARED_PAGE)
    tables = "\n".join(map(campaign_keys_page.tables, pages))
    rows = re.findall(r"^\| `.* \| ([^|]+) \|$", tables, re.MULTILINE)
    assert len(rows) > 100
    assert not [meaning for meaning in rows if len(meaning.split()) > 25]


@for_each("name", sorted(main.commands))
def test_every_command_is_documented_and_shows_an_example(name: str) -> None:
    """README or docs name the command, and its help has an example that names it."""
    text = README + "".join(DOCS.values())
    assert f"piecework {name}" in text
    entry = main.commands[name]
    command = entry.load() if isinstance(entry, LazyCommand) else entry
    help_text = command.get_help(click.Context(command))
    assert "Examples:" in help_text
    assert f"piecework {name}" in help_text


@for_each("name", task_names())
def test_every_task_is_in_the_gallery(name: str) -> None:
    """The page has it under its name, with a picture."""
    page = (ROOT / "docs/reference/gallery.md").read_text()
    _, _, section = page.partition(f"\n## {name}\n")
    assert f"(gallery/{name}.en.png)" in section.partition("\n## ")[0]


def _without_code(text: str) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^ *(```+|~~~+).*?^ *\1 *$", "", text, flags=re.MULTILINE | re.DOTALL)


def _anchors(text: str) -> set[str]:
    """Where links into a page may lead, as both GitHub and MkDocs write headings."""
    text = _without_code(text)
    anchors: Counter[str] = Counter()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        words = re.sub(r"[^\w\s-]", "", words.lower()).strip()
        # A dash between words becomes "--" at GitHub and "-" in MkDocs.
        anchors[re.sub(r"\s", "-", words)] += 1
    return {*anchors, *re.findall(r'\b(?:id|name)="([^"]+)"', text)}


@for_each("path", [*PAGES, ROOT / "CHANGELOG.md"])
def test_every_anchor_of_a_link_exists(path: Path) -> None:
    """In the page itself or in another; the site's builder would refuse the rest."""
    text = _without_code(path.read_text("utf-8"))
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)", text):
        page = path.parent / target if target else path
        if page.suffix == ".md":
            assert anchor in _anchors(page.read_text("utf-8")), f"{target}#{anchor}"


@for_each("path", PAGES)
def test_every_row_of_a_table_is_one_line_with_the_cells_of_its_head(path: Path) -> None:
    """A row that is cut by a line break, or two rows in a line, show as text."""
    head = None
    for line in _without_code(path.read_text("utf-8")).splitlines():
        is_row = line.startswith("|")
        if not is_row:
            # A table ends at an empty line or at a mark for a generated part.
            assert head is None or not line or line.startswith("<!--"), line
            head = None
            continue
        assert line.rstrip().endswith("|"), line
        cells = re.sub(r"\\\||`[^`]*`", "", line).count("|")
        head = head or cells
        assert cells == head, line


@for_each("path", PAGES)
def test_every_link_between_pages_leads_somewhere(path: Path) -> None:
    """A link to a file of the repository names one that exists."""
    for target in _LINK.findall(path.read_text()):
        assert (path.parent / target).exists(), target


@for_each(
    "path",
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *APARTS_PAGES,
        *DOCS,
    ],
)
def test_every_file_of_ours_that_a_page_names_is_there(path: Path) -> None:
    """A module that was moved or deleted is no longer named; rooms go without src/."""
    for name in _OUR_FILE.findall(path.read_text()):
        assert (ROOT / name).exists() or (PACKAGE / name).exists(), name


def test_every_page_that_code_or_a_template_names_exists() -> None:
    """A pointer in messages, comments and the files that `init --new-task` writes."""
    named: dict[str, str] = {}
    suffixes = {".py", ".toml", ".j2", ".js", ".html", ".sql", ".yaml", ".yml"}
    for folder in ("src", "config", "flows", "hit_templates", "postprocess", "qc"):
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and file.suffix in suffixes:
                for page in re.findall(r"docs/[\w/-]+\.md", file.read_text("utf-8")):
                    named.setdefault(page, str(file.relative_to(ROOT)))
    assert len(named) > 10
    assert {page: at for page, at in named.items() if not (ROOT / page).exists()} == {}


@pytest.mark.parametrize("kind", STARTER_KINDS)
def test_a_starter_points_to_the_page_that_explains_its_keys(kind: StarterKind) -> None:
    """Each key and each kind of rule of its task file is on the page that it names."""
    text = starter_files(kind, "dog")["dog/task.toml"]
    (named,) = set(re.findall(r"docs/[\w/-]+\.md", text))
    page = (ROOT / named).read_text("utf-8")
    keys = set(re.findall(r"^(\w+) = ", text, re.MULTILINE)) - {"min_seconds"}
    kinds = set(re.findall(r'^kind = "(\w+)"', text, re.MULTILINE))
    assert [word for word in sorted(keys | kinds) if f"`{word}" not in page] == []


def test_the_readme_is_a_screen_and_a_half() -> None:
    """The two commands, a dozen others, and links by purpose."""
    assert len(README.splitlines()) <= 110
    assert "make demo" in README
    assert "make test" in README
    assert len(set(re.findall(r"piecework ([a-z-]+)", README)) & set(main.commands)) < 13
    assert README.count("](") <= 25


def test_the_page_of_changes_says_what_a_release_has() -> None:
    """Before the first release, no mend is a change to anybody: capabilities stand there."""
    unreleased = (ROOT / "CHANGELOG.md").read_text().partition("## [Unreleased]")[2]
    added = unreleased.partition("### Where each command and key went")[0]
    assert len(added.split()) <= 900


def _campaigns(page: str) -> dict[str, str]:
    """The campaign files that a page shows, by the heading above each."""
    shown = re.findall(r"^## ([^\n]+)\n\n```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return {heading: text for heading, text in shown if text.startswith("task = ")}


CAMPAIGNS = {
    **_campaigns(README),
    **_campaigns((ROOT / "docs/how-to/tasks.md").read_text()),
}


def test_the_pages_show_campaigns() -> None:
    """README and the page on writing one."""
    assert {*CAMPAIGNS} == {
        "Your own campaign",
        "Photos",
        "Votes on pairs",
        "Your own page",
        "Every night",
        "Prolific",
    }


@for_each("heading", sorted(CAMPAIGNS.keys() - {"Every night"}))
def test_a_campaign_of_a_page_is_read_and_priced(heading: str) -> None:
    """What a reader copies, beside the files that it names; the nightly tutorial runs the other."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("photos").mkdir()
        Path("photos/a.svg").write_text("<svg/>")
        Path("pairs.csv").write_text("left,right\na.org/1,a.org/2\na.org/2,a.org/3\n")
        Path("words.csv").write_text("word\nred\nblue\n")
        Path("photos.csv").write_text(
            "photo\nhttps://example.org/a.jpg\nhttps://example.org/b.jpg\n"
        )
        Path("hit.html").write_text('<p>${word}</p><input name="colour" required>')
        Path("birds.toml").write_text(CAMPAIGNS[heading])
        checked = CliRunner().invoke(main, ["check", "birds.toml"])
        assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("name", ["ask", "growing", "prolific"])
def test_the_campaigns_of_a_page_are_accepted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that was moved fails here, and so does one that the page takes for derived."""
    page = DOCS[ROOT / f"docs/how-to/{name}.md"]
    texts = re.findall(r"^```toml\n(task = .*?)^```", page, re.MULTILINE | re.DOTALL)
    assert texts
    row = {"item_id": "a", "pair_id": "a", "url": "https://example.org/a.jpg", "description": "?"}
    monkeypatch.chdir(tmp_path)
    for text in texts:
        Path("birds.toml").write_text(text)
        for table in re.findall(r"[\w-]+\.csv", text):
            Path(table).write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
        for table in re.findall(r"[\w-]+\.jsonl", text):
            Path(table).write_text(json.dumps(row) + "\n")
        checked = CliRunner().invoke(main, ["check", "birds.toml"])
        assert checked.exit_code == 0, checked.output


def test_the_page_of_commands_is_the_generated_one() -> None:
    """`python -m tools.command_line_page` writes it."""
    # In a process of its own: click keeps the help option that a test asked for first.
    made = subprocess.run(
        [sys.executable, "-m", "tools.command_line_page"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ROOT / "docs/reference/command-line.md").read_text() == made.stdout


def test_the_reference_of_the_library_is_the_generated_one() -> None:
    """`python -m tools.python_api_page` writes it."""
    page = (ROOT / "docs/reference/python-api.md").read_text(encoding="utf-8")
    assert page == python_api_page.python_api_page()
    unexplained = [line for line in page.splitlines() if re.search(r"\|\s*\|$", line)]
    assert not unexplained


def test_the_lists_of_pages_have_each_page() -> None:
    """No page can be reached only through the prose of another."""
    listed: list[Path] = []
    for index in (ROOT / "docs/README.md", ROOT / "docs/internals/README.md"):
        targets = {target for target in _LINK.findall(index.read_text()) if ".md" in target}
        listed += [(index.parent / target).resolve() for target in targets]
    in_docs = [path for path in listed if path.is_relative_to(ROOT / "docs")]
    assert sorted(in_docs) == sorted(DOCS.keys() - {ROOT / "docs/README.md"})


@for_each("index", ["docs/README.md", "docs/internals/README.md"])
def test_no_label_is_in_a_list_of_pages_twice(index: str) -> None:
    """The site's navigation shows labels without the question beside them."""
    labels = re.findall(r"^\| \[([^]]+)\]", (ROOT / index).read_text(), re.MULTILINE)
    assert labels
    assert [label for label, many in Counter(labels).items() if many > 1] == []


def test_every_picture_of_the_docs_is_shown() -> None:
    """`--update-pictures` takes those again that are there."""
    shown = {
        (path.parent / target).resolve()
        for path in PAGES
        for target in _LINK.findall(path.read_text())
        if target.endswith(".png")
    }
    assert {*ROOT.glob("docs/**/*.png")} - shown == set()


def test_the_closure_of_mturk_is_said_where_a_user_could_be_misled() -> None:
    """README and the marketplace's page say that Amazon's service is closed."""
    for text in (README, (ROOT / "docs/reference/marketplace.md").read_text()):
        assert "2026-09-30" in text


@for_each("path", WITH_EXAMPLES)
def test_the_examples_of_docstrings_are_true(path: Path) -> None:
    """What a docstring shows after `>>>` is what comes out."""
    source = next(root.parent for root in (PACKAGE, *APART) if path.is_relative_to(root))
    name = ".".join(path.relative_to(source).with_suffix("").parts)
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed


_GAP = re.compile(r"…|\.\.\.|\b[NM]\b|\d+|\$|\(piecework\.db\)|NAME|BATCH")
_BESIDE_MESSAGES = {"database is locked"}
"""Words of Prefect."""


def test_the_symptoms_of_troubleshooting_are_messages_of_ours() -> None:
    """Somebody who searches the page for an error finds it as it is printed."""
    source = "".join(path.read_text() for path in MODULES)
    sentences = re.sub(r'"\s*\n\s*f?"', "", source)
    page = (ROOT / "docs/how-to/troubleshoot.md").read_text()
    symptoms = [line.split("|")[1] for line in page.splitlines() if line[:2] == "| "]
    parts = [
        part.strip()
        for quoted in re.findall(r"`([^`\n]{12,})`", "\n".join(symptoms))
        if quoted not in _BESIDE_MESSAGES
        for part in _GAP.split(quoted)
        if len(part.strip()) > 6
    ]
    assert len(parts) > 30
    assert [part for part in parts if part not in sentences] == []
