"""Store and marketplace restored from copies, each at three ages, and both together.

A campaign on a live marketplace goes to its end, bonuses included. Then a copy of the
store, of the marketplace, or of both is put back. Nothing is posted or paid before
`reconcile` was told to compare; after it the campaign ends with books that agree, and
each worker was paid once by the marketplace that is there.
"""

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.crash.apart import apart
from tests.crash.disturbed import Ended, ended
from tests.crash.people import SCRIPT
from tests.live.marketplace import PEOPLE, InvitedPeople, LiveMarketplace, live_marketplace
from tests.live.test_live_campaigns import run_command_in
from tests.small_campaign import CAMPAIGN, write_campaign

Age = Literal["posted", "judged", "paid"]
AGES: tuple[Age, ...] = ("posted", "judged", "paid")
FILES = (("store",), ("marketplace",), ("store", "marketplace"))
MOST_PASSES = 40
_REFUSED = 3


@dataclass
class Restorable:
    """A campaign whose store and marketplace can be copied and put back."""

    folder: Path
    market: LiveMarketplace
    people: InvitedPeople

    @property
    def store(self) -> Path:
        """The campaign's memory."""
        return self.folder / "out/crash/piecework.db"

    def command(self, *words: str) -> Ended:
        """A command as the requester calls it."""
        process = apart().Process(
            target=run_command_in,
            args=(
                self.folder,
                {
                    # The server of processes has the environment of its own start.
                    **os.environ,
                    "AWS_ACCESS_KEY_ID": self.market.key.access_key,
                    "AWS_SECRET_ACCESS_KEY": self.market.key.secret,
                },
                words,
            ),
        )
        process.start()
        return ended(process, self.folder)

    def campaign_command(self, *words: str) -> Ended:
        """A command about the campaign."""
        return self.command(*words, str(self.folder / "crash.toml"))

    def advance(self) -> Ended:
        """One pass."""
        more = ("--endpoint", self.market.line.address, "--poll-open-hits")
        return self.campaign_command("run", "--once", "--json", *more)

    def work(self) -> int:
        """Let every person take HITs until no HIT is offered."""
        done = 0
        while any(self._take_one(name) for name in PEOPLE):
            done += 1
        return done

    def _take_one(self, name: str) -> bool:
        manner = dict(SCRIPT)[name]
        self.people.script, self.people.page = ((name, manner),), 0
        return bool(self.people.work(at_most=1))

    def until(self, waiting_for: str) -> None:
        """Passes and people in turn, until the campaign waits for this."""
        for _ in range(MOST_PASSES):
            made = self.advance()
            assert made.code == 0, made
            state = json.loads(made.output)["waiting_for"]
            if state == waiting_for:
                return
            if state == "workers":
                self.work()
        raise AssertionError(f"{MOST_PASSES} passes were not enough")

    def pay(self) -> None:
        """The wage floor's bonuses, and a thanks for the first approved work."""
        made = self.campaign_command("pay", "--yes", "--json")
        assert made.code == 0, made
        with closing(sqlite3.connect(self.store)) as store:
            (first,) = store.execute(
                "SELECT min(assignment_id) FROM assignments WHERE outcome = 'done' "
                "AND verdict = 'approve'"
            ).fetchone()
        thanks = self.folder / "thanks.csv"
        thanks.write_text(f"assignment_id,amount,reason\n{first},0.07,Well described.\n")
        words = ("--from", str(thanks), "--label", "thanks", "--yes", "--json")
        made = self.campaign_command("pay", *words)
        assert made.code == 0, made

    def copy(self, age: Age) -> None:
        """Copies of both files, as an operator makes them beside what runs."""
        for name, path in (("store", self.store), ("market", self.market.database)):
            with (
                closing(sqlite3.connect(path)) as from_,
                closing(sqlite3.connect(self.folder / f"{name}-{age}")) as to,
            ):
                from_.backup(to)

    def put_back(self, what: tuple[str, ...], age: Age) -> None:
        """Restore copies, with the marketplace down meanwhile."""
        self.market.kill()
        for kind in what:
            path, name = (
                (self.store, "store") if kind == "store" else (self.market.database, "market")
            )
            for log in ("-wal", "-shm"):
                path.with_name(path.name + log).unlink(missing_ok=True)
            shutil.copy(self.folder / f"{name}-{age}", path)
        self.market.start()

    def to_the_end_with_copies(self) -> None:
        """The whole campaign, with copies at three moments."""
        made = self.advance()
        assert made.code == 0, made
        self.copy("posted")
        assert self.work()
        made = self.advance()
        assert made.code == 0, made
        self.copy("judged")
        self.until("nobody")
        self.copy("paid")
        self.pay()

    def check(self) -> None:
        """The books of both sides agree to the cent, and each act was done once."""
        books = self.market.books()
        with closing(sqlite3.connect(self.store)) as store:
            left = "SELECT count(*) FROM intents WHERE done_at IS NULL"
            assert store.execute(left).fetchone() == (0,)
            assert _ledger(store) == _spent(books)
            lost = {
                hit_key
                for (hit_key,) in store.execute(
                    "SELECT subject_id FROM intents "
                    "WHERE operation = 'forget' AND subject_kind = 'hit'"
                )
            }
            posted = {
                hit_id
                for hit_key, hit_id in store.execute(
                    "SELECT hit_key, hit_id FROM hits WHERE hit_id IS NOT NULL"
                )
                if hit_key not in lost
            }
        assert {hit["hit_id"] for hit in books["hits"]} == posted
        named = Counter(hit["annotation"].split("/")[1] for hit in books["hits"])
        assert set(named.values()) <= {1}
        statuses = {each["status"] for each in books["assignments"]}
        assert statuses <= {"Approved", "Rejected"}
        paid = Counter((each["assignment_id"], each["reason"]) for each in books["bonuses"])
        assert set(paid.values()) <= {1}


