"""docs/cleaning.md shows the figures of what ships, as its command makes them."""

import pytest

from tests.postprocess.spelling_fit import figures, labels


def _block() -> str:
    (block,) = figures.BLOCK.findall(figures.PAGE.read_text(encoding="utf-8"))
    return str(block)


def test_the_figures_are_of_the_weights_and_thresholds_that_ship() -> None:
    """New ones need `python -m tests.postprocess.spelling_fit.figures --write`."""
    assert f"<!-- of {figures.fingerprint()} -->" in _block()


@pytest.mark.shared
@pytest.mark.full
def test_the_figures_are_what_the_labelled_captions_give() -> None:
    """All tables made again, to the last digit; some minutes."""
    if not labels.SPELLING.exists():
        pytest.skip("the labelled captions are not beside this repository")
    _, lines = figures.cross_validated(labels.read())
    assert "\n".join(lines) in _block()
