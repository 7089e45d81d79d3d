"""What a person of a panel is offered, and where they go when they stop."""

import hashlib
import hmac
import json
import math
import sqlite3
from dataclasses import dataclass, field
from typing import Literal

from piecework.marketplace.state import visits, worker_limits
from piecework.marketplace.state.outside_crowd import WayBack
from piecework.marketplace.state.outside_market import MARKET_OF_HIT_TYPE
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.marketplace.workers import eligibility
from piecework.markets.panel.arrivals import Ids
from piecework.markets.panel.panel_file import NAME, Panel, filled, filled_address
from piecework.markets.panel.secrets import Secrets

Ending = Literal["complete", "screened_out", "quota_full", "refused"]

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The exits of one panel.

    Args:
        panel: the panel file.
        secrets: its secrets.
        key: the marketplace's own key, from which {code} is made.
    """

    panel: Panel
    secrets: Secrets = field(repr=False)
    key: bytes = field(repr=False)

    def way_out(self, ids: Ids, ending: Ending) -> WayBack:
        """Return the exit of a participation that ended like this."""
        address = getattr(self.panel.exits, ending)
        code = self.panel.exits.code if ending == "complete" else ""
        values = self.values(ids)
        return WayBack(
            url=filled_address(address, values) if address else "", code=filled(code, values)
        )

    def values(self, ids: Ids) -> dict[str, str]:
        """Return what placeholders stand for: ids, {code} and {sha256}.

        {code} cannot be guessed from ids, and is the same each time.
        """
        text = "\n".join([self.panel.name, *ids.values().values()])
        digest = hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest()
        hashed = ""
        if self.panel.exits.sha256_of:
            whole = filled(
                self.panel.exits.sha256_of, {**ids.values(), "secret": self.secrets.code}
            )
            hashed = hashlib.sha256(whole.encode()).hexdigest()
        return {**ids.values(), "code": digest[:_DIGITS].upper(), "sha256": hashed}


_WITH_WORK = (
    "SELECT hit_types.*, EXISTS (SELECT 1 FROM blocks "
    "WHERE blocks.requester = hit_types.requester AND blocks.worker = ?1) "
    "AS is_blocked FROM hit_types WHERE assignable_hits > 0 AND deleted_ms IS NULL "
    f"AND (?2 = '' OR title = ?2) AND {MARKET_OF_HIT_TYPE} = '{NAME}' ORDER BY id"
)
_FULL = "Other people have taken all tasks, or you have done all that are left."


@dataclass(frozen=True, slots=True, kw_only=True)
class NoWork:
    """Why there is nothing for a person.

    Attributes:
        ending: how the panel calls it.
        sentence: the reason, for the person.
    """

    ending: Ending
    sentence: str


def offer(
    transaction: Transaction, panel: Panel, worker: sqlite3.Row | None, *, title: str
) -> str | NoWork:
    """Return the id of a study with work for a person, or why the person gets no work.

    Args:
        transaction: the open one.
        panel: the panel file.
        worker: the person's worker; None on their first arrival.
        title: the title of HITs of the project; "" for any.
    """
    held = (
        eligibility.vouched_for(transaction, NAME)
        if worker is None
        else eligibility.holdings(transaction, worker)
    )
    reasons: list[NoWork] = []
    number = 0 if worker is None else worker["id"]
    for hit_type in transaction.all(_WITH_WORK, number, title):
        hits = visits.most_hits(transaction, hit_type["id"], worker, most=panel.visits.hits)
        if not hits:
            continue
        reason = _exclusion(hit_type, held)
        if reason is not None:
            reasons.append(reason)
            continue
        limit = (
            None if worker is None else worker_limits.limit_of_worker(transaction, worker, hit_type)
        )
        most = (
            worker_limits.limit_of_newcomers(transaction, hit_type["id"]) or hits
            if limit is None
            else limit.left
        )
        if limit is not None and not most:
            sentence = eligibility.word_reached_limit(limit)
            reasons.append(NoWork(ending="quota_full", sentence=sentence))
            continue
        return _study(transaction, panel, hit_type, min(hits, most))
    by_ending = {reason.ending: reason for reason in reversed(reasons)}
    for ending in ("refused", "screened_out", "quota_full"):
        if ending in by_ending:
            return by_ending[ending]
    return NoWork(ending="quota_full", sentence=_FULL)


def _exclusion(hit_type: sqlite3.Row, held: eligibility.Holdings) -> NoWork | None:
    """Return why a person may not work on a HIT type, if they may not."""
    wanted = json.loads(hit_type["requirements"])
    lacked = eligibility.unmet(wanted, held, action="accept")
    is_excluded = any(each["Comparator"] == "DoesNotExist" for each in lacked)
    if hit_type["is_blocked"] or is_excluded:
        return NoWork(ending="refused", sentence="The researchers have no more tasks for you.")
    if lacked:
        return NoWork(
            ending="screened_out",
            sentence="These tasks are for people with a qualification that you do not have.",
        )
    return None


def _study(transaction: Transaction, panel: Panel, hit_type: sqlite3.Row, hits: int) -> str:
    """Return the id of the study with this type and length; add it if it is new."""
    study_id = f"{panel.name}/{hit_type['hit_type_id']}/{hits}"
    known = transaction.first_row("SELECT 1 FROM studies WHERE study_id = ?", study_id)
    if known is not None:
        return study_id
    seconds = hit_type["expected_seconds"] or min(
        panel.visits.hit_seconds, hit_type["duration_seconds"]
    )
    allowed = math.ceil(hits * hit_type["duration_seconds"] / 60) + 1
    minutes = max(1, round(hits * seconds / 60)) if seconds else allowed
    code = transaction.id_generator.entity("code", next_number(transaction.conn, "studies"))
    transaction.execute(
        "INSERT INTO studies (hit_type, market, internal_name, study_id, status, "
        "stage, hits_per_visit, currency, reward_cents, minutes, most_minutes, "
        "places, code, own_code, has_own_code, made_ms) "
        f"VALUES (?1, '{NAME}', ?2, ?2, 'OPEN', 'Published', ?3, ?4, ?5, ?6, ?7, 1, "
        "?8, ?9, 0, ?10)",
        hit_type["id"],
        study_id,
        hits,
        transaction.prices.currency,
        hits * hit_type["reward_cents"],
        minutes,
        max(minutes, allowed),
        "C" + code[1:11],
        "R" + code[11:21],
        transaction.now_ms,
    )
    return study_id
