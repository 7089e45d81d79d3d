"""`market serve --crowd prolific` with what will not do: a sentence, and nothing is sent."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import Researcher
from piecework.cli.main import main

TOKEN = "any-token-at-all"  # noqa: S105 - any word is one
PLACE = ("--public-url", "http://127.0.0.1:1", "--port", "0", "--frames-port", "0")


@pytest.fixture
def researcher() -> Iterator[Researcher]:
    """The offline Prolific, with nobody in it."""
    with serve(Options()) as url, Researcher(url) as researcher:
        yield researcher


def _served(folder: Path, url: str, *words: str, token: str = TOKEN) -> Result:
    environment = {"PROLIFIC_URL": url, "PROLIFIC_TOKEN": token}
    return CliRunner().invoke(
        main,
        ["market", "serve", "--crowd", "prolific", "--database", str(folder / "m.db"), *words],
        env=environment,
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "needs --public-url"),
        ((*PLACE, "--live"), "go together"),
        ((*PLACE, "--spend-at-most", "5"), "go together"),
        ((*PLACE, "--live", "--spend-at-most", "a lot"), "--spend-at-most"),
        ((*PLACE, "--workspace", "60ffe5c8371090c7041d43f8"), "was not found"),
        ((*PLACE, "--rehearsal"), "piecework rehearse"),
        ((*PLACE, "--site-url", "https://hits.example.org"), "give one"),
        ((*PLACE, "--screening-pay", "-1"), "--screening-pay"),
    ],
)
def test_what_will_not_do_is_said(
    researcher: Researcher, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    """Exit code 2, and nothing was made at Prolific."""
    refused = _served(tmp_path, researcher.url, *words)
    assert refused.exit_code == 2, refused.output
    assert sentence in refused.output
    assert not [call for call in researcher.control("GET", "/calls") if "create" in call]


def test_without_a_token_the_way_to_one_is_said(tmp_path: Path) -> None:
    """Nothing is asked of anybody."""
    refused = _served(tmp_path, "http://127.0.0.1:9", *PLACE, token="")
    assert refused.exit_code == 2
    assert "PROLIFIC_TOKEN" in refused.output


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://hits.example.org", "is not https"),
        ("https://localhost", "localhost is a name"),
        ("https://192.168.1.2", "192.168.1.2 is a private address"),
    ],
)
def test_an_address_that_no_participant_can_open_is_refused_first(
    tmp_path: Path, url: str, sentence: str
) -> None:
    """Before the account is asked: Prolific's own address is not called here."""
    words = ("--public-url", url)
    refused = _served(tmp_path, "https://api.prolific.com", *words)
    assert refused.exit_code == 2
    assert sentence in refused.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "needs --frames-url"),
        (("--frames-url", "http://frames.example.org"), "frames URL: http://"),
        (("--frames-url", "https://*.lan"), "frames URL: lan"),
    ],
)
def test_frames_that_no_participant_can_open_are_refused_as_well(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    """Who came would see HITs without questions."""
    words = ("--public-url", "https://hits.example.org", *words)
    refused = _served(tmp_path, "https://api.prolific.com", *words)
    assert refused.exit_code == 2
    assert sentence in refused.output


def test_a_marketplace_in_dollars_is_not_served_in_pounds(
    researcher: Researcher, tmp_path: Path
) -> None:
    """Its money was paid in before the workspace was known."""
    words = ["market", "account", "add", "Lab", "--balance", "5"]
    CliRunner().invoke(main, [*words, "--database", str(tmp_path / "m.db")])
    refused = _served(tmp_path, researcher.url, *PLACE)
    assert refused.exit_code != 0
    assert "USD" in refused.output
    assert "GBP" in refused.output
    assert "Traceback" not in refused.output
