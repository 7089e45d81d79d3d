"""Pictures in a private bucket: shown to workers only, and without metadata."""

import csv
import html
import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from piecework.campaign.assembling import load_campaign
from piecework.campaign.exchange import picture_bucket
from piecework.campaign.exchange.picture_bucket import BucketUnreadableError, PictureBucket
from piecework.campaign.questions import question as question_of
from piecework.cli.main import main
from piecework.domain.errors import ConfigError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitKey, ItemId
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state import clock
from piecework.platforms.wire import html_question
from piecework.results.export import export as write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.campaign.exchange.conftest import S3
from tests.domain.test_picture_metadata import OWNER, is_clean, saved
from tests.growing_campaign import TEXT
from tests.marketplace.documents import form, formatted, free_text, question
from tests.marketplace.market import Market, post
from tests.marketplace.qualification_types import make
from tests.review.conftest import served
from tests.small_campaign import CAMPAIGN
from tests.trusted import own

PHOTOS = {
    "cats/a b.jpg": saved("JPEG", 6),
    "cats/ü(1)&2.png": saved("PNG"),
    "dogs/1.webp": saved("WEBP"),
    "dogs/notes.txt": b"no picture",
    "plans/secret.jpg": saved("JPEG", 1),
}


@pytest.fixture
def photos(s3: S3) -> S3:
    """A private bucket of pictures that a phone took."""
    s3.create_bucket(Bucket="photos")
    for name, content in PHOTOS.items():
        s3.put_object(Bucket="photos", Key=f"public/{name}", Body=content)
    s3.put_object(Bucket="photos", Key="other.jpg", Body=PHOTOS["plans/secret.jpg"])
    return s3


@contextmanager
def selling(database: Path) -> Iterator[Market]:
    """A marketplace that serves the bucket's pictures."""
    with (
        serve(Marketplace(database, rehearsal=True, seed=1, pictures="s3://photos/public")) as run,
        closing(Market(run.endpoint_url, run.frames_url)) as market,
    ):
        yield market


def addresses(page: str) -> list[str]:
    """The addresses of pictures in a page."""
    return [unescape(address) for address in re.findall(r"[^\"'(]*/pictures/[^\"')]+", page)]


