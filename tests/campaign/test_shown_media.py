"""Nothing is posted live whose pictures workers' browsers cannot load."""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import fsspec
import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.campaign.reachable_pictures import sample_of
from piecework.campaign.shown_media import media_of, unseen, warnings_of_ends
from piecework.cli.main import main
from piecework.domain.errors import RefusedForSafety
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import post
from piecework.hit_templates.messages import FOLDER as FOLDER_OF_TASKS
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.mturk import MTurk
from tests.campaign.campaigns import campaign as small
from tests.for_each import for_each
from tests.marketplace.live_market import give
from tests.marketplace.market import free_port
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.trusted import own

PNG = b"\x89PNG\r\n\x1a\n...."
FOLDER = CAMPAIGN.replace('[items]\nfile = "items.csv"', 'pictures = "photos"')


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """The small campaign, whose items are four pictures of a folder."""
    path = write_campaign(tmp_path, FOLDER)
    _photos(tmp_path / "photos")
    return path


def _photos(folder: Path, *names: str, content: bytes = PNG) -> Path:
    folder.mkdir()
    for name in names or ("a 1.png", "b.png", "c.png", "d.png"):
        (folder / name).write_bytes(content)
    return folder


@contextmanager
def _served(folder: Path, pictures: Path | str | None, **named: str) -> Iterator[str]:
    """A marketplace of one's own, with a requester whose key this process has."""
    database = folder / "market.db"
    key = give(database, cents=10_000)
    os.environ |= {"AWS_ACCESS_KEY_ID": key.access_key, "AWS_SECRET_ACCESS_KEY": key.secret}
    port = free_port()
    with serve(Marketplace(database, port=port, pictures=pictures, **named)):  # type: ignore[arg-type] # texts
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")


def _piecework(*words: str) -> Result:
    return CliRunner().invoke(main, [*words])


def _both(path: Path, endpoint: str) -> tuple[Result, Result]:
    """`check --endpoint`, and the first live pass."""
    live = ("run", str(path), "--endpoint", endpoint, "--live", "--spend-at-most", "20")
    scheduled, ran = _piecework(*live, "--every", "1h"), _piecework(*live, "--once")
    assert scheduled.exit_code == ran.exit_code, scheduled.output
    return _piecework("check", str(path), "--endpoint", endpoint), ran


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "serves no pictures"),
        ({}, "answers 404 Not Found"),
        ({"content": b"<!DOCTYPE html><p>Please sign in"}, "answers with text/html"),
        ({"content": b""}, "answers"),
    ],
    ids=["no pictures", "another folder", "pages", "empty files"],
)
def test_a_marketplace_that_does_not_serve_the_pictures_gets_no_hit(
    campaign: Path, tmp_path: Path, content: dict[str, bytes] | None, words: str
) -> None:
    """The sentence names the item, the address, the answer and the command that helps."""
    pictures = None
    if content is not None:
        pictures = _photos(tmp_path / "other", *([] if content else ["x.png"]), **content)
    with _served(tmp_path, pictures) as endpoint:
        checked, ran = _both(campaign, endpoint)
        hits = [*MTurk(endpoint).find_hits()]
    assert (checked.exit_code, ran.exit_code, hits) == (2, 3, []), checked.output + ran.output
    for reply in (checked, ran):
        assert words in reply.output
        assert re.search(r"item \S.*\.png, column url: ", reply.output)
        assert f"piecework market serve {campaign}" in reply.output
    assert "no HITs were posted" in ran.output


def test_a_person_may_know_better(campaign: Path, tmp_path: Path) -> None:
    """A host may answer browsers alone: with the option, what is not loaded is a warning."""
    with _served(tmp_path, None) as endpoint, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIECEWORK_ALTHOUGH_UNSEEN", "")  # put back afterwards
        live = ("--once", "--live", "--spend-at-most", "20", "--json")
        despite = ("--although", "unseen")
        ran = _piecework("run", str(campaign), "--endpoint", endpoint, *live, *despite)
        assert len([*MTurk(endpoint).find_hits()]) == 1
    assert ran.exit_code == 0, ran.output


def test_pictures_that_are_served_are_posted(campaign: Path, tmp_path: Path) -> None:
    """At the frames' own origin, whatever the file's name needs in an address."""
    with _served(tmp_path, tmp_path / "photos") as endpoint:
        checked, ran = _both(campaign, endpoint)
        assert len([*MTurk(endpoint).find_hits()]) == 1
    assert (checked.exit_code, ran.exit_code) == (0, 0), checked.output + ran.output
    assert "pictures: 4 tried" in checked.output


