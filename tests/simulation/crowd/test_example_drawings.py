"""The pictures of the instructions are the ones that the module draws."""

import pytest

from piecework.simulation.pictures.portraits import draw_portrait
from tools.examples.example_drawings import DRAWINGS, FOLDER


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_up_to_date(name: str) -> None:
    """`python -m tools.examples.example_drawings` would change nothing."""
    assert (FOLDER / name).read_text("utf-8") == draw_portrait(DRAWINGS[name])
