"""Prolific's filters where no participants of Prolific come."""

import pytest

from piecework.domain.errors import RefusedForSafety
from tests.engine.conftest import Open
from tests.small_campaign import CAMPAIGN

TABLE = "[prolific]\nfirst-language = [0, 1]\n"


def test_a_marketplace_without_participants_of_prolific_gets_no_hit(at_work: Open) -> None:
    """Nobody could accept it."""
    words = "serves no market, but the campaign is for prolific; no HITs were posted"
    with pytest.raises(RefusedForSafety, match=words) as refused, at_work(CAMPAIGN + TABLE):
        pass
    assert "--crowd NAME" in str(refused.value.next_step)
