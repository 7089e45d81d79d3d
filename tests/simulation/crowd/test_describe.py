"""What honest workers write about scenes: varied, true, and as the page wants it."""

import pytest

from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.hit_templates.tasks import load_task
from piecework.simulation.crowd.typing_traces import broken_rules, mistype, repair
from piecework.simulation.pictures.scenes import Scene, Thing, describe_scene, scenes
from piecework.simulation.seeded_rng import seeded_rng

SCENE = Scene(
    item_id=ItemId("x"),
    place="kitchen counter",
    things=(
        Thing(name="mug", colour="red", count=2),
        Thing(name="can", colour="blue", text="CORN"),
    ),
)


def test_one_scene_is_described_in_hundreds_of_ways() -> None:
    """The grammar has far more than three hundred sentences for two things."""
    sentences = {describe_scene(SCENE, seeded_rng(1, str(n))) for n in range(1000)}
    assert len(sentences) > 300


def test_a_description_keeps_every_rule_of_the_page(caption: Task) -> None:
    """No rule of the caption task is broken, whatever is described."""
    for scene in scenes(3, 200):
        for n in range(5):
            sentence = describe_scene(scene, seeded_rng(2, scene.item_id, str(n)), accuracy=0.5)
            assert broken_rules(caption, sentence) == (), sentence


def test_an_accurate_description_names_only_what_is_there() -> None:
    """With full accuracy colours, names and labels of other things never appear."""
    for n in range(300):
        sentence = describe_scene(SCENE, seeded_rng(3, str(n))).lower()
        assert "red mugs" in sentence or "blue can" in sentence
        assert ("corn" in sentence) == ("blue can" in sentence)
        assert not {"green", "yellow", "purple", "kettle"} & set(
            sentence.replace("green hills", "").split()
        )


def test_accuracy_is_the_share_of_things_seen_right() -> None:
    """At 0.8, about one can in five has another colour or count.

    1,000 sentences, of which some do not name the can: at least 800 do. The sd of a
    share of 0.2 is sqrt(0.16 / 800) = 0.014; four of them are 0.06.
    """
    scene = Scene(item_id=ItemId("x"), place="desk", things=(SCENE.things[0],))
    sentences = [
        describe_scene(scene, seeded_rng(4, str(n)), accuracy=0.8).lower() for n in range(1000)
    ]
    wrong = sum("two red mugs" not in sentence for sentence in sentences)
    assert wrong / 1000 == pytest.approx(0.2, abs=0.06)


def test_no_slip_without_a_rate() -> None:
    """Perfect fingers change nothing."""
    sentence = describe_scene(SCENE, seeded_rng(5))
    assert mistype(sentence, seeded_rng(6), rate=0.0) == sentence


def test_slips_spare_short_words_first_letters_and_numbers() -> None:
    """Only words of four letters and more go wrong, and never at their beginning."""
    text = "a red bus no. 12345 stands beside another"
    for n in range(200):
        typed = mistype(text, seeded_rng(7, str(n)), rate=1.0)
        assert typed.startswith("a red bus no. 12345 s")
        assert "b" in typed.split("12345")[1]


def test_the_rate_is_the_share_of_long_words_that_go_wrong() -> None:
    """Of 4,000 long words at a rate of 0.1, about 400 differ (sd 19)."""
    text = " ".join(["umbrella"] * 4000)
    wrong = sum(word != "umbrella" for word in mistype(text, seeded_rng(8), rate=0.1).split())
    # A missing space (4 % of slips) spoils two words; a swap of equal letters none.
    assert wrong == pytest.approx(400, abs=80)


def test_slips_are_of_the_kinds_that_people_make() -> None:
    """Lost, extra and swapped letters and missing spaces all come up."""
    typed = {mistype("yellow boxes", seeded_rng(9, str(n)), rate=0.5) for n in range(400)}
    assert {"yellowboxes", "yelow boxes", "yellwo boxes", "yelloow boxes"} <= typed


def test_a_mistyped_description_is_mended_as_far_as_the_page_asks(caption: Task) -> None:
    """After mending no rule is broken, even with very careless fingers."""
    for scene in scenes(4, 100):
        rng = seeded_rng(10, scene.item_id)
        typed = mistype(describe_scene(scene, rng), rng, rate=0.5)
        assert broken_rules(caption, repair(caption, typed, rng)) == ()


@pytest.mark.parametrize(
    ("refused", "mended"),
    [
        ("There is a red mug on a table next to a spoon.", "A red mug on a table next to a spoon."),
        (
            "The image shows two dogs that run across a green meadow.",
            "Two dogs that run across a green meadow.",
        ),
        (
            "It\u2019s a bottle of water that stands on the desk.",
            "A bottle of water that stands on the desk.",
        ),
        ("A dog runs over the grass. It is brown.", "A dog runs over the grass, it is brown."),
    ],
)
def test_what_the_page_refuses_is_changed_as_a_person_would(
    caption: Task, refused: str, mended: str
) -> None:
    """An idle beginning is dropped, a second sentence is joined with a comma."""
    assert repair(caption, refused, seeded_rng(11)) == mended


def test_a_short_sentence_is_extended_and_keeps_its_own_words(caption: Task) -> None:
    """Eight words are reached by adding at the end."""
    mended = repair(caption, "A brown dog runs .", seeded_rng(12))
    assert mended.startswith("A brown dog runs ")
    assert len(mended.split()) >= 8


def test_a_sentence_that_the_page_takes_is_left_alone(caption: Task) -> None:
    """Typing errors are nobody's business here."""
    text = "a brwon dog runing over teh green grass , fast"
    assert repair(caption, text, seeded_rng(13)) == text


def test_what_is_too_long_for_the_page_is_cut_after_a_word_that_can_end_it() -> None:
    """99 characters at most, never a lone "and" at the end, and the stop is kept."""
    task = load_task("hodosh_caption")
    long = "A red mug, a blue bowl, a green bottle, a tall brown box, a round can and a "
    cut = repair(task, f"{long}purple jar on a kitchen counter.", seeded_rng(14))
    # With the stop 98 characters are left: "... jar on a kitchen" would have 99, and of
    # "... jar on a" the last two words lead on.
    assert cut == f"{long}purple jar."
    for scene in scenes(4, 60):
        assert (
            broken_rules(task, repair(task, describe_scene(scene, seeded_rng(15)), seeded_rng(16)))
            == ()
        )
