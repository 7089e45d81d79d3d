"""A captive portal that answers 200 to everything for the marketplace pays nobody."""

from dataclasses import replace

import pytest

from piecework.domain.errors import TransientPlatformError
from piecework.engine.payments.due_bonuses import read_bonuses
from piecework.engine.payments.pay import pay_bonuses
from piecework.engine.run_pass import run_pass
from piecework.platforms.mturk import MTurk
from piecework.store import intents
from tests.captive_portal import captive_portal
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import (
    assignment_ids,
    bonus_file,
    books,
    check_books,
    first_batch_paid,
)


def test_rewards_that_a_portal_swallowed_are_paid_when_it_has_gone(
    at_work: Open, campaign_text: str
) -> None:
    """Its page is no approval: the next pass looks, and approves for real."""
    with at_work(campaign_text) as (run, people), captive_portal(run.platform.endpoint) as portal:
        behind = replace(run, platform=MTurk(portal.url))
        run_pass(behind)
        people.work()
        portal.operations = ("ApproveAssignment",)
        with pytest.raises(TransientPlatformError, match=r"200\) is not a marketplace"):
            run_pass(behind)
        assert portal.intercepted
        assert {assignment["status"] for assignment in books(run)["assignments"]} == {"Submitted"}
        assert intents.begun(run.store, "approve")
        assert not list(intents.load_intents(run.store, "approve", is_done=True))
        check_books(run)
        portal.operations = ()
        assert run_pass(behind).rewards_cents == 100
        assert {assignment["paid_cents"] for assignment in books(run)["assignments"]} >= {50}
        check_books(run)


def test_a_bonus_that_a_portal_swallowed_is_paid_when_it_has_gone(
    at_work: Open, campaign_text: str
) -> None:
    """The same for SendBonus: once, and to the cent."""
    with at_work(campaign_text) as opened:
        run = first_batch_paid(opened)
        with captive_portal(run.platform.endpoint) as portal:
            behind = replace(run, platform=MTurk(portal.url))
            text = bonus_file((assignment_ids(run)[0], "1.50", "Thanks!"))
            portal.operations = ("SendBonus",)
            with pytest.raises(TransientPlatformError, match="not a marketplace"):
                pay_bonuses(behind, read_bonuses(behind, text, label="bonus", name="b.csv"))
            assert books(run)["bonuses"] == []
            check_books(run)
            portal.operations = ()
            for _ in range(2):
                pay_bonuses(behind, read_bonuses(behind, text, label="bonus", name="b.csv"))
        assert [bonus["cents"] for bonus in books(run)["bonuses"]] == [150]
        check_books(run)
