"""What `check` says of a dataset that is to be published."""

import json
import re
from pathlib import Path

from click.testing import CliRunner

from piecework.cli.main import main
from tests.small_campaign import CAMPAIGN, write_campaign

_STATED = """
[dataset]
licence = "CC0-1.0"
items_licence = "CC-BY-4.0"
contact = "ada@example.org"
citation = "Ada (2026)"
consent = "Stated on the page."
ethics = "Reviewed."
"""


def _checked(folder: Path, text: str, *options: str) -> str:
    path = write_campaign(folder, text)
    done = CliRunner().invoke(main, ["check", str(path), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_what_is_missing_for_publishing_is_named(tmp_path: Path) -> None:
    """For people and programs; CSV alone tells the hub no splits."""
    output = " ".join(_checked(tmp_path, CAMPAIGN).split())
    assert "6 of 6" in output
    assert "no Parquet" in output
    plain = json.loads(_checked(tmp_path, CAMPAIGN, "--json"))
    assert plain["missing_for_publishing"][:2] == ["licence", "items_licence"]


def test_nothing_is_missing_where_all_is_stated(tmp_path: Path) -> None:
    """The same campaign with every key."""
    output = _checked(tmp_path, CAMPAIGN + _STATED)
    assert "nothing" in output.split("missing")[1]
    plain = json.loads(_checked(tmp_path, CAMPAIGN + _STATED, "--json"))
    assert plain["missing_for_publishing"] == []


def test_items_without_pictures_are_divided_as_items(tmp_path: Path) -> None:
    """Nothing is said of pictures that there are none of."""
    (tmp_path / "hit.html").write_text("<p>${text}</p><input name=word>")
    own = CAMPAIGN.replace('task = "caption"', 'task = "hit.html"')
    path = write_campaign(tmp_path, own.replace("items_per_hit = 2", ""))
    (tmp_path / "items.csv").write_text("text\nIt was\nthe best\nof\ntimes\n")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0, done.output
    assert "train / val / test, by item" in done.output
    assert "pictures" not in done.output
    assert "by picture" in _checked(tmp_path, CAMPAIGN)


def test_hosts_of_a_page_are_said_not_to_be_tried(tmp_path: Path) -> None:
    """Only a worker's browser loads from them; a page without any has no such row."""
    page = '<p>${text}</p><input name=word><script src="https://a.example/x.js">'
    (tmp_path / "hit.html").write_text(f"{page}</script>")
    own = CAMPAIGN.replace('task = "caption"', 'task = "hit.html"')
    own = own.replace("items_per_hit = 2", "")
    path = write_campaign(tmp_path, own + '[page]\nhosts = ["a.example"]\n')
    (tmp_path / "items.csv").write_text("text\nIt was\nthe best\n")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0, done.output
    assert re.search(r"host +[│|] +a\.example +[│|] each worker", done.output)
    assert "host" not in _checked(tmp_path, CAMPAIGN)
