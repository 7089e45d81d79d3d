"""Draft a study: its length, reward, time, filters, groups and codes."""

import html
import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from piecework.foundation.client.errors import ApiError, NoAccess, Refused, Unusable
from piecework.marketplace.state import worker_limits
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.markets.bridging.places import longest_visit, visits_possible
from piecework.markets.bridging.studies import StudyName, measured_seconds
from piecework.markets.prolific.bridge import recruiting, requirements
from piecework.markets.prolific.bridge.bridge import FEW_ELIGIBLE, LOG, NAME, Bridge
from piecework.markets.prolific.bridge.reading import look
from piecework.markets.prolific.bridge.recruiting import ALLOWED, BLOCKED, with_recruiting
from piecework.markets.prolific.resources.recruiting import Choice, Filter
from piecework.markets.prolific.resources.studies import CodeAction, CompletionCode, NewStudy

_HOUR = 3600
LONGEST_MINUTES = 24 * 60 - 1
"""The longest time a visit may take: Prolific requires less than 24 hours."""

_LONGEST_ESTIMATE_MINUTES = 692
"""The longest estimate for a visit: Prolific requires allowing more than twice that."""

_LINK = (
    "/visit/arrive?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
    "&SESSION_ID={{%SESSION_ID%}}"
)
_PLACES_A_SCREEN_OUT = 10
"""One screen-out is allowed, and held funds for, per this many places."""
_MANUAL = (CodeAction(action="MANUALLY_REVIEW"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The size of a study.

    Attributes:
        hits: HITs in a visit; 0 in a screening.
        reward_cents: the reward of a visit.
        seconds: how long a visit takes.
        allowed_seconds: how long it may take.
        places: the number of visits.
    """

    hits: int
    reward_cents: int
    seconds: float
    allowed_seconds: float
    places: int


def want(
    bridge: Bridge, hit_type: sqlite3.Row, slots: dict[int, int], *, most: int | None = None
) -> int | None:
    """Record that a study is wanted if there is work for it; return its row id.

    Args:
        bridge: the bridge.
        hit_type: the HIT type with the open HITs.
        slots: the number of HITs by number of free slots.
        most: the most HITs in a visit; None uses the terms.
    """
    with bridge.backend.transaction() as transaction:
        seconds = _seconds_of_hit(bridge, transaction, hit_type)
        usual = bridge.terms.hits_per_visit or math.ceil(bridge.terms.visit_seconds / seconds)
        fit = max(1, math.floor(_LONGEST_ESTIMATE_MINUTES * 60 / seconds))
        # A participant may not do more HITs of a kind than their requester allows.
        limit = worker_limits.limit_of_newcomers(transaction, hit_type["id"])
        usual = min(usual, fit, limit or usual)
        hits = longest_visit(slots, usual if most is None else min(usual, most))
        possible = visits_possible(slots, hits) if hits else 0
        if not possible or not hit_type["reward_cents"]:
            return None
        shape = Shape(
            hits=hits,
            reward_cents=hits * hit_type["reward_cents"],
            seconds=hits * seconds,
            allowed_seconds=hits * hit_type["duration_seconds"],
            places=possible,
        )
        return write(bridge, transaction, hit_type, shape)


def write(
    bridge: Bridge,
    transaction: Transaction,
    hit_type: sqlite3.Row,
    shape: Shape,
    *,
    qualification_type: int | None = None,
) -> int:
    """Record that a study is wanted, or a screening for a test; return its row id."""
    number = next_number(transaction.conn, "studies")
    minutes = max(1, round(shape.seconds / 60))
    wanted = max(_least_allowed(minutes), math.ceil(shape.allowed_seconds / 60))
    allowed = max(minutes, min(wanted, LONGEST_MINUTES))
    if allowed < wanted:
        LOG.warning(
            "a visit for %s may take %d minutes at Prolific, not %d: Prolific "
            "requires less than 24 hours",
            hit_type["hit_type_id"],
            allowed,
            wanted,
        )
    code = transaction.id_generator.entity("code", number)
    test = transaction.first_row(
        "SELECT qualification_type_id FROM qualification_types WHERE id = ?", qualification_type
    )
    name = StudyName.new(
        transaction, hit_type["hit_type_id"], number, test["qualification_type_id"] if test else ""
    )
    pays_screen_outs = 0 < bridge.terms.screen_out_cents < shape.reward_cents
    return transaction.execute(
        "INSERT INTO studies (hit_type, qualification_type, market, internal_name, "
        "status, stage, hits_per_visit, currency, reward_cents, minutes, most_minutes, "
        "places, code, own_code, made_ms, screen_out_code, screen_out_cents, "
        "screen_out_slots) "
        "VALUES (?, ?, ?, ?, '', 'Wanted', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        hit_type["id"],
        qualification_type,
        NAME,
        str(name),
        shape.hits,
        bridge.terms.currency,
        shape.reward_cents,
        minutes,
        allowed,
        shape.places,
        "C" + code[1:8],
        "R" + code[8:15],
        transaction.now_ms,
        "S" + code[15:22] if pays_screen_outs else None,
        bridge.terms.screen_out_cents if pays_screen_outs else 0,
        # One extra, never used: Prolific pauses a study after its last slot.
        1 + math.ceil(shape.places / _PLACES_A_SCREEN_OUT) if pays_screen_outs else 0,
    )


def _least_allowed(minutes: int) -> int:
    """Return the shortest time limit Prolific allows for an estimate."""
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def _seconds_of_hit(bridge: Bridge, transaction: Transaction, hit_type: sqlite3.Row) -> float:
    """Return how long a HIT takes: as measured, as configured, or from its reward."""
    measured = measured_seconds(transaction, hit_type["id"])
    if measured is not None:
        return measured
    if bridge.terms.hit_seconds:
        return float(bridge.terms.hit_seconds)
    if not bridge.terms.recommended_per_hour_cents:
        return float(bridge.terms.visit_seconds)
    guess = seconds_for(bridge, hit_type["reward_cents"])
    return float(min(guess, hit_type["duration_seconds"]))


def seconds_for(bridge: Bridge, reward_cents: int) -> float:
    """Return how long work takes if its reward is the pay Prolific recommends."""
    hourly = bridge.terms.recommended_per_hour_cents
    return max(1.0, reward_cents * _HOUR / hourly) if hourly else 60.0


def draft(bridge: Bridge, study: sqlite3.Row, hit_type: sqlite3.Row) -> None:
    """Create the draft of a wanted study, with its groups and its price.

    Raises:
        Refused: Prolific does not accept it; the message says why.
        Lost: it may have been created; its name finds it again.
    """
    if _least_allowed(study["minutes"]) > study["most_minutes"]:
        raise Unusable(
            f"a visit takes {study['minutes']} minutes, and Prolific allows no more "
            f"than {_LONGEST_ESTIMATE_MINUTES}",
            next_step="post HITs that take less time, or set how long one takes (--hit-seconds)",
        )
    requirements.offer(bridge)  # if that failed at the beginning of the step
    wanted = json.loads(hit_type["requirements"])
    is_screening = study["qualification_type"] is not None
    filters = with_recruiting(
        requirements.filters_of(wanted, bridge.filter_kinds),
        hit_type["recruiting"],
        divides=not is_screening,
    )
    study = recruiting.ensure(bridge, study, () if is_screening else wanted)
    name, description = _words(bridge, study, hit_type)
    kept_out = Choice(filter_id=requirements.KEPT_OUT, values=(study["keep_out_group"],))
    filters.append(kept_out)
    if study["let_in_group"]:
        let_in = Choice(filter_id=requirements.LET_IN, values=(study["let_in_group"],))
        filters.append(let_in)
    cost, screen_out_cost = (
        bridge.prolific.studies.calculated_cost_minor(reward_minor=each, places=1) if each else 0
        for each in (study["reward_cents"], study["screen_out_cents"])
    )
    eligible = _eligible(bridge, filters)
    made = _find_draft(bridge, study) or _create(
        bridge,
        study,
        NewStudy(
            name=name,
            internal_name=study["internal_name"],
            description=html.escape(description),
            url=bridge.terms.site_url + _LINK,
            project=bridge.terms.project_id,
            places=study["places"],
            reward_minor=study["reward_cents"],
            minutes=study["minutes"],
            most_minutes=study["most_minutes"],
            codes=_codes(study),
            filters=filters,
            devices=bridge.terms.devices,
            visits_per_participant=1 if is_screening else bridge.terms.visits_per_participant,
            metadata=study["internal_name"],
        ),
    )
    bridge.changes += 1
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET study_id = ?, stage = 'Draft', cost_cents = ?, "
            "screen_out_cost_cents = ?, eligible = ?, status = 'UNPUBLISHED', "
            "trouble = '' WHERE id = ?",
            made,
            cost,
            screen_out_cost,
            eligible,
            study["id"],
        )
    if eligible == 0:
        LOG.warning("%s: %s", study["internal_name"], FEW_ELIGIBLE)


def _eligible(bridge: Bridge, filters: Sequence[Filter]) -> int | None:
    """Return how many participants meet a study's filters; small numbers count as 0.

    `None` if Prolific was not asked: chosen people may be few, and without any filter
    everyone may come. Not every account may ask.
    """
    names = set(requirements.names_of(filters)) - {requirements.KEPT_OUT, BLOCKED}
    if not names or names & {requirements.LET_IN, ALLOWED}:
        return None
    with suppress(ApiError):
        return bridge.prolific.recruiting.eligible_count(bridge.terms.workspace_id, filters)
    return None


def _create(bridge: Bridge, study: sqlite3.Row, wanted: NewStudy) -> str:
    """Create a draft, without codes that this workspace may not use; return its id.

    Prolific restricts codes that pay for screen-outs, and perhaps those that only a
    researcher enters. The row has the codes of a draft before that draft is created,
    so that they agree even if the reply is lost.

    Raises:
        Refused: the codes are not the reason; this is Prolific's first refusal.
    """
    refusals: list[Refused] = []
    for codes in (None, *_fewer_codes(study)):
        if codes is not None:
            _set_codes(bridge, study, codes)
            wanted = replace(wanted, codes=_codes({**dict(study), **codes}))
        try:
            made = bridge.prolific.studies.create(wanted)
        except Refused as refusal:
            if isinstance(refusal, NoAccess) or refusal.may_pass:
                raise  # It says nothing about the codes.
            refusals.append(refusal)
            continue
        if refusals:
            LOG.warning(
                "the study %s was created without restricted completion codes: %s",
                study["internal_name"],
                refusals[0],
            )
        return made.id
    _set_codes(bridge, study, dict(study))
    raise refusals[0]


def _fewer_codes(study: sqlite3.Row) -> list[dict[str, object]]:
    """Return columns with fewer restricted codes each time."""
    unpaid = {"screen_out_code": None, "screen_out_cents": 0, "screen_out_slots": 0}
    kept = {**unpaid, "has_own_code": study["has_own_code"]}
    fewer = [kept] if study["screen_out_code"] else []
    return [*fewer, {**unpaid, "has_own_code": 0}] if study["has_own_code"] else fewer


def _set_codes(bridge: Bridge, study: sqlite3.Row, columns: Mapping[str, object]) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET screen_out_code = ?, screen_out_cents = ?, "
            "screen_out_slots = ?, has_own_code = ? WHERE id = ?",
            columns["screen_out_code"],
            columns["screen_out_cents"],
            columns["screen_out_slots"],
            columns["has_own_code"],
            study["id"],
        )


def _codes(study: sqlite3.Row | dict[str, Any]) -> tuple[CompletionCode, ...]:
    """Return the codes that participants enter and those that the bridge uses.

    A code that pays automatically is never shown to participants, who could share it.
    """
    codes: tuple[CompletionCode, ...] = (
        CompletionCode(code=study["code"], code_type="COMPLETED", actions=_MANUAL),
    )
    if study["has_own_code"]:
        own = CompletionCode(
            code=study["own_code"], code_type="OTHER", actions=_MANUAL, actor="researcher"
        )
        codes = (*codes, own)
    if study["screen_out_code"] is None:
        return codes
    paid = CodeAction(
        action="FIXED_SCREEN_OUT_PAYMENT",
        fixed_screen_out_reward=study["screen_out_cents"],
        slots=study["screen_out_slots"],
    )
    screen_out = CompletionCode(
        code=study["screen_out_code"],
        code_type="FIXED_SCREENOUT",
        actions=(paid,),
        actor="researcher",
    )
    return (*codes, screen_out)


def _words(bridge: Bridge, study: sqlite3.Row, hit_type: sqlite3.Row) -> tuple[str, str]:
    """Return the name and description of a study, as participants read them."""
    if study["qualification_type"] is None:
        return hit_type["title"], hit_type["description"]
    with bridge.backend.reading() as transaction:
        kind = transaction.first_row(
            "SELECT name, description FROM qualification_types WHERE id = ?",
            study["qualification_type"],
        )
    return (kind["name"], kind["description"]) if kind else ("", "")


def _find_draft(bridge: Bridge, study: sqlite3.Row) -> str | None:
    """Return the study with this name, created by an earlier call with a lost reply."""
    look(bridge)
    return (bridge.listed or {}).get(study["internal_name"])
