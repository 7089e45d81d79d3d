"""An items file may name portraits, which the rehearsal draws from their names."""

from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.simulation.pictures.portraits import (
    Portrait,
    draw_portrait,
    portrait_name,
    portrait_named,
)
from piecework.simulation.rehearsals.campaign import draw_pictures

BOY = Portrait(who="boy", garment="coat", colour="red", doing="kite")


def items(*names: str) -> list[Item]:
    """An item for each picture."""
    return [Item(item_id=ItemId(name), columns={"url": name}) for name in names]


def test_a_name_says_what_a_portrait_shows() -> None:
    """Other names are no portraits, even with as many parts."""
    assert portrait_named(portrait_name(BOY)) == BOY
    for name in (
        "portrait_boy_coat_red_chess.svg",
        "portrait_king_coat_red_kite.svg",
        "portrait_boy_coat_red.svg",
        "picture_boy_coat_red_kite.svg",
    ):
        assert portrait_named(name) is None


def test_portraits_are_drawn_beside_scenes(tmp_path: Path) -> None:
    """Only those that an item names."""
    draw_pictures(tmp_path, 11, items(portrait_name(BOY), "scene_0003.svg"))
    drawn = {path.name: path.read_text() for path in (tmp_path / "pictures").iterdir()}
    assert set(drawn) == {"portrait_boy_coat_red_kite.svg", "scene_0003.svg"}
    assert drawn["portrait_boy_coat_red_kite.svg"] == draw_portrait(BOY)


def test_a_portrait_that_cannot_be_drawn_is_refused_with_the_parts_there_are(
    tmp_path: Path,
) -> None:
    """Its name has the form, but nobody plays chess here."""
    with pytest.raises(ConfigError) as refused:
        draw_pictures(tmp_path, 11, items("portrait_boy_coat_red_chess.svg"))
    (fault,) = refused.value.faults
    assert fault.startswith("portrait_boy_coat_red_chess.svg: ")
    assert "tennis" in fault
