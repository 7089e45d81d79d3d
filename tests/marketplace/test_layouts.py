"""HITs of layouts: a page that was kept once, and what fills its gaps."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.requester import questions
from tests.marketplace.conftest import a_market
from tests.marketplace.market import Market, post, refusal

PAGE = "<!doctype html><img src='${image_url}'><p>${words}</p><b>${words}</b> ]]> ${1 + 1}"


def kept(database: Path, page: str = PAGE, *words: str) -> dict[str, Any]:
    """What the command says of a page in a file."""
    file = database.with_name("page.html")
    file.write_text(page)
    arguments = [
        "market",
        "layout",
        "add",
        str(file),
        "--database",
        str(database),
        "--json",
        *words,
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.stderr
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def parameters(**values: str) -> list[dict[str, str]]:
    """As the requester API has them."""
    return [{"Name": name, "Value": value} for name, value in values.items()]


def by_layout(market: Market, layout_id: str, **values: str) -> dict[str, Any]:
    """A HIT that was posted so."""
    return post(
        market.requester("LAB"),
        Question=None,
        HITLayoutId=layout_id,
        HITLayoutParameters=parameters(**values),
    )


def test_a_hit_is_made_of_a_layout_and_done_like_any_other(tmp_path: Path) -> None:
    """While the server runs: the page with its gaps filled is what workers see."""
    database = tmp_path / "market.db"
    with a_market(database) as market:
        made = kept(database, PAGE, "--frame-height", "500")
        assert made["parameters"] == ["image_url", "words"]
        hit = by_layout(market, made["layout_id"], image_url="/a.png?b&c", words="<i>Hi</i>")
        asked = questions.read_question(hit["Question"])
        assert asked.frame_height == 500
        assert asked.html == (
            "<!doctype html><img src='/a.png?b&c'><p><i>Hi</i></p><b><i>Hi</i></b> ]]> ${1 + 1}"
        )
        frame = market.http.get(f"{market.frames}/frames/{hit['HITId']}")
        assert frame.text == asked.html
        ann = market.worker()
        ann.do(hit["HITGroupId"])
        client = market.requester("LAB")
        again = client.create_hit_with_hit_type(
            HITTypeId=hit["HITTypeId"],
            LifetimeInSeconds=60,
            HITLayoutId=made["layout_id"],
            HITLayoutParameters=[
                {"Name": "image_url", "Value": "x"},
                {"Name": "words", "Value": "y"},
            ],
        )["HIT"]
        assert "<b>y</b>" in again["Question"]


def test_the_same_page_has_the_same_id(tmp_path: Path) -> None:
    """Here and elsewhere, so that a program may name it; a changed page another."""
    here, there = (tmp_path / name / "m.db" for name in ("a", "b"))
    for database in (here, there):
        database.parent.mkdir()
    first = kept(here)["layout_id"]
    assert kept(here)["layout_id"] == kept(there)["layout_id"] == first
    assert kept(here, PAGE + " ")["layout_id"] != first
    listed = CliRunner().invoke(main, ["market", "layout", "list", "--database", str(here)])
    ids = [line.split()[0] for line in listed.stdout.splitlines()]
    assert len(ids) == 2
    assert ids[0] == first


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"image_url": "x"}, "lacks a value for 'words'"),
        ({"image_url": "x", "words": "y", "more": "z"}, "unknown parameters: 'more'"),
        ({"image_url": "\x00", "words": "y"}, ""),
        ({"image_url": "x" * 70_000, "words": "y"}, "at most 65535 bytes"),
    ],
)
def test_gaps_are_filled_wholly_or_not_at_all(
    tmp_path: Path, values: dict[str, str], complaint: str
) -> None:
    """Refused with the name, and nothing is posted."""
    database = tmp_path / "market.db"
    with a_market(database) as market:
        layout_id = kept(database)["layout_id"]
        with pytest.raises(ClientError) as caught:
            by_layout(market, layout_id, **values)
        assert refusal(caught.value)[0] == "ParameterValidationError"
        assert complaint in refusal(caught.value)[2]
        client = market.requester("LAB")
        twice = [*parameters(image_url="x", words="y"), *parameters(words="z")]
        with pytest.raises(ClientError, match="names something twice"):
            post(client, Question=None, HITLayoutId=layout_id, HITLayoutParameters=twice)
        assert client.list_hits()["HITs"] == []


@pytest.mark.parametrize("content", [b"\xff", b"x" * 70_000, b"a\x00b"])
def test_what_can_be_no_page_is_not_kept(tmp_path: Path, content: bytes) -> None:
    """Exit code 2 and a sentence."""
    file = tmp_path / "page.html"
    file.write_bytes(content)
    words = ["market", "layout", "add", str(file), "--database", str(tmp_path / "m.db")]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert str(file) in result.stderr
