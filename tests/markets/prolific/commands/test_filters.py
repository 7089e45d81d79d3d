"""`prolific filters`: lines for a campaign file, from the offline Prolific."""

import json
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from piecework.cli.main import main
from tests.answering import Answer
from tests.markets.prolific.stub import serving


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


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("native", "first-language"),
        ("mother tongue", "first-language"),
        ("Native speaker", "first-language"),
        ("langauge", "first-language"),
        ("first langage", "first-language"),
        ("handed", "handedness"),
        ("left", "handedness"),
        ("how old", "age"),
    ],
)
def test_other_words_lead_to_the_filter_that_is_meant(url: str, words: str, meant: str) -> None:
    """A word that people use, a typing error, a part of a name, or a choice."""
    reply = filters(url, *words.split())
    if reply.exit_code == 0:
        assert meant in tomllib.loads(reply.stdout.rpartition("\n1 filter")[0])
    else:
        assert reply.exit_code == 2
        assert "did you mean" in reply.stderr
        assert meant in reply.stderr
        assert "approval_rate" not in reply.stderr


def test_words_of_a_description_are_found() -> None:
    """Prolific describes a filter by its question to participants."""
    row = {
        "filter_id": "first-language",
        "title": "First language",
        "description": "What was the language you spoke at home as a child?",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"0": "English"},
    }
    with serving() as stub:
        stub.answer(Answer(200, {"results": [row], "meta": {"count": 1}}))
        reply = filters(stub.address, "spoke", "home", "--workspace", "a" * 24)
    assert reply.stdout.splitlines()[:1] == ["first-language = [0]   # First language"]


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
    assert "the token (from PROLIFIC_TOKEN) is not" in wrong.stderr


def test_a_token_is_named_by_its_source(tmp_path: Path) -> None:
    """The variable or the file, of a token that is missing, no token, or not accepted."""
    secret = "no-such-account-here"  # noqa: S105 - it is looked for
    with serving() as stub:
        stub.answer(Answer(401, {"error": {"title": "Invalid token."}}))
        refused = filters(stub.address, token=secret)
        stub.answer(Answer(403, {"error": {"title": "Not for you."}}))
        file = tmp_path / "token"
        file.write_text(secret)
        file.chmod(0o600)
        from_file = filters(stub.address, "--token-file", str(file), token="")
    missing = filters("http://127.0.0.1:9", token="")
    assert "token (from PROLIFIC_TOKEN) may not see it" in refused.stderr
    assert f"check the token (from {file})" in from_file.stderr
    assert "PROLIFIC_TOKEN is not set, and no file was named" in missing.stderr
    assert secret not in refused.output + from_file.output
