"""Consent: read and agreed to before the first HIT, and kept with its time."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.http.server import Marketplace, serve
from tests.marketplace.market import Market, Worker, post

HTML = {"accept": "text/html"}
CONSENT = ("We keep what you write.", "You may stop at any time.")


@pytest.fixture
def agreeing(tmp_path: Path) -> Iterator[Market]:
    """A marketplace with a text to agree to."""
    with (
        serve(Marketplace(tmp_path / "market.db", rehearsal=True, seed=1, consent=CONSENT)) as run,
        closing(Market(run.endpoint_url, run.frames_url)) as market,
    ):
        yield market


def agree(worker: Worker, **fields: str) -> httpx.Response:
    """Send the form of the page of consent, as it stands."""
    page = worker.http.get("/worker/consent", headers=HTML).text
    text = page.partition('name="text" value="')[2].partition('"')[0]
    form = {"text": text, "agreed": "1", **fields}
    return worker.http.post("/worker/consent", data=form, headers=HTML)


def test_nobody_takes_a_hit_before_agreeing_and_it_is_kept_when(agreeing: Market) -> None:
    """A person is led to the text and back; a program is told in words."""
    ann, hit = agreeing.worker(), post(agreeing.requester())
    group = hit["HITGroupId"]
    refused = ann.accept(group)
    assert (refused.status_code, refused.json()["error"]) == (403, "NotAgreed")
    led = ann.http.post(f"/worker/groups/{group}/accept", headers=HTML)
    assert led.headers["location"] == f"/worker/consent?group={group}"
    asked = ann.http.get(led.headers["location"], headers=HTML).text
    assert all(paragraph in asked for paragraph in CONSENT)
    assert agree(ann, agreed="").status_code == 400
    assert agree(ann, text="0" * 64).status_code == 400
    assert ann.accept(group).status_code == 403
    back = agree(ann, group=group)
    assert back.headers["location"] == f"/worker/groups/{group}/preview"
    assert ann.accept(group).status_code == 201
    # Whatever stands there, it leads nowhere else.
    elsewhere = agree(agreeing.worker(), group="../../x?//evil.example")
    assert elsewhere.headers["location"] == "/worker/hits"


def test_another_text_is_agreed_to_anew_and_the_first_is_kept(tmp_path: Path) -> None:
    """Each with its time; `worker list` says when somebody agreed last."""
    database = tmp_path / "market.db"
    for text in (CONSENT, ("Now we publish it.",)):
        with (
            serve(Marketplace(database, rehearsal=True, seed=1, consent=text)) as run,
            closing(Market(run.endpoint_url, run.frames_url)) as market,
        ):
            ann, hit = market.worker(handle="ann"), post(market.requester())
            assert ann.accept(hit["HITGroupId"]).status_code == 403
            agree(ann)
            assert ann.accept(hit["HITGroupId"]).status_code == 201
            market.wait(days=1)
    words = ["workers", "list", "--json", "--database", str(database)]
    (row,) = json.loads(CliRunner().invoke(main, words).stdout)
    assert row["agreed_at"].startswith("2026-01-06")


def test_without_a_text_nothing_is_asked(market: Market) -> None:
    """There is no such page, and HITs are taken as ever."""
    ann, hit = market.worker(), post(market.requester())
    assert ann.http.get("/worker/consent", headers=HTML).status_code == 404
    assert ann.accept(hit["HITGroupId"]).status_code == 201