def test_copies_are_those_of_the_bucket_without_metadata(
    photos: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that is replaced is read again; room is bounded."""
    bucket = PictureBucket("s3://photos/public")
    bucket.check()
    assert bucket.names() == sorted(set(PHOTOS) - {"dogs/notes.txt"})
    first = bucket.copy("cats/a b.jpg")
    assert first is not None
    assert first.suffix == ".jpg"
    assert is_clean(first.read_bytes())
    assert bucket.copy("cats/a b.jpg") == first
    photos.put_object(Bucket="photos", Key="public/cats/a b.jpg", Body=saved("JPEG", 8) + b" ")
    second = bucket.copy("cats/a b.jpg")
    assert second not in {None, first}
    for outside in ("../other.jpg", "/other.jpg", "cats", "cats/", "none.jpg", "", "a\0"):
        assert bucket.copy(outside) is None, outside
    monkeypatch.setattr(picture_bucket, "_KEPT_BYTES", 1)
    third = bucket.copy("dogs/1.webp")
    assert [*bucket.copies().iterdir()] == [third]


@pytest.mark.usefixtures("photos")
def test_a_bucket_that_cannot_be_read_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the address as it was written."""
    for address, why in {
        "s3://photos/nothing": "there is no such folder of pictures",
        "s3://missing/here": "there is no such folder of pictures",
        "s3://${NO_SUCH_VARIABLE}": "NO_SUCH_VARIABLE is not set",
        "file:///etc": "without file://",
        "what://photos": "cannot be opened",
    }.items():
        with pytest.raises(ConfigError) as caught:
            PictureBucket(address).check()
        assert why in str(caught.value), address
        assert address in str(caught.value)
    bucket = PictureBucket("s3://photos/public")
    assert bucket.copy("dogs/1.webp")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with pytest.raises(BucketUnreadableError, match="s3://photos/public: cannot be"):
        PictureBucket("s3://photos/public").names()


@pytest.mark.usefixtures("photos")
def test_a_page_shows_pictures_that_are_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For as long as the page may be open, also over a restart; then no more."""
    written = [f"/pictures/{quote(name)}" for name in PHOTOS if name.startswith("cats")]
    page = (
        f'<!doctype html><title>Cats</title><img src="{written[0]}">'
        f'<link rel="preload" as="image" href="{written[1]}">'
        f"<script>const url = '{written[1]}'</script>"
        f"<p style='background:url({written[0]})'>/pictures/ alone, and "
        '<a href="/pictures/dogs/1.webp?size=2">with a query</a>'
    )
    with selling(tmp_path / "m.db") as market:
        hit = post(market.requester("LAB"), Question=html_question(page))
        shown = httpx.get(f"{market.frames}/frames/{hit['HITId']}").text
        assert "/pictures/ alone, and" in shown
        signed = [url for url in addresses(shown) if "signed=" in url]
        assert len(signed) == 4
        assert signed[0] == signed[3]
        assert signed[1] == signed[2]
        for url in signed:
            reply = httpx.get(market.frames + url)
            assert reply.status_code == 200
            assert reply.headers["content-type"].startswith("image/")
            assert "sandbox" in reply.headers["content-security-policy"]
            assert is_clean(reply.content)
            assert OWNER.encode() not in reply.content
            again = {"If-None-Match": reply.headers["etag"]}
            assert httpx.get(market.frames + url, headers=again).status_code == 304
        query = signed[0].partition("?")[2]
        for closed in (
            written[0],
            f"/pictures/plans/secret.jpg?{query}",
            f"{written[0]}?{query}0",
            f"{written[0]}?signed=99999999999.{query.rpartition('.')[2]}",
            f"{written[0]}?signed=",
            f"{written[0]}?signed=%00.%ff",
            f"{written[0]}?signed={'9' * 5000}.a",
        ):
            assert httpx.get(market.frames + closed).status_code == 403, closed
            assert httpx.get(market.endpoint + closed).status_code == 403, closed
    now = clock.machine_ms()
    with selling(tmp_path / "m.db") as market:
        address = market.frames + signed[0]
        assert httpx.get(address).status_code == 200
        hit_seconds = 600
        monkeypatch.setattr(clock, "machine_ms", lambda: now + (hit_seconds + 3600) * 1000)
        assert httpx.get(address).status_code == 200
        monkeypatch.setattr(clock, "machine_ms", lambda: now + (hit_seconds + 7200) * 1000)
        assert httpx.get(address).status_code == 403


def test_a_bucket_that_goes_away_takes_no_page_with_it(
    photos: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture is missing (503, 404); the page and the marketplace stay."""
    page = '<!doctype html><title>Dogs</title><img src="/pictures/dogs/1.webp">'
    with selling(tmp_path / "m.db") as market:
        hit = post(market.requester("LAB"), Question=html_question(page))
        frame = f"{market.frames}/frames/{hit['HITId']}"
        (url,) = addresses(httpx.get(frame).text)
        photos.delete_object(Bucket="photos", Key="public/dogs/1.webp")
        assert httpx.get(market.frames + url).status_code == 404
        assert httpx.get(frame).status_code == 200
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with selling(tmp_path / "m.db") as market:
        frame = f"{market.frames}/frames/{hit['HITId']}"
        assert httpx.get(frame).status_code == 200
        assert httpx.get(market.frames + url, timeout=60).status_code == 503


@pytest.mark.usefixtures("photos")
@pytest.mark.parametrize("typed", ["{0}", '"{0}"', "see {0} there", "<img src={0}>"])
def test_an_item_that_a_worker_typed_gets_no_picture_signed(tmp_path: Path, typed: str) -> None:
    """A text of one campaign is an item of the next, anywhere in its page."""
    text = typed.format("/pictures/plans/secret.jpg")
    shown = html.escape(text)
    in_script = json.dumps(text).replace("<", "\\u003c")
    page = (
        f'<!doctype html><title>{shown}</title><img src="/pictures/dogs/1.webp" '
        f'alt="{shown}"><p title="{shown}">{shown}</p><p>"{shown}"</p>'
        f'<input value="{shown}"><textarea>{shown}</textarea><a href="{shown}">x</a>'
        f'<div data-text="{shown}"></div><!-- {shown} -->'
        f"<script>const text = {in_script};</script>"
    )
    with selling(tmp_path / "m.db") as market:
        hit = post(market.requester("LAB"), Question=html_question(page))
        served = httpx.get(f"{market.frames}/frames/{hit['HITId']}").text
    assert served.count("signed=") == 1
    assert "/pictures/dogs/1.webp?signed=" in served
    assert "secret.jpg" in served


@pytest.mark.usefixtures("photos")
def test_forms_show_them_too_and_sign_nothing_that_a_worker_typed(tmp_path: Path) -> None:
    """A worker could otherwise have any picture signed."""
    typed = 'x "/pictures/plans/secret.jpg" x'
    with selling(tmp_path / "m.db") as market:
        lab = market.requester("LAB")
        picture = formatted(f'<img src="{market.endpoint}/pictures/dogs/1.webp" alt="A dog"/>')
        asked = form(
            question("what", free_text(), required=True, content=picture),
            question("why", free_text(), required=True),
        )
        worker = market.worker()
        hit = post(lab, Question=asked)
        kind = make(lab, Test=asked, TestDurationInSeconds=600)
        shown = httpx.get(f"{market.frames}/frames/{hit['HITId']}").text
        (url,) = addresses(shown)
        assert httpx.get(url).status_code == 200
        accepted = worker.accept(hit["HITGroupId"]).json()
        worker.http.headers["accept"] = "text/html"
        again = worker.submit(accepted["assignment_id"], what=typed, why="")
        assert again.status_code == 422
        echoed = addresses(again.text)
        assert [url.partition("?")[0] for url in echoed if "signed=" in url] == [
            f"{market.endpoint}/pictures/dogs/1.webp"
        ]
        assert "plans/secret.jpg" in again.text
        path = f"/worker/qualifications/{kind}"
        worker.http.post(f"{path}/request", data={"begin": "1"})
        for test in (
            worker.http.get(f"{path}/test"),
            worker.http.post(f"{path}/test", data={"what": typed}),
        ):
            (url,) = [url for url in addresses(test.text) if "signed=" in url]
            assert httpx.get(url).status_code == 200


@pytest.mark.full
def test_a_bucket_of_pictures_grows_into_a_dataset(photos: S3, tmp_path: Path) -> None:
    """Each picture is a row; the files in the dataset are clean."""
    text = TEXT.replace('[items]\nfile = "items.csv"', 'pictures = "s3://photos/public/cats"')
    path = tmp_path / "crash.toml"
    path.write_text(text + '[dataset]\npictures = "files"\n')
    own(path)
    checked = invoke("check", path, "--reach")
    assert "pictures: 2 tried, all of them load" in checked
    with rehearsal_of(prepare(path)) as (run, crowd):
        assert work_through(run, crowd).missing == 0
        write_results(run)
        with served(run) as page, page.client() as ada:
            for query in ({}, {"small": "1"}):
                shown = ada.get("/picture", params={"item": "a b.jpg", **query})
                assert shown.headers["content-type"] == "image/jpeg"
                assert is_clean(shown.content)
    out = tmp_path / "out/crash"
    with (out / "dataset/captions.csv").open(newline="") as file:
        assert {row["item_id"] for row in csv.DictReader(file)} == {"a b.jpg", "ü(1)&2.png"}
    copies = {path.name: path.read_bytes() for path in out.glob("dataset/images/*")}
    assert copies.keys() == {"a b.jpg", "ü(1)&2.png"}
    assert all(map(is_clean, copies.values()))
    assert OWNER not in (out / "report.html").read_text()
    assert "data:image/jpeg;base64" in (out / "report.html").read_text()
    photos.put_object(Bucket="photos", Key="public/cats/new.jpg", Body=saved("JPEG"))
    source = load_campaign(path).growth
    assert source is not None
    assert len(source.source.names()) == 3  # type: ignore[attr-defined]


@pytest.mark.usefixtures("photos")
def test_rows_may_name_pictures_by_their_whole_address(tmp_path: Path) -> None:
    """The dataset keeps them; an address outside the prefix is a fault."""
    text = 'pictures = "s3://photos/public"\n' + TEXT
    path = tmp_path / "crash.toml"
    path.write_text(text)
    own(path)
    good = ["s3://photos/public/cats/a b.jpg", "dogs/1.webp"]
    bad = ["s3://photos/other.jpg", "../other.jpg", "s3://elsewhere/public/a.jpg"]
    rows = [f"p{n},{url}" for n, url in enumerate([*good, *bad])]
    (tmp_path / "items.csv").write_text("\n".join(["image_id,url", *rows, ""]))
    campaign = load_campaign(path)
    assert [item.picture for item in campaign.items] == good
    assert campaign.growth is not None
    (row,) = [row for chunk in campaign.growth.source.read().chunks for row in chunk][2:3]
    (fault,) = campaign.growth.source.faults(row)
    assert "url 's3://photos/other.jpg' is not a file in s3://photos/public" in fault
    planned = PlannedHit(
        hit_key=HitKey("k"),
        batch=1,
        round=1,
        max_assignments=1,
        item_ids=(ItemId("p0"), ItemId("p1")),
        reward_cents=1,
        fee_cents=1,
    )
    page = question_of(campaign, planned, {item.item_id: item for item in campaign.items})
    assert "/pictures/cats/a%20b.jpg" in page
    assert "s3://" not in page


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ('pictures = "s3://photos/public"', "add [grows]"),
        ('pictures = "s3://${NO_VARIABLE}/x"\nitems = "items.csv"', "NO_VARIABLE is not"),
    ],
)
@pytest.mark.usefixtures("photos")
def test_a_campaign_that_cannot_show_them_is_refused(
    tmp_path: Path, changed: str, why: str
) -> None:
    """Before anything is posted."""
    text = CAMPAIGN.replace('[items]\nfile = "items.csv"', changed)
    (tmp_path / "crash.toml").write_text(text)
    own(tmp_path / "crash.toml")
    (tmp_path / "items.csv").write_text("image_id,url\n1,a.jpg\n2,b.jpg\n")
    done = CliRunner().invoke(main, ["check", str(tmp_path / "crash.toml"), "--reach"])
    assert done.exit_code == 2
    assert why in done.output


@pytest.mark.browser
@pytest.mark.usefixtures("photos")
def test_a_person_sees_the_picture(tmp_path: Path, browser: Browser) -> None:
    """In Chromium, within a work page's frame."""
    page = f'<!doctype html><title>C</title><img src="/pictures/{quote("cats/a b.jpg")}">'
    with selling(tmp_path / "m.db") as market:
        hit = post(market.requester("LAB"), Question=html_question(page))
        with closing(browser.new_context()) as context:
            tab = context.new_page()
            tab.goto(f"{market.frames}/frames/{hit['HITId']}")
            size = "document.images[0].naturalWidth"
            tab.wait_for_function(f"{size} > 0", timeout=15_000)
            assert tab.evaluate(f"[{size}, document.images[0].naturalHeight]") == [40, 61]


def invoke(command: str, path: Path, *options: str) -> str:
    """Run a command that succeeds; its output."""
    done = CliRunner().invoke(main, [command, str(path), *options])
    assert done.exit_code == 0, done.output
    return done.output
