"""A process that dies around any call of a campaign loses and doubles nothing.

For every outward call k of a whole small campaign (two batches with a dropped answer, a
rejection, two exclusions and replacements), the pass is killed by SIGKILL before k,
after k with its reply unread, and after the reply with nothing recorded. Then passes
are run until the campaign is finished, and the marketplace's own books are read.
"""

import sqlite3
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from marketplace.server import serve
from tests.crash.passing import Death, Moment, calls_made, run_pass
from tests.crash.people import People

CAMPAIGN = """
name = "crash"
description = "Small enough to be killed at every call."
task = "caption"
[items]
file = "items.csv"
[posting]
batches = 2
assignments = 2
items_per_hit = 2
[rewards]
reward_usd = "0.50"
budget_usd = "20.00"
wage_floor_usd_per_hour = "5.00"
[heuristics]
too_fast = false
random_sample = false
[heuristics.same_sentence]
least_images = 2
[decisions]
by = "policy"
[[decisions.rule]]
on = "assignment"
any_of = ["same_sentence"]
share = 1.0
then = "reject"
because = "The same sentence was sent under every picture."
[[decisions.rule]]
on = "answer"
any_of = ["capitals", "rule_violation"]
then = "drop"
because = "Not what the page asks for."
[[decisions.rule]]
on = "worker"
any_of = ["capitals", "same_sentence"]
then = "exclude"
because = "Not what the page asks for, again and again."
[output]
formats = ["csv"]
"""
# The calls of an undisturbed campaign: one pass to open it, then after each round of
# work one pass that collects, settles and posts. Counted by the first test below.
CALLS = 22
PUBLISHING = (3, 9, 13, 19)
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ending:
    """What is left when a campaign is finished."""

    books: dict[str, Any]
    calls: list[str]
    deaths: int
    store: Path


def campaign_to_its_end(
    folder: Path, death: Death | None, *, hours_dead: int = 0
) -> Ending:
    """Run passes and people until nobody is waited for.

    Args:
        folder: an empty one.
        death: when the first process dies.
        hours_dead: how long it takes until the next pass, in virtual time.
    """
    campaign = folder / "crash.toml"
    campaign.write_text(CAMPAIGN)
    rows = "".join(f"p{n},https://example.org/{n}.jpg\n" for n in range(1, 5))
    (folder / "items.csv").write_text("image_id,url\n" + rows)
    calls, deaths = folder / "calls", 0
    with serve(
        folder / "marketplace.db",
        rehearsal=True,
        seed=1,
        start=START,
    ) as running:
        people = People(running.endpoint_url)
        for _ in range(40):
            code, waiting_for = run_pass(campaign, running.endpoint_url, calls, death)
            if code == -9:
                deaths += 1
                death = None
                later = START + timedelta(hours=hours_dead)
                httpx.put(
                    f"{running.endpoint_url}/rehearsal/clock",
                    json={"now": later.isoformat()},
                ).raise_for_status()
                continue
            assert code == 0, f"the pass ended with {code}"
            if waiting_for == "nobody":
                break
            if waiting_for == "workers":
                assert people.work(), "nobody takes the HITs that are open"
        else:
            pytest.fail("forty passes were not enough")
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
    return Ending(books, calls_made(calls), deaths, folder / "out/crash/piecework.db")


def test_an_undisturbed_campaign_makes_the_calls_that_are_killed(
    tmp_path: Path,
) -> None:
    """The suite covers every call: its range is the campaign's own length."""
    ending = campaign_to_its_end(tmp_path, None)
    assert len(ending.calls) == CALLS, Counter(ending.calls)
    publishing = [
        number
        for number, operation in enumerate(ending.calls, start=1)
        if operation == "CreateHITWithHITType"
    ]
    assert tuple(publishing) == PUBLISHING
    check(ending)


@pytest.mark.parametrize("moment", get_args(Moment))
@pytest.mark.parametrize("call", range(1, CALLS + 1))
def test_a_death_around_any_call_loses_and_doubles_nothing(
    tmp_path: Path, call: int, moment: Moment
) -> None:
    """Each HIT exists once, each worker is paid once, the ledger equals the books."""
    ending = campaign_to_its_end(tmp_path, Death(call, moment))
    assert ending.deaths == 1
    check(ending)


@pytest.mark.parametrize("call", PUBLISHING)
def test_a_hit_whose_token_is_forgotten_is_found_and_not_posted_again(
    tmp_path: Path, call: int
) -> None:
    """After 25 hours MTurk would take the token for a new HIT; the pass looks first."""
    ending = campaign_to_its_end(tmp_path, Death(call, "reply lost"), hours_dead=25)
    assert ending.deaths == 1
    check(ending)


def check(ending: Ending) -> None:
    """The same end, whatever happened on the way."""
    books = ending.books
    store = sqlite3.connect(ending.store)
    hits = dict(store.execute("SELECT hit_key, hit_id FROM hits"))
    assert len(hits) == 4  # two batches, each posted once and replaced once
    annotations = Counter(hit["annotation"] for hit in books["hits"])
    assert {text.rpartition("/")[2] for text in annotations} == set(hits)
    assert set(annotations.values()) == {1}
    assert {hit["hit_id"] for hit in books["hits"]} == set(hits.values())

    statuses = Counter(one["status"] for one in books["assignments"])
    assert statuses == {"Approved": 5, "Rejected": 1}
    kept = store.execute("SELECT count(*) FROM assignments").fetchone()[0]
    assert kept == len(books["assignments"]) == 6
    assert store.execute("SELECT count(*) FROM answers").fetchone()[0] == 12

    # Five approved assignments of 50 cents, 10 cents fee each; nothing is held.
    paid = sum(one["paid_cents"] for one in books["assignments"])
    fees = sum(one["fee_cents"] for one in books["assignments"])
    assert (paid, fees, books["held_cents"]) == (250, 50, 0)
    assert books["balance_cents"] == 1_000_000 - 300
    ledger = _ledger(store)
    assert ledger == {"requester": -300, "held": 0, "rewards": 250, "fees": 50}

    excluded = [one for one in books["qualifications"] if one["status"] == "Granted"]
    assert len(excluded) == len({one["worker_id"] for one in excluded}) == 2
    assert books["blocks"] == []
    open_intents = store.execute(
        "SELECT count(*) FROM intents WHERE done_at IS NULL"
    ).fetchone()[0]
    assert open_intents == 0
    store.close()


def _ledger(store: sqlite3.Connection) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for credit, debit, cents in store.execute(
        "SELECT credit, debit, amount_cents FROM ledger"
    ):
        totals[credit] -= cents
        totals[debit] += cents
    return dict(totals)