def _ledger(store: sqlite3.Connection) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for credit, debit, cents in store.execute("SELECT credit, debit, amount_cents FROM ledger"):
        totals[credit] -= cents
        totals[debit] += cents
    return {name: cents for name, cents in totals.items() if cents}


def _spent(books: dict[str, Any]) -> dict[str, int]:
    rewards = sum(each["paid_cents"] for each in books["assignments"])
    bonuses = sum(each["cents"] for each in books["bonuses"])
    fees = sum(each["fee_cents"] for each in (*books["assignments"], *books["bonuses"]))
    assert books["held_cents"] == 0
    totals = {"rewards": rewards, "bonuses": bonuses, "fees": fees}
    totals["requester"] = -sum(totals.values())
    return {name: cents for name, cents in totals.items() if cents}


@pytest.fixture
def restorable(tmp_path: Path) -> Iterator[Restorable]:
    """The small campaign with a wage floor that asks for bonuses."""
    text = CAMPAIGN.replace("5.00", "2000000.00").replace("20.00", "9000.00")
    write_campaign(tmp_path, text)
    with live_marketplace(tmp_path) as market:
        people = InvitedPeople(market.line.address, codes=market.codes)
        yield Restorable(tmp_path, market, people)


COMBINATIONS = [
    pytest.param(what, age, id=f"{' and '.join(what)}, {age}") for what in FILES for age in AGES
]


@pytest.mark.full
@pytest.mark.parametrize(("what", "age"), COMBINATIONS)
def test_a_restored_copy_neither_posts_nor_pays_twice(
    restorable: Restorable, what: tuple[str, ...], age: Age
) -> None:
    """Refused until the two are compared; then the campaign goes on to its end."""
    restorable.to_the_end_with_copies()
    restorable.check()
    before = _spent(restorable.market.books())
    restorable.put_back(what, age)
    books = restorable.market.books()
    if len(what) == 1:
        commands = {
            # Without the flag a copy that knows that it is finished asks nothing.
            "run": (*("--once", "--endpoint", restorable.market.line.address), "--poll-open-hits"),
            "pay": ("--yes",),
        }
        for name, words in commands.items():
            refused = restorable.campaign_command(name, *words)
            assert refused.code == _REFUSED, refused
            assert "restored from an older copy" in refused.complained
            assert "piecework store reconcile" in refused.complained
        shown = restorable.campaign_command("store", "reconcile", "--dry-run")
        assert shown.code == 0, shown
        assert "nothing was changed" in shown.output
        assert restorable.market.books() == books
        done = restorable.campaign_command("store", "reconcile")
        assert done.code == 0, done
    restorable.until("nobody")
    restorable.pay()
    restorable.check()
    agreed = restorable.campaign_command("store", "reconcile")
    assert "store and marketplace agree" in agreed.output, agreed
    if what == ("store",):
        assert _spent(restorable.market.books()) == before


@pytest.mark.full
@pytest.mark.parametrize(
    ("what", "is_worked_on"),
    [
        pytest.param(("marketplace",), False, id="the marketplace"),
        pytest.param(("marketplace",), True, id="and worked on"),
        # Both post the second batch again, under the keys that it had before.
        pytest.param(("store", "marketplace"), True, id="both"),
    ],
)
def test_a_marketplace_that_is_put_back_to_a_newer_copy_has_its_work_again(
    restorable: Restorable, what: tuple[str, ...], *, is_worked_on: bool
) -> None:
    """What was given up as lost is waited for, judged and paid as all other work."""
    restorable.to_the_end_with_copies()
    restorable.put_back(what, "posted")
    if len(what) == 1:
        done = restorable.campaign_command("store", "reconcile", "--json")
        assert done.code == 0, done
        assert json.loads(done.output)["lost_assignments"]
    if is_worked_on:
        restorable.until("nobody")
    restorable.put_back(("marketplace",), "paid")
    done = restorable.campaign_command("store", "reconcile", "--json")
    assert done.code == 0, done
    restorable.until("nobody")
    restorable.pay()
    restorable.check()
    agreed = restorable.campaign_command("store", "reconcile")
    assert "store and marketplace agree" in agreed.output, agreed
