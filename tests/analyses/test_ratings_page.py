"""The page on adjusted means says what they do on real grades."""

import pytest

from tests.bench.truth.labels.scales import PAGE, table
from tests.bench.truth.sets import DATA

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is missing"),
]


@pytest.mark.full
def test_the_page_has_these_figures() -> None:
    """Computed again, to the digit."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in table() if line not in page] == []