def test_each_pass_that_posts_tries_its_own_pictures(campaign: Path, tmp_path: Path) -> None:
    """They may vanish later: nothing is posted until they are back, and then all of it."""
    loaded, photos = load_campaign(campaign), tmp_path / "photos"
    with (
        _served(tmp_path, photos) as endpoint,
        open_on_marketplace(loaded, endpoint, live=True, spend_at_most_cents=2000) as run,
    ):
        there = [*photos.iterdir()]
        for photo in there:
            photo.rename(tmp_path / photo.name)
        with pytest.raises(RefusedForSafety, match="answers 404"):
            post(run)
        assert list(run.platform.find_hits()) == []
        for photo in there:
            (tmp_path / photo.name).rename(photo)
        assert post(run) == 1


def test_a_private_bucket_is_asked_with_signed_addresses(tmp_path: Path) -> None:
    """As workers' pages have them; what is not in it is not shown."""
    path = write_campaign(tmp_path)
    (tmp_path / "items.csv").write_text("image_id,url\n1,cats/a b.png\n2,cats/none.png\n")
    text = path.read_text().replace("[items]", 'pictures = "memory://zoo"\n[items]')
    path.write_text(text)
    own(path)
    fsspec.filesystem("memory").pipe_file("/zoo/cats/a b.png", PNG)
    campaign = load_campaign(path)
    with _served(tmp_path, "memory://zoo") as endpoint:
        sample = unseen(campaign, list(campaign.items), MTurk(endpoint))
    (fault,) = sample.faults
    assert sample.tried == 2
    assert re.search(r"item 2, column url: \S+/pictures/cats/none.png: answers 404", fault), fault
    assert "signed=" not in fault


def test_an_address_that_only_browsers_reach_is_asked_of_the_marketplace(
    campaign: Path, tmp_path: Path
) -> None:
    """Behind a proxy, the public names may not be known here: what the server says counts."""
    names = {"site_url": "https://hits.example", "frames_url": "https://*.frames.example"}
    for pictures, code in ((tmp_path / "photos", 0), (None, 2)):
        with _served(tmp_path, pictures, **names) as endpoint:
            checked = _piecework("check", str(campaign), "--endpoint", endpoint)
        assert checked.exit_code == code, checked.output


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """`/STATUS/TYPE/SUBTYPE/…`: answers so; a type of text has a page."""
        _, status, kind, sub, *_ = self.path.split("/")
        self.send_response(int(status))
        self.send_header("Content-Type", f"{kind}/{sub}")
        self.end_headers()
        self.wfile.write(b"<!doctype html>" if kind == "text" else PNG)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    """Another host, on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def test_what_other_hosts_answer_decides(tmp_path: Path, host: str) -> None:
    """A 4xx and an HTML page are faults; a host that is busy or away is a warning."""
    cases = {
        "200/image/png": "shown",
        "206/image/png": "shown",
        "200/application/octet-stream": "shown",
        "200/text/html": "fault",
        "404/text/html": "fault",
        "403/text/html": "fault",
        "401/image/png": "fault",
        "429/text/html": "unknown",
        "503/text/html": "unknown",
    }
    path = write_campaign(tmp_path)
    campaign = load_campaign(path)
    for case, wanted in cases.items():
        (tmp_path / "items.csv").write_text(f"image_id,url\n1,{host}/{case}/1\n2,{host}/{case}/2\n")
        campaign = load_campaign(path)
        sample = unseen(campaign, list(campaign.items), None, asks_inside=True)
        known = {"fault": len(sample.faults), "unknown": len(sample.unknown)}
        assert known == {name: 2 * (name == wanted) for name in known}, case
    away = [replace(campaign.items[0], columns={"image_id": "1", "url": "https://gone.invalid/a"})]
    assert unseen(campaign, away, None).unknown
    inside = unseen(campaign, list(campaign.items), None)
    assert "inside this machine's network" in inside.unknown[0]


def test_what_an_element_of_an_own_page_shows_is_tried(tmp_path: Path, host: str) -> None:
    """Whatever its kind, and not an address that the page only writes."""
    for element, faults in (
        ("crowd-image-classifier", 1),
        ("crowd-bounding-box", 1),
        ("crowd-polyline", 1),
        ("crowd-semantic-segmentation", 1),
        ("crowd-classifier", 0),
    ):
        (tmp_path / "hit.html").write_text(
            f"<crowd-form><{element} name='a' src='${{url}}' labels=\"['x']\""
            f" categories=\"['x', 'y']\"></{element}></crowd-form>"
        )
        (tmp_path / "own.toml").write_text(
            'task = "hit.html"\nitems = "own.csv"\nreward = "0.10"\n'
        )
        (tmp_path / "own.csv").write_text(f"item_id,url\n1,{host}/404/text/html/{element}\n")
        campaign = load_campaign(tmp_path / "own.toml")
        sample = unseen(campaign, list(campaign.items), None, asks_inside=True)
        assert len(sample.faults) == faults, element


def test_a_plain_address_on_a_page_by_https_is_not_shown(tmp_path: Path, host: str) -> None:
    """Browsers ask such a host by https alone; where pages are plain, it is shown."""
    path = write_campaign(tmp_path)
    (tmp_path / "items.csv").write_text(
        f"image_id,url\n1,{host}/200/image/png/1\n2,{host}/200/image/png/2\n"
    )
    campaign = load_campaign(path)
    names = {"site_url": "https://hits.example", "frames_url": "https://frames.example"}
    for place, faults in ((names, 2), ({}, 0)):
        with _served(tmp_path, None, **place) as endpoint:
            sample = unseen(campaign, campaign.items, MTurk(endpoint), asks_inside=True)
        assert len(sample.faults) == faults, sample


def test_a_live_pass_goes_on_if_a_host_cannot_be_reached_from_here(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Workers' browsers may reach it: the log says what is not known."""
    path = write_campaign(tmp_path)
    items = tmp_path / "items.csv"
    items.write_text(items.read_text().replace("example.org", "pictures.invalid"))
    with (
        _served(tmp_path, None) as endpoint,
        open_on_marketplace(
            load_campaign(path), endpoint, live=True, spend_at_most_cents=2000
        ) as run,
    ):
        assert post(run) == 1
    assert "https://pictures.invalid/3.jpg: does not answer" in caplog.text


