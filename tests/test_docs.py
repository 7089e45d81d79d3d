"""What users can touch is written down: a command or key without a line fails here."""

import re
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from cli.main import main
from config.schema import CampaignTables

ROOT = Path(__file__).resolve().parents[1]
DOCS = {path: path.read_text() for path in ROOT.glob("docs/**/*.md")}
README = (ROOT / "README.md").read_text()
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)(?:#[^)]*)?\)")


def _keys(model: type[BaseModel], prefix: str = "") -> list[str]:
    found = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += _keys(inner, f"{prefix}{name}.")
        else:
            found.append(f"{prefix}{name}")
    return found


@pytest.mark.parametrize("key", _keys(CampaignTables))
def test_every_key_of_the_campaign_file_is_documented(key: str) -> None:
    """docs/campaign-file.md has a row for the key."""
    page = (ROOT / "docs/campaign-file.md").read_text()
    assert f"`{key}`" in page or f"`{key}.<name>`" in page


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_is_documented_and_shows_an_example(name: str) -> None:
    """README or docs name the command, and its help has an example that names it."""
    text = README + "".join(DOCS.values())
    assert f"piecework {name}" in text
    command = main.commands[name]
    help_text = command.get_help(click.Context(command))
    assert "Example:" in help_text
    assert f"piecework {name}" in help_text


@pytest.mark.parametrize(
    "path",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_link_between_pages_leads_somewhere(path: Path) -> None:
    """A link to a file of the repository names one that exists."""
    for target in _LINK.findall(path.read_text()):
        assert (path.parent / target).exists(), target


def test_the_readme_is_short_and_names_the_two_commands() -> None:
    """Under 150 lines, with the demo and the tests."""
    assert len(README.splitlines()) < 150
    assert "make demo" in README
    assert "make test" in README


def test_the_closure_of_mturk_is_said_where_a_user_could_be_misled() -> None:
    """README and the marketplace's page say that Amazon's service is closed."""
    for text in (README, (ROOT / "docs/marketplace.md").read_text()):
        assert "2026-09-30" in text
