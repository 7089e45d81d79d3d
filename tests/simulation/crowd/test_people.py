"""Workers with traits: who there is, how long they take, what they put down."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median

import pytest

import piecework
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, HitId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.render import render_hit
from piecework.qc.typing_evidence import read_typing
from piecework.simulation.crowd.browser import Page, read_page
from piecework.simulation.crowd.intentions import intend
from piecework.simulation.crowd.item_knowledge import SceneKnowledge
from piecework.simulation.crowd.people import (
    SIMULATED_BAD,
    TRAITS,
    Person,
    crowd_as_stated,
    default_crowd,
    people,
)
from piecework.simulation.crowd.site import Accepted
from piecework.simulation.crowd.written_answers import Form, fill_in
from piecework.simulation.pictures.scenes import scenes
from piecework.simulation.seeded_rng import seeded_rng
from tests.simulation.crowd.conftest import START
from tests.small_campaign import CAMPAIGN, write_campaign

SCENES = scenes(5, 200)
KNOWLEDGE = SceneKnowledge(SCENES)


def person(trait: str, number: int = 0) -> Person:
    """One person of a trait."""
    return people({trait: number + 1}, seed=1)[number]


def page_of(task: Task, item_ids: Sequence[ItemId]) -> Page:
    """The page that shows these items."""
    items = [
        Item(item_id=item_id, columns={"image_id": item_id, "url": f"/pictures/{item_id}.svg"})
        for item_id in item_ids
    ]
    return read_page(render_hit(task, items))


def forms(task: Task, trait: str, *, number: int = 0) -> list[Form]:
    """What one person of a trait submits for forty HITs of five scenes."""
    return [
        fill_in(
            page_of(task, [scene.item_id for scene in SCENES[first : first + 5]]),
            task,
            person=person(trait, number),
            knowledge=KNOWLEDGE,
            shown_ms=[1000] * 5,
            seed=1,
        )
        for first in range(0, len(SCENES), 5)
    ]


def captions(task: Task, trait: str, *, number: int = 0) -> list[str]:
    """The 200 captions of one person."""
    return [
        form[f"caption.{n}"][0] for form in forms(task, trait, number=number) for n in range(1, 6)
    ]


def words(sentence: str) -> list[str]:
    """The words in small letters, without punctuation."""
    return sentence.lower().replace(",", "").rstrip(".").split()


def accepted(number: int, *, allowed: timedelta = timedelta(hours=1)) -> Accepted:
    """A HIT in hand."""
    return Accepted(
        assignment_id=AssignmentId(f"a{number}"),
        hit_id=HitId(f"h{number}"),
        accepted_at=START,
        deadline=START + allowed,
        frame_url="",
    )


def test_the_page_is_read_as_a_browser_sends_it(caption: Task) -> None:
    """Items, measures, texts and choices are all found, in the page's order."""
    page = page_of(caption, [ItemId("scene_0009"), ItemId("scene_0002")])
    assert page.item_ids == ("scene_0009", "scene_0002")
    assert page.fixed["shown_ms.2"] == "0"
    assert page.options["has_text.1"] == ["yes", "no"]
    assert page.options["flaws.2"][-1] == "none"
    assert page.texts == ["caption.1", "flaw_other.1", "caption.2", "flaw_other.2", "comment"]
    names = list(page.names)
    assert names.index("caption.1") < names.index("item.2")


@pytest.mark.parametrize("trait", sorted(TRAITS))
def test_every_answer_is_one_that_the_page_would_let_through(caption: Task, trait: str) -> None:
    """Good or bad, a form has all fields, known options, and breaks no rule."""
    for form in forms(caption, trait):
        sent = {name: "|".join(values) for name, values in form.items()}
        item_ids = [ItemId(sent[f"item.{n}"]) for n in range(1, 6)]
        for answer in read_answers(caption, AssignmentId("a"), item_ids, sent):
            assert answer.problems == ()


def test_the_same_person_answers_the_same_way_again(caption: Task) -> None:
    """Answers depend on seed, person and item, and on nothing that went before."""
    assert forms(caption, "hurried") == forms(caption, "hurried")


def test_shouting_is_in_capitals(caption: Task) -> None:
    """Every typed caption is all upper case."""
    typed = [t for t in captions(caption, "shouting") if t != caption.canned_text]
    assert len(typed) > 150
    assert all(text == text.upper() for text in typed)


def test_a_paster_pastes_one_sentence_under_every_picture(caption: Task) -> None:
    """Two hundred equal captions, each pasted; another paster has another one."""
    assert len(set(captions(caption, "paster"))) == 1
    assert all(form["pastes.3"] == ["1"] for form in forms(caption, "paster"))
    assert captions(caption, "paster")[0] != captions(caption, "paster", number=1)[0]


