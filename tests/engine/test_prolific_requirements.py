"""Prolific's filters where no participants of Prolific come."""

import pytest

from piecework.domain.errors import PlatformRefused
from piecework.engine.run_pass import run_pass
from tests.engine.conftest import Open
from tests.small_campaign import CAMPAIGN

TABLE = "[requirements.prolific]\nfirst-language = [0, 1]\n"


def test_a_marketplace_without_participants_of_prolific_gets_no_hit(at_work: Open) -> None:
    """Nobody could accept it."""
    with at_work(CAMPAIGN + TABLE) as (run, _):
        with pytest.raises(PlatformRefused, match="does not offer PROLIFIC") as refused:
            run_pass(run)
        assert "--crowd prolific" in str(refused.value.next_step)
        assert list(run.platform.find_hits()) == []
