"""A pass that died between two HITs of one batch leaves work for the very next one."""

from datetime import UTC, datetime
from pathlib import Path

from domain.progress import Waiting
from flows.steps.progress import progress
from flows.wiring import load_campaign, stored_place
from marketplace.server import serve
from tests.crash.passing import Death, run_pass
from tests.crash.test_crash import CAMPAIGN


def _waiting_for(path: Path) -> Waiting:
    with stored_place(load_campaign(path)) as place:
        return progress(place).waiting_for


def test_what_is_planned_and_not_posted_is_due_while_workers_are_at_work(
    tmp_path: Path,
) -> None:
    """The next pass posts it, and does not wait for the HITs that are open."""
    campaign = tmp_path / "crash.toml"
    campaign.write_text(CAMPAIGN.replace("batches = 2", "batches = 1"))
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 5))
    (tmp_path / "items.csv").write_text("image_id,url\n" + rows)
    with serve(
        tmp_path / "marketplace.db",
        rehearsal=True,
        seed=1,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC),
    ) as running:
        # Calls of the first pass: the exclusion, the HIT type, HIT 1, HIT 2.
        code, _ = run_pass(
            campaign,
            running.endpoint_url,
            tmp_path / "calls",
            Death(4, "before the call"),
        )
        assert code == -9
        assert _waiting_for(campaign) == "the next pass"
        code, waiting_for = run_pass(
            campaign, running.endpoint_url, tmp_path / "calls", None
        )
        assert (code, waiting_for) == (0, "workers")
