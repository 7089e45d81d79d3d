"""How much of a sound was played is sent with the answer, and a jump is no playing."""

import csv
import io
import wave
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from piecework.campaign.assembling import load_campaign
from piecework.domain.column_names import PLAYED
from piecework.domain.ids import AssignmentId
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.render import render_hit
from tests.browser.host import serving

pytestmark = pytest.mark.browser
SOUND = "https://e.org/a.wav"
OWN = """<p>${about}</p><audio controls src="${sound}"></audio>
<textarea name="answer" required></textarea>"""


def _wav(seconds: float) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8_000)
        sound.writeframes(b"\x80" * round(8_000 * seconds))
    return file.getvalue()


@pytest.mark.parametrize("task", ["transcribe", "page.html"])
def test_the_played_part_of_a_sound_is_sent(
    tmp_path: Path, open_page: Callable[..., Page], task: str
) -> None:
    """A worker jumps to the middle and listens to the end: half of it, also after a reload."""
    (tmp_path / "page.html").write_text(OWN)
    with (tmp_path / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["item_id", "about", "sound"], *((n, "x", SOUND) for n in "ab")])
    path = tmp_path / "own.toml"
    wage = 'hourly_wage = "12.00"\n' + ("minutes = 2\n" if task == "page.html" else "")
    path.write_text(f'task = "{task}"\nitems = "items.csv"\n{wage}')
    campaign = load_campaign(path)
    item = campaign.items[0]
    with serving() as host:
        host.page = render_hit(campaign.task, [item])
        page = open_page("about:blank")
        page.goto(host.address())
        page.evaluate(
            """(source) => {
              const sound = document.querySelector("audio");
              sound.muted = true;
              sound.addEventListener("loadedmetadata", () => {
                sound.addEventListener("seeked", () => sound.play(), { once: true });
                sound.currentTime = sound.duration / 2;
              }, { once: true });
              sound.src = source;
              sound.load();
            }""",
            f"data:audio/wav;base64,{b64encode(_wav(2)).decode()}",
        )
        page.wait_for_function("document.querySelector('audio').ended", timeout=20_000)
        if task == "transcribe":
            page.reload()
        page.locator("textarea").first.fill("the dog barks at the cat")
        page.locator("#send, [type=submit]").first.click()
        expect(page.get_by_text("Thank you")).to_be_visible()
        sent = dict(host.posted[0][1])
    (answer,) = read_answers(campaign.task, AssignmentId("A"), [item.item_id], sent)
    assert answer.problems == ()
    assert 400 <= (answer.played or 0) <= 600


@pytest.mark.parametrize("task", ["transcribe", "page.html"])
@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_short_sound_is_not_taken_for_the_longest(
    tmp_path: Path, open_page: Callable[..., Page], task: str, *, is_loaded: bool
) -> None:
    """A worker plays the jingle alone: nothing of the item's sound, or nobody knows how much."""
    (tmp_path / "page.html").write_text(OWN)
    (tmp_path / "items.csv").write_text(f"item_id,about,sound\na,x,{SOUND}\nb,x,{SOUND}\n")
    path = tmp_path / "own.toml"
    wage = 'hourly_wage = "12.00"\n' + ("minutes = 2\n" if task == "page.html" else "")
    path.write_text(f'task = "{task}"\nitems = "items.csv"\n{wage}')
    campaign = load_campaign(path)
    item = campaign.items[0]
    short, long = (f"data:audio/wav;base64,{b64encode(_wav(s)).decode()}" for s in (0.5, 4))
    with serving() as host:
        host.page = render_hit(campaign.task, [item])
        page = open_page("about:blank")
        page.goto(host.address())
        page.evaluate(
            """async ([short, long]) => {
              const sound = document.querySelector("audio");
              if (long) {
                sound.src = long;
                await new Promise((done) => sound.addEventListener("loadedmetadata", done));
              }
              const jingle = document.createElement("audio");
              sound.after(jingle);
              jingle.muted = true;
              jingle.src = short;
              jingle.play();
              await new Promise((done) => jingle.addEventListener("ended", done));
            }""",
            [short, long if is_loaded else ""],
        )
        page.locator("textarea").first.fill("the dog barks at the cat")
        page.locator("#send, [type=submit]").first.click()
        expect(page.get_by_text("Thank you")).to_be_visible()
        sent = dict(host.posted[0][1])
    (answer,) = read_answers(campaign.task, AssignmentId("A"), [item.item_id], sent)
    assert answer.problems == ()
    assert answer.played == (0 if is_loaded else None)


def test_a_page_of_ones_own_with_several_items_does_not_measure_it(tmp_path: Path) -> None:
    """Nothing on it says whose sound it is."""
    (tmp_path / "page.html").write_text(
        "".join(
            f'<audio src="${{sound{n}}}"></audio><textarea name="answer{n}"></textarea>'
            for n in (1, 2)
        )
    )
    (tmp_path / "items.csv").write_text(f"item_id,sound\na,{SOUND}\nb,{SOUND}\n")
    path = tmp_path / "own.toml"
    lines = 'task = "page.html"\nitems = "items.csv"\nhourly_wage = "12.00"\nminutes = 2\n'
    path.write_text(lines)
    campaign = load_campaign(path)
    assert campaign.task.items_per_hit == len(campaign.items)
    assert PLAYED not in campaign.task.measures
    assert "timeupdate" not in render_hit(campaign.task, campaign.items)


def test_only_pages_with_a_sound_or_video_measure_it(tmp_path: Path) -> None:
    """Other pages do not grow by it, and their workers are not told of it."""
    pages = {}
    for name, cell in (("sound", SOUND), ("text", "A dog.")):
        (tmp_path / "items.csv").write_text(f"item_id,{name}\na,{cell}\nb,{cell}2.wav\n")
        path = tmp_path / f"{name}.toml"
        path.write_text('task = "describe"\nitems = "items.csv"\nhourly_wage = "12.00"\n')
        campaign = load_campaign(path)
        pages[name] = render_hit(campaign.task, campaign.items[:1])
    for word in ("timeupdate", 'name="played_part.1"', "how much of a sound or video is played"):
        assert word in pages["sound"]
        assert word not in pages["text"]
