"""`prolific filters`: lines for a campaign file, from the offline Prolific."""

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner, Result

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from piecework.cli.main import main


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of an offline Prolific."""
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    with serve(Options(start=start)) as address:
        yield address


def filters(url: str, *words: str, token: str = "rehearsal-token") -> Result:  # noqa: S107 - of the emulator
    """Run the command."""
    environment = {"PROLIFIC_TOKEN": token, "PROLIFIC_URL": url}
    return CliRunner().invoke(
        main, ["market", "prolific", "filters", *words], env=environment, catch_exceptions=False
    )


def test_what_it_prints_is_a_table_of_a_campaign_file(url: str) -> None:
    """A range and choices, with their names as comments."""
    done = filters(url)
    assert done.exit_code == 0
    table = tomllib.loads(done.stdout)
    assert table["age"] == {"at_least": 18, "at_most": 100}
    assert table["first-language"] == [0]
    assert "#   1 German" in done.stdout
    assert "custom_allowlist" not in table
    assert "# custom_allowlist: " in done.stdout


def test_words_are_looked_for_in_ids_titles_and_choices(url: str) -> None:
    """All of them; an id alone shows its filter."""
    assert set(tomllib.loads(filters(url, "language").stdout.rpartition("\n2 ")[0])) == {
        *("fluent-languages", "first-language")
    }
    german = filters(url, "GERMAN", "first").stdout
    assert german.splitlines()[0] == "first-language = [0]   # First language"
    assert german.splitlines()[-1].startswith("1 filter of ")
    assert filters(url, "handedness").stdout.splitlines()[1] == "#   0 Left"


def test_one_document_has_the_same(url: str) -> None:
    """For programs."""
    (handedness,) = json.loads(filters(url, "handedness", "--json").stdout)["filters"]
    assert handedness["id"] == "handedness"
    assert handedness["choices"] == {"0": "Left", "1": "Right", "2": "Either"}


def test_what_nothing_fits_and_a_wrong_token_are_said(url: str) -> None:
    """In a sentence, with what helps."""
    nothing = filters(url, "zebra")
    assert nothing.exit_code == 2
    assert "filters has 'zebra'" in nothing.stderr
    wrong = filters(url, token="wrong")  # noqa: S106 - not a secret
    assert wrong.exit_code == 2
    assert "401" in wrong.stderr or "token" in wrong.stderr
