"""Drawn pictures: deterministic, true to their words, harmless, as readable as real."""

import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from piecework.domain.ids import ItemId
from piecework.domain.pictures import picture_name, scene_rows
from piecework.simulation.pictures.drawing import draw
from piecework.simulation.pictures.drawing.picture import INKS, names_of
from piecework.simulation.pictures.scenes import KINDS, PLACES, Scene, Thing, scenes


def test_the_same_seed_draws_the_same_pictures() -> None:
    """Scenes and their drawings depend on nothing but seed and number."""
    first, second = scenes(7, 12), scenes(7, 12)
    assert first == second
    assert [draw(scene) for scene in first] == [draw(scene) for scene in second]


def test_another_seed_draws_other_pictures() -> None:
    """Two seeds share no picture among the first twelve."""
    first, second = ({draw(scene) for scene in scenes(seed, 12)} for seed in (7, 8))
    assert not first & second


def test_more_scenes_never_change_the_earlier_ones() -> None:
    """A longer rehearsal begins with the shorter one's pictures."""
    assert scenes(7, 40)[:12] == scenes(7, 12)


def test_scene_rows_name_the_pictures_that_are_drawn() -> None:
    """Each row's id and address fit the scene of the same number."""
    rows = scene_rows(3)
    assert rows[0] == {"image_id": "scene_0001", "url": "/pictures/scene_0001.svg"}
    for row, scene in zip(rows, scenes(7, 3), strict=True):
        assert row["image_id"] == scene.item_id
        assert row["url"].endswith("/" + picture_name(scene.item_id))


def test_readability_follows_the_published_shares() -> None:
    """Scenes by expected number of people giving up match VizWiz-Captions (3.2).

    Of 10,000 draws with share p the sd is sqrt(p (1 - p) / 10,000) <= 0.0047; two
    points of a hundred are more than four of them.
    """
    expected = {0: 0.685, 1: 0.167, 2: 0.059, 3: 0.036, 4: 0.031, 5: 0.022}
    counts = Counter(round(5 * s.unreadable_share) for s in scenes(1, 10_000))
    for of_five, share in expected.items():
        assert counts[of_five] / 10_000 == pytest.approx(share, abs=0.02)


def test_every_flaw_is_one_that_the_page_offers_and_all_but_other_occur() -> None:
    """What is drawn in can be ticked; "other" needs words, so it is never drawn."""
    drawn = {flaw for scene in scenes(1, 300) for flaw in scene.flaws}
    assert drawn == {"blur", "bright", "dark", "obscured", "framing", "rotation"}


def test_a_scene_without_severity_has_no_flaw_and_a_hidden_one_has() -> None:
    """Flaws and severity never contradict each other."""
    for scene in scenes(2, 500):
        assert bool(scene.flaws) == (scene.severity > 0)


def test_everything_in_the_catalogue_can_be_drawn() -> None:
    """Kinds, places and colours have drawings, and no drawing is left over."""
    props = {"racket", "tennis ball", "frisbee", "baseball"}
    assert set(KINDS) | props == set(names_of("things"))
    assert set(PLACES) | {"tennis court", "baseball field"} == set(names_of("places"))
    assert {name for place in PLACES.values() for name in place.kinds} == set(KINDS)
    assert {colour for kind in KINDS.values() for colour in kind.colours} <= set(INKS)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_label_is_drawn_once_for_every_object(count: int) -> None:
    """The picture holds as many labelled objects as the truth says."""
    thing = Thing(name="can", colour="red", count=count, text="SOUP")
    scene = Scene(item_id=ItemId("x"), place="kitchen counter", things=(thing,))
    root = ET.fromstring(draw(scene))  # noqa: S314 - our own drawing
    texts = [element.text for element in root.iter()]
    assert texts.count("SOUP") == count
    assert scene.text == "SOUP"


def test_the_colour_of_an_object_is_in_its_drawing() -> None:
    """A purple mug is painted purple, and a red one is not."""
    drawn = {
        colour: draw(
            Scene(item_id=ItemId("x"), place="desk", things=(Thing(name="mug", colour=colour),))
        )
        for colour in ("purple", "red")
    }
    assert INKS["purple"] in drawn["purple"]
    assert INKS["purple"] not in drawn["red"]


def test_pictures_hold_no_script_and_refer_to_nothing_outside() -> None:
    """Every element is a plain shape; every reference points into the same file."""
    allowed = {
        "svg", "defs", "g", "rect", "path", "ellipse", "text", "filter", "stop",
        "feGaussianBlur", "linearGradient", "radialGradient",
    }  # fmt: skip
    for scene in scenes(5, 60):
        for element in ET.fromstring(draw(scene)).iter():  # noqa: S314 - our own drawing
            assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in allowed
            for name, value in element.attrib.items():
                assert not name.startswith("on")
                assert "href" not in name
                assert re.sub(r"url\(#\w+\)", "", value).find("url") < 0
                assert "//" not in value


def test_a_picture_is_small_enough_to_be_fetched_often() -> None:
    """No picture is larger than 60 kilobytes."""
    assert max(len(draw(scene)) for scene in scenes(5, 60)) < 60_000
