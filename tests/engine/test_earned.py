"""Qualifications that workers earn, from the campaign file to the wire."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock, SystemClock
from piecework.domain.errors import StoreError
from piecework.engine import requirements
from piecework.engine.earn import earn, records_of
from piecework.engine.opening import open_on_marketplace
from piecework.engine.recover.rebinding import rebind
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.mturk import MTurk
from piecework.simulation.crowd.browser import read_page
from tests.crash.people import People
from tests.marketplace.market import Worker, free_port
from tests.small_campaign import CAMPAIGN, write_campaign
from tests.stores import KINDS
from tests.trusted import own

EARNED = 'earned = ["captioner.toml"]\n'
RULE = """
name = "good at captions"
kind = "captions"
over = 5
"""
RULES, _, REST = CAMPAIGN.partition('[[decisions.rule]]\non = "worker"')
TEXT = EARNED + f"{RULES}# the end{REST.partition('# the end')[2]}".replace(
    "items_per_hit = 2", "items_per_hit = 5"
)
"""Nobody is excluded, so that everybody goes on."""
TWO_RULES = 'earned = ["good.toml", "very.toml"]\n'
RULE_FILES = {
    "captioner.toml": RULE,
    "six.toml": RULE.replace("over = 5", "over = 6"),
    "ten.toml": RULE.replace("over = 5", "over = 10"),
    "good.toml": RULE
    + """
agreement = 0.75
revoke_below = 0.7
forget_after_days = 30
records = "elsewhere.db"
""",
    "very.toml": RULE.replace('"good', '"very good')
    + """
