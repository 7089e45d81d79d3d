"""A pass that died between two HITs of one batch leaves work for the very next one."""

from pathlib import Path

from piecework.campaign.assembling import load_campaign
from piecework.domain.progress import Waiting
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from tests.crash.disturbed import Call, pass_apart
from tests.crash.faults import BY_NAME
from tests.crash.world import World
from tests.small_campaign import CAMPAIGN, write_campaign


def _waiting_for(path: Path) -> Waiting:
    with open_to_look(load_campaign(path)) as opened:
        return read_progress(opened).waiting_for


def test_what_is_planned_and_not_posted_is_due_while_workers_are_at_work(tmp_path: Path) -> None:
    """The next pass posts it, and does not wait for the HITs that are open."""
    text = CAMPAIGN.replace("batches = 2", "batches = 1")
    campaign = write_campaign(tmp_path, text)
    world = World(tmp_path)
    with world.marketplace(apart=False):
        call = Call("CreateHITWithHITType", 2)
        assert pass_apart(world, BY_NAME["killed before the call"], call).code == -9
        assert _waiting_for(campaign) == "the next pass"
        ended = pass_apart(world)
        assert (ended.code, ended.output.strip()) == (0, "workers")