def test_signed_addresses_that_end_early_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By `check` and by the pass that posts; a signature is a secret."""
    path = write_campaign(tmp_path)
    items = tmp_path / "items.csv"
    signed = ".jpg?X-Amz-Date=20200101T100000Z&X-Amz-Expires=5400&X-Amz-Signature=5ec2e7"
    items.write_text(items.read_text().replace("example.org", "a.invalid").replace(".jpg", signed))
    campaign = load_campaign(path)
    words = "signed addresses of items can end before workers are done: "
    with (
        _served(tmp_path, None) as endpoint,
        open_on_marketplace(campaign, endpoint, live=True, spend_at_most_cents=2000) as run,
    ):
        assert post(run) == 1
    (warning,) = [each for each in caplog.messages if "signed address" in each]
    assert f"2 {words}" in warning  # of its batch
    checked = " ".join(_piecework("check", str(path)).output.split())
    assert f"4 {words}" in checked
    assert "works until 2020-01-01 11:30 UTC" in checked
    assert "5ec2e7" not in warning + checked


_SIGNED = {
    "X-Amz-Date=20260101T000000Z&X-Amz-Expires=604800&X-Amz-Signature=a": "2026-01-08 00:00",
    "X-Goog-Date=20260101T000000Z&X-Goog-Expires=60&X-Goog-Signature=a": "2026-01-01 00:01",
    "sv=2024&se=2026-01-02T03%3A04%3A05Z&sig=a": "2026-01-02 03:04",
    "se=2026-01-02&sig=a": "2026-01-02 00:00",
    "se=2026-01-01T20:00:00+00:00&sig=a": "2026-01-01 20:00",
    "GoogleAccessId=a&Expires=1767225600&Signature=a": "2026-01-01 00:00",
    # These last, or say nothing that can be read.
    "se=2026-03-01T00:00:00Z&sig=a": "",
    "X-Amz-Date=20260101T000000Z&X-Amz-Expires=31536000&X-Amz-Signature=a": "",
    "X-Amz-Date=today&X-Amz-Expires=60": "",
    "X-Amz-Date=20260101T000000Z&X-Amz-Expires=99999999999999999999": "",
    "Expires=99999999999999999999&Signature=a": "",
    "se=soon&sig=a": "",
    "se=0001-01-01T00:00:00%2B14:00&sig=a": "",
    "X-Amz-Date=00010101T000000%2B1400&X-Amz-Expires=60": "",
    "expires=1767225600&se=2026-01-02": "",
}


@for_each(("query", "end"), _SIGNED.items())
def test_the_end_of_a_signed_address_is_read(query: str, end: str) -> None:
    """As Amazon S3, Google Cloud Storage and Azure write it."""
    items = [
        Item(item_id=ItemId("a"), columns={"id": "a", "url": f"https://a.invalid/1.jpg?{query}"})
    ]
    posting = replace(small(0).posting, lifetime_seconds=30 * 86_400)
    campaign = replace(small(0), posting=posting)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    shown = "".join(warnings_of_ends(campaign, items, at))
    assert (f"works until {end} UTC" in shown) if end else not shown
    practice = "".join(warnings_of_ends(replace(campaign, practice=tuple(items)), [], at))
    assert practice == shown
    page = {"id": "a", "source": f"https://a.invalid/page?{query}"}  # no worker loads it
    assert not [*warnings_of_ends(campaign, [replace(items[0], columns=page)], at)]


def test_every_column_that_a_page_loads_is_tried(tmp_path: Path) -> None:
    """Both pictures of a comparison, and sounds; no text, and no address in it."""
    (tmp_path / "c.toml").write_text(
        'task = "compare"\nitems = "items.csv"\nquestion = "Which?"\nanswers = 2\n'
        'reward = "0.10"\noptions = ["left", "right"]\n'
    )
    (tmp_path / "items.csv").write_text(
        "id,left,right,note\n"
        "1,https://a.invalid/1.png,https://b.invalid/1.png,see https://c.invalid/\n"
        "2,https://a.invalid/2.png,https://b.invalid/2.png,none\n"
    )
    campaign = load_campaign(own(tmp_path / "c.toml"))
    shown = [medium.address for medium in media_of(campaign, campaign.items)]
    assert {address[8] for address in shown} == {"a", "b"}
    assert len(shown) == 4


_ASKED = 'task = "rate"\nquestion = "Is it clear?"\nscale = [1, 5]\n'
_GROWS = f'{_ASKED}budget = {{ total = "9.00", day = "9.00" }}\n[grows]\n'
_PAGE = '<p>${step}</p><img src="${photo}"><input name="answer">'


@for_each("task", (_ASKED, _GROWS, 'task = "page.html"\n', 'task = "./steps"\n'))
def test_a_text_that_ends_as_the_name_of_a_picture_is_none(task: str) -> None:
    """The page decides which columns are pictures: for data, reviewers and what is tried."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(FOLDER_OF_TASKS / "_starters" / "choice", folder / "steps")
        document, question = folder / "steps" / "task.toml", folder / "steps" / "question.html.j2"
        columns = '"item_id", "step", "photo"]'
        document.write_text(document.read_text().replace('"item_id", "text"]', columns))
        text = '<p class="quoted prose">{{ item.columns.text }}</p>'
        assert text in question.read_text()
        cells = "{{ picture(item.columns.photo, n) }}<p>{{ item.columns.step }}</p>"
        question.write_text(question.read_text().replace(text, cells))
        (folder / "page.html").write_text(_PAGE)
        photo = "https://a.invalid/1.jpg"
        rows = f"1,Open logo.png,{photo}\n2,Save it as new.png,{photo}\n"
        (folder / "items.csv").write_text(f"item_id,step,photo\n{rows}")
        stated = 'items = "items.csv"\nreward = "0.10"\nanswers = 2\n'
        (folder / "c.toml").write_text(stated + task)
        campaign = load_campaign(own(folder / "c.toml"))
        assert {item.picture for item in campaign.items} == {photo}
        assert {each.address for each in media_of(campaign, campaign.items)} == {photo}