agreement = 1.0
revoke_below = 0.9
records = "elsewhere.db"
""",
}


class Scene:
    """Campaigns of one requester on one marketplace."""

    def __init__(self, folder: Path, endpoint: str, url: str) -> None:
        self.folder, self.endpoint, self._url = folder, endpoint, url

    def write(self, name: str, more: str = "", text: str = TEXT) -> Path:
        """Write a campaign's file, and those of the qualifications that it lets earn."""
        for file_name, rule in RULE_FILES.items():
            (self.folder / file_name).write_text(rule)
        path = write_campaign(self.folder, text, pictures=10)
        renamed = text.replace('name = "crash"', f'name = "{name}"\n')
        path.write_text(renamed.replace("[posting]", f'[posting]\ntitle = "{name}"', 1))
        with path.open("a") as file:
            file.write(more)
        if self._url:
            (self.folder / "piecework.toml").write_text(f'[store]\nurl = "{self._url}"\n')
        return own(path.rename(path.with_name(f"{name}.toml")))

    @contextmanager
    def opened(self, path: Path) -> Iterator[CampaignRun]:
        """Open a campaign for passes."""
        with open_on_marketplace(load_campaign(path), self.endpoint, live=False) as run:
            yield run

    def work(self, path: Path, *script: tuple[str, str]) -> None:
        """Let people do a HIT of a campaign each, with a pass before and after."""
        with self.opened(path) as run:
            run_pass(run)
            for handle, manner in script:
                self.do(path.stem, handle, manner)
            run_pass(run, poll_open_hits=True)

    def do(self, title: str, handle: str, manner: str) -> None:
        """Do a HIT with a title."""
        worker = Worker(self.endpoint, handle=handle)
        with closing(worker.http) as client:
            group = next(each for each in worker.groups() if each["title"] == title)
            accepted = worker.accept(group["hit_group_id"]).json()
            now = datetime.fromisoformat(client.get("/rehearsal/clock").json()["now"])
            later = {"now": (now + timedelta(minutes=5)).isoformat()}
            client.put("/rehearsal/clock", json=later).raise_for_status()
            page = read_page(client.get(accepted["frame_url"]).text)
            form = People(self.endpoint).fill_in(accepted["assignment_id"], page, manner)
            client.post("/mturk/externalSubmit", data=form).raise_for_status()

    def holders(self, name: str = "good at captions") -> set[str]:
        """The handles of those who hold the qualification at the marketplace."""
        return {
            row["handle"]
            for row in self.rows(
                "SELECT handle FROM qualifications JOIN workers "
                "ON workers.id = worker JOIN qualification_types "
                "ON qualification_types.id = qualification_type "
                "WHERE name = ? AND qualifications.status = 'Granted'",
                name,
            )
        }

    def messages(self, handle: str) -> list[str]:
        """What a worker was sent about the qualification."""
        return [
            row["text"]
            for row in self.rows(
                "SELECT text FROM messages JOIN workers ON workers.id = worker "
                "WHERE handle = ? AND text LIKE '%good at captions%' "
                "ORDER BY messages.id",
                handle,
            )
        ]

    def handle(self, worker_id: str) -> str:
        """The handle of a worker."""
        sql = "SELECT handle FROM workers WHERE worker_id = ?"
        return str(self.rows(sql, worker_id)[0]["handle"])

    def rows(self, sql: str, *values: str) -> list[sqlite3.Row]:
        """The marketplace's own rows."""
        with closing(sqlite3.connect(self.folder / "market.db")) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql, values).fetchall()

    def titles(self, handle: str) -> set[str]:
        """The titles of HITs that a worker may accept."""
        with closing(Worker(self.endpoint, handle=handle).http) as client:
            groups = client.get("/worker/hits").json()["hit_groups"]
        return {group["title"] for group in groups if group["may_accept"]}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_url: str) -> Iterator[Scene]:
    """A marketplace without campaigns."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LAB")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    start = SystemClock().now() - timedelta(hours=2)
    with serve(Marketplace(tmp_path / "market.db", rehearsal=True, seed=1, start=start)) as running:
        yield Scene(tmp_path, running.endpoint_url, store_url)


def test_good_work_earns_it_and_later_bad_work_loses_it(scene: Scene) -> None:
    """Two campaigns add evidence, each worker reads why, and a third asks for it."""
    first = scene.write("first")
    scene.work(first, ("ann", "good"), ("bob", "shout"))
    assert scene.holders() == {"ann"}
    [earned] = scene.messages("ann")
    assert earned == (
        "You have earned the qualification “good at captions”: of your latest 5 items "
        "of the kind “captions”, 5 agreed with what was accepted (100%), and 90% "
        "were needed."
    )
    assert scene.messages("bob") == []
    with closing(Worker(scene.endpoint, handle="ann").http) as client:
        assert "good at captions" in client.get("/worker/qualifications").text
    third = scene.write("third", '\n[requirements]\nearned = ["good at captions"]\n', CAMPAIGN)
    with scene.opened(third) as run:
        run_pass(run)
    assert "third" in scene.titles("ann")
    assert "third" not in scene.titles("bob")
    second = scene.write("second")
    scene.work(second, ("ann", "shout"), ("bob", "shout"))
    assert scene.holders() == set()
    assert "third" not in scene.titles("ann")
    [_, lost] = scene.messages("ann")
    assert lost == (
        "You have lost the qualification “good at captions”: of your latest 5 items of "
        "the kind “captions”, 0 agreed with what was accepted (0%), and at least 80% "
        "are needed to keep it."
    )


def test_it_can_be_lost_after_the_marketplace_has_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evidence and the grants are the account's, at whatever address it is served."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LAB")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    start = SystemClock().now() - timedelta(hours=2)
    market = Marketplace(tmp_path / "market.db", rehearsal=True, seed=1, start=start)
    with serve(replace(market, port=free_port())) as running:
        before = Scene(tmp_path, running.endpoint_url, "")
        first, second = before.write("first"), before.write("second")
        before.work(first, ("ann", "good"), ("bob", "shout"))
        assert before.holders() == {"ann"}
    with serve(replace(market, port=free_port())) as running:
        after = Scene(tmp_path, running.endpoint_url, "")
        rebind(load_campaign(first), after.endpoint)
        after.work(second, ("ann", "shout"), ("bob", "shout"))
        assert after.holders() == set()
        [_, lost] = after.messages("ann")
        assert "have lost" in lost


def test_a_pass_without_news_makes_no_call(scene: Scene) -> None:
    """Neither for what was granted nor for who has earned nothing."""
    first = scene.write("first")
    scene.work(first, ("ann", "good"), ("bob", "shout"))
    with scene.opened(first) as run:
        calls: list[str] = []
        run.platform._client.meta.events.register(
            "before-send.mturk", lambda event_name, **_: calls.append(event_name)
        )
        assert earn(run) == 0
        assert not calls


def test_it_lapses_and_can_be_earned_again(scene: Scene) -> None:
    """After 180 days without an item of the kind."""
    first = scene.write("first")
    scene.work(first, ("ann", "good"), ("bob", "shout"))
    with scene.opened(first) as run:
        later = replace(run, clock=FixedClock(run.clock.now() + timedelta(days=179)))
        assert earn(later) == 0
        later = replace(run, clock=FixedClock(run.clock.now() + timedelta(days=181)))
        assert earn(later) == 1
        assert scene.holders() == set()
        assert "has lapsed" in scene.messages("ann")[-1]
        assert earn(later) == 0


def test_the_file_says_when_it_is_earned_lost_and_forgotten(scene: Scene) -> None:
    """Four of five items are 80 %: enough for one qualification, not for the other.

    A campaign that leaves out the good workers is for all others.
    """
    first, second = (
        scene.write(name, text=TEXT.replace(EARNED, TWO_RULES)) for name in ("first", "second")
    )
    scene.work(first, ("ann", "good"), ("bob", "half"))
    very_good = "very good at captions"
    assert (scene.holders(), scene.holders(very_good)) == ({"ann", "bob"}, {"ann"})
    assert {path.name for path in scene.folder.glob("e*.db")} == {"elsewhere.db"}
    novices = scene.write(
        "novices", '\n[requirements]\nnot_earned = ["good at captions"]\n', CAMPAIGN
    )
    with scene.opened(novices) as run:
        run_pass(run)
    assert "novices" in scene.titles("cat")
    assert not {"novices"} & (scene.titles("ann") | scene.titles("bob"))
    scene.work(second, ("ann", "half"), ("cat", "shout"))
    assert (scene.holders(), scene.holders(very_good)) == ({"ann", "bob"}, set())
    with scene.opened(second) as run:
        for days, changes in ((29, 0), (31, 2)):
            moment = run.clock.now() + timedelta(days=days)
            assert earn(replace(run, clock=FixedClock(moment))) == changes
    assert scene.holders() == set()


def test_a_type_that_was_deleted_holds_no_campaign_up(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """Its changes stay open; the answers are paid, and what is lacking is posted."""
    path = scene.write("birds")
    with scene.opened(path) as run:
        assert isinstance(run.platform, MTurk)
        for rule in run.campaign.earned:
            type_id = requirements.earned_type(run, rule.name)
            run.platform._client.delete_qualification_type(QualificationTypeId=type_id)
    scene.work(path, ("ann", "good"), ("bob", "good"))
    assert "deleted an earned qualification" in caplog.text
    assert scene.titles("eve") == {"birds"}


def test_two_files_must_state_the_same_rule(scene: Scene) -> None:
    """Otherwise one pass would take back what another grants."""
    first = scene.write("first")
    with scene.opened(first) as run:
        earn(run)
    other = scene.write("other", text=TEXT.replace("captioner.toml", "six.toml"))
    with (
        scene.opened(other) as run,
        pytest.raises(StoreError, match=r"the campaign first.* states .*over = 5"),
    ):
        earn(run)


@pytest.mark.parametrize("store_url", KINDS, indirect=True)
def test_two_passes_at_once_grant_it_once(scene: Scene) -> None:
    """The records' lock lets the second pass see what the first did."""
    paths = [scene.write(name) for name in ("at-once-1", "at-once-2")]
    for path in paths:
        whole = path.read_text()
        path.write_text(whole.replace(EARNED, ""))
        own(path)
        scene.work(path, ("ann", "good"), ("bob", "shout"))
        path.write_text(whole)
        own(path)
    begun, calls = threading.Barrier(2, timeout=20), list[str]()
    with ExitStack() as stack:
        runs = [stack.enter_context(scene.opened(path)) for path in paths]

        def ask(run: CampaignRun) -> None:
            run.platform._client.meta.events.register(
                "before-send.mturk", lambda event_name, **_: calls.append(event_name)
            )
            begun.wait()
            earn(run)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(ask, runs))
    made = Counter(name.rsplit(".", 1)[-1] for name in calls)
    assert made["AssociateQualificationWithWorker"] == made["NotifyWorkers"] == 1
    assert scene.holders() == {"ann"}