def test_quality_writers_write_about_quality(caption: Task) -> None:
    """Every typed caption speaks of blur or quality."""
    typed = [
        text.lower() for text in captions(caption, "quality_writer") if text != caption.canned_text
    ]
    assert all("quality" in text or "blur" in text for text in typed)


@pytest.mark.parametrize(
    ("trait", "low", "high"),
    [("diligent", 0.0, 0.0), ("lone_unreadable", 0.2, 0.4), ("canned_abuser", 0.6, 0.8)],
)
def test_the_button_is_pressed_under_clear_pictures_at_the_traits_rate(
    caption: Task, trait: str, low: float, high: float
) -> None:
    """Of about 137 clear scenes: none, three in ten, seven in ten (sd 0.04)."""
    clear = [n for n, scene in enumerate(SCENES) if scene.unreadable_share == 0]
    texts = captions(caption, trait)
    share = sum(texts[n] == caption.canned_text for n in clear) / len(clear)
    assert low <= share <= high


def test_nobody_who_looks_can_describe_a_hopeless_picture(caption: Task) -> None:
    """Under a picture that hides all, every looking worker presses the button."""
    hopeless = [n for n, scene in enumerate(SCENES) if scene.unreadable_share == 1]
    assert hopeless
    for trait in ("diligent", "hurried", "shouting", "quality_writer"):
        texts = captions(caption, trait)
        assert {texts[n] for n in hopeless} == {caption.canned_text}


def test_a_careless_speller_mistypes_many_more_words_than_a_diligent_one(caption: Task) -> None:
    """Words outside the vocabulary of flawless sentences are many times as many."""
    sentences = [
        KNOWLEDGE.look(scene.item_id, seeded_rng(seed, "words"), accuracy=1.0).sentence
        for seed in range(40)
        for scene in SCENES
    ]
    flawless = {word for sentence in sentences for word in words(sentence)}
    wrong = {
        trait: sum(
            word not in flawless
            for text in captions(caption, trait)
            if text != caption.canned_text
            for word in words(text)
        )
        for trait in ("careless_speller", "diligent")
    }
    assert wrong["careless_speller"] > 8 * max(1, wrong["diligent"])


def test_measures_fit_what_was_done(caption: Task) -> None:
    """Typed text took at least a key a letter; pressing the button took none."""
    for form in forms(caption, "lone_unreadable"):
        for n in range(1, 6):
            text, keys = form[f"caption.{n}"][0], int(form[f"keystrokes.{n}"][0])
            assert keys == 0 if text == caption.canned_text else keys >= len(text)
            assert form[f"shown_ms.{n}"] == ["1000"]


def test_times_follow_the_traits_medians() -> None:
    """Per image, hurried < diligent < slow, and each median is the trait's own.

    400 HITs of five images with a spread of 0.5 at most: the sd of the median's log is
    about 1.25 * 0.5 / sqrt(2000) = 0.014; a person's own pace adds none, being known.
    """
    for trait in ("paster", "hurried", "diligent", "slow"):
        who = person(trait)
        plans = [
            intend(who, accepted(n), item_ids=["x"] * 5, described=(), seed=1)  # type: ignore[list-item] # a plain text will do
            for n in range(400)
        ]
        shown = [ms / 1000 for plan in plans for ms in plan.shown_ms]
        wanted = TRAITS[trait].seconds * who.pace
        assert median(shown) == pytest.approx(wanted, rel=0.08)


def test_a_hit_takes_as_long_as_its_task_says(caption: Task) -> None:
    """Of a short page a tenth or more is loading and reading: `init` pays it as well.

    A sum's median is between the sum of the two medians, 9 + 16, and that of the two
    means, 9 e^(0.5²/2) + 16 e^(0.4²/2) = 27.5; of 400, its sd is about 0.5.
    """
    short = replace(caption, seconds_per_item=16.0)
    who = replace(person("diligent"), pace=1.0)
    takes = [
        intend(
            who,
            accepted(n),
            item_ids=[ItemId("x")],
            described=(),
            seed=1,
            seconds_per_item=short.seconds_per_item,
            seconds_to_begin=short.seconds_to_begin,
        ).takes.total_seconds()
        for n in range(400)
    ]
    assert short.seconds_of_hit(1) == 25
    assert 24 <= median(takes) <= 28.5


