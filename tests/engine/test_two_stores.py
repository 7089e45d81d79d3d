"""Two stores of one campaign: only one of them posts; two campaigns of the same items both do."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.errors import RefusedForSafety
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.mturk import MTurk
from tests.crash.world import START
from tests.postgres_server import new_database
from tests.small_campaign import CAMPAIGN, MACHINE, write_campaign
from tests.stores import KINDS, url_of


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")


def _folder(folder: Path) -> Path:
    folder.mkdir()
    return write_campaign(folder)


def test_of_two_that_begin_at_once_one_posts_and_the_other_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked for HITs and found none before either posts; calls are slow."""
    paths = [_folder(tmp_path / name) for name in ("one", "two")]
    both_have_looked = Barrier(2, timeout=30)
    looked = MTurk.claim

    def claim(self: MTurk, name: str, owner: str) -> str:
        both_have_looked.wait()
        return looked(self, name, owner)

    monkeypatch.setattr(MTurk, "claim", claim)
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:
        slow = [{"kind": "slow", "seconds": 0.2, "times": 100}]
        httpx.put(f"{running.endpoint_url}/rehearsal/faults", json=slow)

        def begin(path: Path) -> str:
            campaign = load_campaign(path)
            try:
                with open_on_marketplace(campaign, running.endpoint_url, live=False) as run:
                    run_pass(run)
            except RefusedForSafety as refusal:
                return str(refusal)
            return "posted"

        with ThreadPoolExecutor(2) as pool:
            ended = sorted(pool.map(begin, paths))
        assert ended[1] == "posted"
        assert "was begun on" in ended[0]
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        assert len(books["hits"]) == 1


def test_a_second_store_may_begin_if_a_person_says_so_once(tmp_path: Path) -> None:
    """Its later passes need not be told again; the first store goes on as well."""
    first, second = (_folder(tmp_path / name) for name in ("one", "two"))
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:

        def open_and_close(path: Path, *, allow: bool = False) -> None:
            with open_on_marketplace(
                load_campaign(path), running.endpoint_url, live=False, allow_second_store=allow
            ):
                pass

        open_and_close(first)
        for _ in range(2):
            with pytest.raises(RefusedForSafety, match="was begun on"):
                open_and_close(second)
        open_and_close(second, allow=True)
        open_and_close(second)
        open_and_close(first)


def test_a_claim_whose_reply_was_lost_is_its_own(tmp_path: Path) -> None:
    """boto3 repeats the call, and finds its own name there."""
    path = _folder(tmp_path / "one")
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:
        lost = [{"kind": "lose_reply", "operation": "CreateQualificationType"}]
        httpx.put(f"{running.endpoint_url}/rehearsal/faults", json=lost)
        with open_on_marketplace(load_campaign(path), running.endpoint_url, live=False) as run:
            assert run.platform.claim("piecework: store of crash", "x") != "x"


@pytest.fixture(params=KINDS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A machine's file by which campaigns of all folders have their stores in one place."""
    if url := url_of(request):
        return f'[store]\nurl = "{new_database(url)}"\n'
    return f'[output]\nfolder = "{tmp_path / "results"}"\n'


def _study(folder: Path, name: str, machine: str) -> Path:
    """Write the small campaign under a name, with its machine's file; its path."""
    folder.mkdir(exist_ok=True)
    text = CAMPAIGN.replace('name = "crash"', f'name = "{name}"')
    return write_campaign(folder, text + MACHINE + machine)


def _hits_posted(path: Path, endpoint: str) -> int:
    with open_on_marketplace(load_campaign(path), endpoint, live=False) as run:
        return run_pass(run).hits_posted


def test_the_same_items_in_another_folder_are_another_campaign(
    tmp_path: Path, machine: str
) -> None:
    """A replication, whose store is in the same place; each has its own, and goes on with it."""
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:
        first = _study(tmp_path / "one", "birds", machine)
        assert _hits_posted(first, running.endpoint_url) == 1
        second = _study(tmp_path / "two", "finches", machine)
        assert _hits_posted(second, running.endpoint_url) == 1
        for path in (first, second):
            _hits_posted(path, running.endpoint_url)
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        assert len(books["hits"]) == 2


def test_a_renamed_campaign_is_refused_in_its_folder_and_after_a_move(
    tmp_path: Path, machine: str
) -> None:
    """The folder of its last pass counts, and no file there has the earlier name any more."""
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:
        _hits_posted(_study(tmp_path / "one", "birds", machine), running.endpoint_url)
        for folder in ("one", "moved"):
            if folder == "moved":
                shutil.move(tmp_path / "one", tmp_path / folder)
            renamed = _study(tmp_path / folder, "finches", machine)
            with pytest.raises(RefusedForSafety, match="begun as 'birds'") as refused:
                _hits_posted(renamed, running.endpoint_url)
            assert 'write name = "birds" again; for another study' in refused.value.next_step
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        assert len(books["hits"]) == 1
        _hits_posted(_study(tmp_path / "moved", "birds", machine), running.endpoint_url)
        replication = _study(tmp_path / "two", "finches", machine)
        assert _hits_posted(replication, running.endpoint_url) == 1
