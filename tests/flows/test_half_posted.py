"""A pass that died between two HITs of one batch leaves work for the very next one."""

from pathlib import Path

from domain.progress import Waiting
from flows.opening import load_campaign, open_to_look
from flows.progress import read_progress
from tests.crash.campaign import CAMPAIGN
from tests.crash.disturbed import Call, run_pass
from tests.crash.faults import BY_NAME
from tests.crash.world import World


def _waiting_for(path: Path) -> Waiting:
    with open_to_look(load_campaign(path)) as run:
        return read_progress(run).waiting_for


def test_what_is_planned_and_not_posted_is_due_while_workers_are_at_work(
    tmp_path: Path,
) -> None:
    """The next pass posts it, and does not wait for the HITs that are open."""
    campaign = tmp_path / "crash.toml"
    campaign.write_text(CAMPAIGN.replace("batches = 2", "batches = 1"))
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 5))
    (tmp_path / "items.csv").write_text("image_id,url\n" + rows)
    world = World(tmp_path)
    with world.marketplace(apart=False):
        call = Call("CreateHITWithHITType", 2)
        assert run_pass(world, BY_NAME["killed before the call"], call).code == -9
        assert _waiting_for(campaign) == "the next pass"
        ended = run_pass(world)
        assert (ended.code, ended.said.strip()) == (0, "workers")