def test_any_column_may_be_a_picture_where_a_template_does_not_name_it(tmp_path: Path) -> None:
    """Else a picture that a loop draws would be posted to real people untried."""
    shutil.copytree(FOLDER_OF_TASKS / "_starters" / "choice", tmp_path / "steps")
    question = tmp_path / "steps" / "question.html.j2"
    looped = '{% for cell in item.columns.values() %}<img src="{{ cell }}">{% endfor %}'
    old = '<p class="quoted prose">{{ item.columns.text }}</p>'
    assert old in question.read_text()
    question.write_text(question.read_text().replace(old, looped))
    photo = "https://a.invalid/1.jpg"
    (tmp_path / "items.csv").write_text(f"item_id,text\n1,{photo}\n")
    (tmp_path / "c.toml").write_text(
        'items = "items.csv"\nreward = "0.10"\nanswers = 2\ntask = "./steps"\n'
    )
    campaign = load_campaign(own(tmp_path / "c.toml"))
    assert [item.picture for item in campaign.items] == [photo]
    assert [each.address for each in media_of(campaign, campaign.items)] == [photo]


def test_a_sample_has_the_first_and_the_last() -> None:
    """The same each time for a campaign, and all of few."""
    numbers = range(1000)
    drawn = sample_of(numbers, 12, seed="birds")
    assert (drawn[0], drawn[-1], len({*drawn})) == (0, 999, 12)
    assert drawn == sample_of(numbers, 12, seed="birds") != sample_of(numbers, 12, seed="dogs")
    assert sample_of([7], 12, seed="birds") == [7]
