"""docs/internals/measurements/cleaning.md shows the figures that its command makes."""

import pytest

from tests.postprocess.spelling_fit import figures, labels


def _block() -> str:
    (block,) = figures.BLOCK.findall(figures.PAGE.read_text(encoding="utf-8"))
    return str(block)


@pytest.mark.shared
@pytest.mark.full(weeks=2)
def test_the_figures_are_what_the_labelled_captions_give() -> None:
    """All tables made again, to the last digit; some minutes."""
    if not labels.SPELLING.exists():
        pytest.skip("the labelled captions are not beside this repository")
    _, lines = figures.cross_validated(labels.read())
    assert "\n".join(lines) in _block()
