"""A workspace may not use all completion codes; its studies do without them."""

import logging
from pathlib import Path

import pytest

from tests.conftest import in_full
from tests.markets.prolific.bridge.disturbed import FAULTS, Call, Fault, Lives
from tests.markets.prolific.bridge.test_pay import LATER, check, decide
from tests.markets.prolific.bridge.town import Town, a_town

_CREATE = "create-study"
_CREATES = [fault for fault in FAULTS if fault.dies or "lost" in fault.name]


def _code_types(town: Town) -> set[str]:
    [study] = town.rows("SELECT study_id FROM studies WHERE stage = 'Published'")
    there = town.researcher.get(f"/studies/{study['study_id']}/")
    assert there["status"] == "ACTIVE"
    return {code["code_type"] for code in there["completion_codes"]}


def _restrict(town: Town, **switches: bool) -> None:
    town.researcher.control("PUT", "/switches", switches)


def test_a_study_is_published_without_a_screen_out_that_is_not_allowed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is held or promised for it, and the log says so."""
    with a_town(tmp_path, screen_out_cents=20) as town:
        _restrict(town, screen_outs=False)
        town.post(hits=2)
        with caplog.at_level(logging.WARNING):
            town.settle()
        assert "without restricted completion codes" in caplog.text
        assert "FIXED_SCREEN_OUT_PAYMENT" in caplog.text
        assert _code_types(town) == {"COMPLETED", "OTHER"}
        [study] = town.rows("SELECT screen_out_cents, screen_out_slots FROM studies")
        assert study == {"screen_out_cents": 0, "screen_out_slots": 0}
        town.check_books()


def test_a_participant_without_the_code_is_paid_by_bonus_where_no_other_way_is_allowed(
    town: Town,
) -> None:
    """The bridge cannot end their submission, which times out."""
    _restrict(town, researcher_codes=False)
    town.post(hits=4, **LATER)
    town.settle()
    assert _code_types(town) == {"COMPLETED"}
    ann, bob = town.visitor(), town.visitor()
    ann.work(town.study())
    bob.arrive(town.study())
    while bob.visit()["stage"] == "Open":
        bob.answer()
    town.wait(hours=5)
    town.settle()
    for someone in (ann, bob):
        decide(town, someone, "approve", 0, 1)
    town.settle()
    ended = [town.researcher.submission(someone.submission_id) for someone in (ann, bob)]
    assert [each["status"] for each in ended] == ["APPROVED", "TIMED-OUT"]
    assert [each["bonus_payments"] for each in ended] == [[], [110]]
    check(town)


def test_a_study_that_is_refused_for_another_reason_keeps_its_codes(tmp_path: Path) -> None:
    """When the reason has gone, it is created with all of them."""
    with a_town(tmp_path, screen_out_cents=20, site_url="ftp://hits.example") as town:
        town.post(hits=2)
        town.settle()
        assert town.studies() == []
        [study] = town.rows("SELECT has_own_code, screen_out_code IS NOT NULL AS pays FROM studies")
        assert study == {"has_own_code": 1, "pays": 1}


@pytest.mark.parametrize("nth", [*in_full(1, 2), 3])
@pytest.mark.parametrize("fault", _CREATES, ids=lambda fault: fault.name)
def test_a_fault_at_any_attempt_leads_to_one_published_study(
    tmp_path: Path, fault: Fault, nth: int
) -> None:
    """The row has the codes that the study has at Prolific."""
    with a_town(tmp_path, screen_out_cents=20) as town:
        _restrict(town, screen_outs=False, researcher_codes=False)
        town.post(hits=2)
        lives = Lives(town, fault, Call(_CREATE, nth))
        lives.settle()
        lives.close()
        assert lives.has_met
        assert _code_types(town) == {"COMPLETED"}
        [study] = town.rows(
            "SELECT has_own_code, screen_out_code FROM studies WHERE stage = 'Published'"
        )
        assert study == {"has_own_code": 0, "screen_out_code": None}
