"""A campaign asks for the workers of an earlier one, or for all but them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import ConfigError
from piecework.engine.opening import open_on_marketplace
from piecework.engine.requirements import requirements_of_earlier_work
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.simulation.rehearsals.checking import check_campaign
from tests.crash.people import People
from tests.engine.conftest import Open
from tests.marketplace.market import Worker
from tests.small_campaign import CAMPAIGN


@dataclass(frozen=True, slots=True)
class After:
    """An earlier campaign with two workers, ann and bob, and its folder."""

    run: CampaignRun
    people: People

    @property
    def folder(self) -> Path:
        """Where campaign files are."""
        return self.run.campaign.path.parent

    def write(self, keys: str, name: str = "later") -> Path:
        """Write another campaign with these requirements; its file."""
        path = self.folder / f"{name}.toml"
        text = CAMPAIGN.replace('name = "crash"', f'name = "{name}"')
        assert text != CAMPAIGN
        path.write_text(f"{text}\n[requirements]\n{keys}\n")
        return path


@pytest.fixture
def after(at_work: Open, campaign_text: str) -> Iterator[After]:
    """The earlier campaign after its first batch."""
    with at_work(campaign_text) as opened:
        run, people = opened
        run_pass(run)
        people.work()
        run_pass(run)
        yield After(run, people)


def offered(after: After, handle: str, *, keys: str, name: str = "later") -> list[str]:
    """The titles that a worker is offered once the later campaign is posted."""
    path = after.write(keys, name)
    text = path.read_text().replace("[posting]", '[posting]\ntitle = "Later"', 1)
    path.write_text(text)
    endpoint = after.run.platform.endpoint
    with open_on_marketplace(load_campaign(path), endpoint, live=False) as run:
        run_pass(run)
    worker = Worker(endpoint, handle=handle)
    titles = [group["title"] for group in worker.groups() if group["may_accept"]]
    worker.http.close()
    return titles


@pytest.mark.parametrize(
    ("key", "sees"), [("only_workers_of", ("ann", "bob")), ("no_workers_of", ("zoe",))]
)
def test_only_the_right_workers_see_the_hits(after: After, key: str, sees: tuple[str, ...]) -> None:
    """By the qualification that the marketplace keeps."""
    keys = f'{key} = ["crash.toml"]'
    for handle in ("ann", "bob", "zoe"):
        assert ("Later" in offered(after, handle, keys=keys)) == (handle in sees)


def test_workers_who_came_since_count_when_more_is_posted(after: After) -> None:
    """The holders are brought up to date before HITs are posted."""
    keys = 'only_workers_of = ["crash.toml"]'
    assert "Later" not in offered(after, "cat", keys=keys)
    run_pass(after.run)
    after.people.work()
    run_pass(after.run)
    assert "Later" in offered(after, "cat", keys=keys, name="third")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('no_workers_of = ["none.toml"]', "no such campaign file"),
        ('no_workers_of = ["later.toml"]', "later.toml is this campaign itself"),
        (
            'only_workers_of = ["crash.toml"]\nno_workers_of = ["crash.toml"]',
            "crash.toml is named before",
        ),
        ('no_workers_of = ["crash"]', "no_workers_of"),
    ],
)
def test_a_wrong_name_is_a_fault_with_its_line(after: After, keys: str, words: str) -> None:
    """`check` says it before any HIT is posted."""
    path = after.write(keys)
    with pytest.raises(ConfigError, match=rf"later\.toml:\d+: .*{words}"):
        load_campaign(path)


def test_a_campaign_that_was_not_started_is_warned_of_and_refused(after: After) -> None:
    """Nothing is posted."""
    after.write("", "other")
    path = after.write('no_workers_of = ["other.toml"]')
    warnings = check_campaign(path, on=datetime(2026, 1, 5, tzinfo=UTC).date()).warnings
    assert any("the campaign other was not started yet" in each for each in warnings)
    endpoint = after.run.platform.endpoint
    with (
        open_on_marketplace(load_campaign(path), endpoint, live=False) as run,
        pytest.raises(ConfigError, match="other was not started yet"),
    ):
        run_pass(run)


def test_a_campaign_that_nobody_worked_for_yet_keeps_nobody_out(after: After) -> None:
    """And no worker could do HITs for its workers alone."""
    path, endpoint = after.write("", "other"), after.run.platform.endpoint
    with open_on_marketplace(load_campaign(path), endpoint, live=False) as run:
        run_pass(run)
    assert "Later" in offered(after, "zoe", keys='no_workers_of = ["other.toml"]')
    with pytest.raises(ConfigError, match="the campaign other has no workers yet"):
        offered(after, "zoe", keys='only_workers_of = ["other.toml"]', name="third")


def test_a_marketplace_is_known_by_its_account_or_else_by_its_address(after: After) -> None:
    """Wherever it is served now; without accounts, another address is another marketplace."""
    path = after.write('no_workers_of = ["crash.toml"]')
    sql = "UPDATE bound SET account = ?, environment = ?"
    with open_on_marketplace(load_campaign(path), after.run.platform.endpoint, live=False) as run:
        for theirs, mine, is_known in (
            (("lab", "http://a"), ("lab", "http://b"), True),
            ((None, "http://a"), (None, "http://a"), True),
            ((None, "http://a"), (None, "http://b"), False),
            (("lab", "http://a"), ("other", "http://a"), False),
            (("lab", "http://a"), (None, "http://a"), False),
        ):
            for store, facts in ((after.run.store, theirs), (run.store, mine)):
                with store.db.atomic():
                    store.db.execute(sql, facts)
            if is_known:
                assert len(requirements_of_earlier_work(run)) == 1
                continue
            with pytest.raises(ConfigError, match="the campaign crash ran elsewhere"):
                requirements_of_earlier_work(run)


def test_workers_of_another_marketplace_are_not_known_here(after: After, tmp_path: Path) -> None:
    """A sentence, and nothing is posted."""
    path = after.write('no_workers_of = ["crash.toml"]')
    with (
        serve(Marketplace(tmp_path / "elsewhere.db", rehearsal=True, seed=2)) as running,
        open_on_marketplace(load_campaign(path), running.endpoint_url, live=False) as run,
        pytest.raises(ConfigError, match="the campaign crash ran elsewhere"),
    ):
        run_pass(run)