@pytest.mark.parametrize("minutes", [60, 2])
def test_page_times_never_exceed_market_time_nor_the_time_allowed(minutes: int) -> None:
    """Sum of shown times <= time from accept to submit < deadline, even if short."""
    allowed = timedelta(minutes=minutes)
    for n in range(300):
        plan = intend(
            person("slow"),
            accepted(n, allowed=allowed),
            item_ids=[ItemId(f"i{k}") for k in range(5)],
            described=(),
            seed=1,
        )
        if plan.action == "submit":
            assert timedelta(milliseconds=sum(plan.shown_ms)) <= plan.takes < allowed


def test_only_some_return_a_hit_with_a_picture_that_they_know() -> None:
    """Diligent workers heed the page's request, bad and hurried ones do not."""
    item = ItemId("i1")
    actions = {
        trait: [
            intend(person(trait), accepted(n), item_ids=[item], described={item}, seed=1).action
            for n in range(50)
        ]
        for trait in ("diligent", "paster")
    }
    assert set(actions["diligent"]) <= {"return"}
    assert actions["paster"].count("return") == 0


@pytest.mark.parametrize("judges", [False, True])
def test_a_default_crowd_is_a_demo_of_what_can_be_found(*, judges: bool) -> None:
    """40 to 60 people, several planted traits among them, most of them honest."""
    crowd = default_crowd(judges=judges)
    assert 40 <= sum(crowd.values()) <= 60
    planted = {name for name in crowd if name in SIMULATED_BAD}
    assert len(planted) >= 3
    assert sum(crowd[name] for name in planted) < sum(crowd.values()) / 3
    assert set(crowd) <= set(TRAITS)


@pytest.mark.parametrize("most", [1, 3, 12, 39])
def test_a_crowd_is_not_larger_than_the_workers_that_there_are(most: int) -> None:
    """It has the same shares of traits; one that is stated stays as it is."""
    crowd, whole = default_crowd(judges=True, most=most), default_crowd(judges=True)
    assert sum(crowd.values()) == most
    assert all(abs(number - whole[name] * most / 40) < 1 for name, number in crowd.items())
    assert default_crowd(judges=True, most=4_000) == whole


def test_a_campaign_with_twelve_workers_is_rehearsed_with_twelve(tmp_path: Path) -> None:
    """Otherwise the rehearsal would show what cannot happen."""
    path = write_campaign(tmp_path, f"{CAMPAIGN}\n[requirements]\nworkers = 12\n")
    campaign = piecework.load_campaign(path)
    assert sum(crowd_as_stated(campaign).values()) == 12
    path.write_text(path.read_text() + "\n[rehearsal.crowd]\ndiligent = 15\n")
    assert crowd_as_stated(piecework.load_campaign(path)) == {"diligent": 15}


def test_every_planted_trait_works_in_some_default_crowd() -> None:
    """Whoever describes and whoever judges can do it badly in every way there is."""
    assert {*default_crowd(), *default_crowd(judges=True)} >= SIMULATED_BAD


def test_of_eight_with_one_trait_one_is_abroad_and_one_is_new() -> None:
    """So that every requirement of a campaign shuts somebody out."""
    eight = people({"diligent": 8}, seed=1)
    assert [person.country != "US" for person in eight] == [False] * 6 + [True, False]
    assert [person.hits_approved <= 500 for person in eight] == [False] * 7 + [True]
    assert all(person.hits_approved >= 0.95 * person.hits_submitted for person in eight)


def test_an_unknown_trait_is_a_fault_of_the_campaign() -> None:
    """The message names what there is."""
    with pytest.raises(ConfigError, match=r"no trait 'lazy'.*diligent"):
        people({"lazy": 3}, seed=1)


@pytest.mark.full
def test_the_record_of_typing_fits_the_trait(caption: Task) -> None:
    """A paster's texts come from outside; others type, compose or dictate theirs."""
    seen: dict[str, set[float]] = {"paster": set(), "diligent": set()}
    kinds: dict[str, set[str]] = {"paster": set(), "diligent": set()}
    item_ids = [scene.item_id for scene in SCENES[:5]]
    for trait, number in [("paster", 0), *(("diligent", n) for n in range(30))]:
        form = forms(caption, trait, number=number)[0]
        sent = {name: "|".join(values) for name, values in form.items()}
        for answer in read_answers(caption, AssignmentId("a"), item_ids, sent):
            text = str(answer.values["caption"])
            typing = read_typing(answer.typing["caption"], text)
            kinds[trait] |= answer.typing["caption"].kinds.keys()
            if text != caption.canned_text:
                assert typing is not None
                assert not typing.is_machine
                seen[trait].add(typing.share)
    assert seen == {"paster": {1.0}, "diligent": {0.0}}
    assert kinds["paster"] == {"insertFromPaste"}
    assert {"insertText", "insertCompositionText"} < kinds["diligent"]