def test_an_undone_decision_is_no_evidence(scene: Scene) -> None:
    """Until it is made again."""
    first = scene.write("first")
    scene.work(first, ("ann", "good"), ("bob", "shout"))
    with scene.opened(first) as run:
        [rule] = run.campaign.earned
        with run.store.db.atomic():
            run.store.db.execute(
                "DELETE FROM decisions WHERE decision_id = (SELECT min(decision_id) "
                "FROM decisions WHERE subject_kind = 'answer')"
            )
        with records_of(run, rule) as records:
            before = sum(map(len, records.outcomes("captions").values()))
        earn(run)
        with records_of(run, rule) as records:
            after = sum(map(len, records.outcomes("captions").values()))
    assert (before, after) == (10, 9)


@pytest.mark.parametrize("store_url", KINDS, indirect=True)
def test_both_campaigns_add_evidence(scene: Scene) -> None:
    """Ten items are needed, and each campaign has five."""
    text = TEXT.replace("captioner.toml", "ten.toml")
    first, second = (scene.write(name, text=text) for name in ("both-1", "both-2"))
    scene.work(first, ("ann", "good"), ("bob", "shout"))
    assert scene.holders() == set()
    scene.work(second, ("ann", "good"), ("bob", "shout"))
    assert scene.holders() == {"ann"}
    with scene.opened(second) as run:
        [rule] = run.campaign.earned
        with records_of(run, rule) as records:
            [change] = records.changes(rule.name)
            campaigns = {
                outcome.campaign for outcome in records.outcomes("captions")[change.worker_id]
            }
    assert (change.share.items, change.share.agreed) == (10, 10)
    assert len(campaigns) == 2
