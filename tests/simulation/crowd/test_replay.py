"""Real captions: read from files, sent as they are, each once before any twice."""

import json
from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.simulation.crowd.item_knowledge import Replay
from piecework.simulation.crowd.typing_traces import broken_rules
from piecework.simulation.seeded_rng import seeded_rng

SHARED = Path(__file__).resolve().parents[3] / "../shared/data"

LONG = tuple(
    f"A brwon dog number {word} runs over the green grass"
    for word in ("one", "two", "three", "four", "five")
)


def sent(replay: Replay, item_id: str, times: int) -> list[str]:
    """What the next workers send about an item."""
    return [
        replay.look(ItemId(item_id), seeded_rng(1, str(n)), accuracy=1.0).sentence
        for n in range(times)
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("captions.csv", "image_id,caption\n" + "".join(f"dog.jpg,{c}\n" for c in LONG)),
        (
            "captions.jsonl",
            "".join(json.dumps({"image_id": "dog.jpg", "caption": c}) + "\n" for c in LONG),
        ),
        ("token.txt", "".join(f"dog.jpg#{n}\t{c}\n" for n, c in enumerate(LONG))),
    ],
)
@pytest.mark.parametrize("item_id", ["dog", "dog.jpg"])
def test_all_formats_are_found_by_id_with_or_without_extension(
    tmp_path: Path, caption: Task, name: str, content: str, item_id: str
) -> None:
    """CSV, JSON Lines and Flickr8k tokens give the same five captions."""
    (tmp_path / name).write_text(content)
    replay = Replay.read(tmp_path / name, caption)
    assert replay.knows(ItemId(item_id))
    assert not replay.knows(ItemId("cat"))
    assert sent(replay, item_id, 5) == list(LONG)


def test_each_caption_is_used_once_before_any_is_used_again(caption: Task) -> None:
    """Ten workers send each of five captions twice, and the first five all of them."""
    replay = Replay({"dog": LONG}, caption)
    first, again = sent(replay, "dog", 5), sent(replay, "dog", 5)
    assert sorted(first) == sorted(again) == sorted(LONG)


def test_captions_are_sent_verbatim_with_their_typos(caption: Task) -> None:
    """What the page takes is not touched, and nothing is counted."""
    replay = Replay({"dog": LONG}, caption)
    assert sent(replay, "dog", 1) == [LONG[0]]
    assert (replay.repaired, replay.swapped) == (0, 0)


def test_what_the_page_refuses_is_mended_and_counted(caption: Task) -> None:
    """A caption of three words is extended; the count says so."""
    replay = Replay({"dog": ("A brwon dog", LONG[1])}, caption)
    sentence = sent(replay, "dog", 1)[0]
    assert sentence.startswith("A brwon dog ")
    assert broken_rules(caption, sentence) == ()
    assert (replay.repaired, replay.swapped) == (1, 0)


def test_what_cannot_be_mended_is_swapped_and_counted(caption: Task) -> None:
    """A caption of one endless word gives way to another one of the image."""
    replay = Replay({"dog": ("dog" * 1000, LONG[1])}, caption)
    assert sent(replay, "dog", 1) == [LONG[1]]
    assert (replay.repaired, replay.swapped) == (0, 1)


def test_canned_text_of_the_file_is_a_worker_giving_up(caption: Task) -> None:
    """Whoever wrote the canned text once gives up again."""
    replay = Replay({"dog": (caption.canned_text, LONG[0])}, caption)
    first, second = (
        replay.look(ItemId("dog"), seeded_rng(1, str(n)), accuracy=1.0) for n in range(2)
    )
    assert first.gives_up
    assert not second.gives_up
    assert not first.is_hopeless


def test_an_image_holds_text_when_several_captions_say_so(caption: Task) -> None:
    """Two mentions make all workers say yes, one makes nobody."""
    signs = ("A red sign that says stop on a street corner", LONG[0])
    both = Replay({"a": signs * 2, "b": (*LONG, signs[0])}, caption)
    assert both.look(ItemId("a"), seeded_rng(1), accuracy=1.0).has_text
    assert not both.look(ItemId("b"), seeded_rng(1), accuracy=1.0).has_text


def test_a_missing_or_empty_file_is_a_fault_of_the_campaign(tmp_path: Path, caption: Task) -> None:
    """Both are said before anybody works."""
    with pytest.raises(ConfigError, match="missing"):
        Replay.read(tmp_path / "none.csv", caption)
    (tmp_path / "empty.csv").write_text("image_id,words\nx,y\n")
    with pytest.raises(ConfigError, match="no rows"):
        Replay.read(tmp_path / "empty.csv", caption)


def test_an_image_whose_captions_can_all_not_be_sent_is_a_fault(caption: Task) -> None:
    """The crowd does not send what the page would not let through."""
    replay = Replay({"dog": ("dog" * 1000,)}, caption)
    with pytest.raises(ConfigError, match="refuse all of its captions"):
        sent(replay, "dog", 1)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["flickr8k/Flickr8k.token.txt", "vizwiz_val_captions_half.csv"])
def test_real_captions_pass_the_page_once_mended(caption: Task, name: str) -> None:
    """Of real captions all can be sent, most of them untouched."""
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    replay = Replay.read(path, caption)
    images = sorted(key for key in replay._captions if key.endswith(".jpg"))[:400]
    for image in images:
        for sentence in sent(replay, image, 5):
            assert broken_rules(caption, sentence) == ()
    assert replay.repaired < 0.4 * 5 * len(images)
    # The worst real caption quotes the page's own instructions as a list.
    assert replay.swapped < 0.01 * 5 * len(images)
