"""What decisions do in money and work, as sentences, before they are made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.text import plural
from piecework.domain.verdicts import Decision
from piecework.results.answers_shown import Work
from piecework.store import assignments, campaign_facts, hits, item_totals

_TURNED_AWAY = ("exclude", "block")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequences:
    """The results of some decisions, as things stand.

    Attributes:
        paid: assignments to pay.
        paid_cents: their price, with fees.
        unpaid: assignments not to pay.
        unpaid_cents: their rewards, which the workers lose.
        kept: answers that count.
        dropped: answers that do not count.
        asked_again: answers that are then missing and asked for again.
        turned_away: workers who are offered no later HIT.
        blocked: those of them whom the platform blocks.
        staying: workers who stay.
    """

    paid: int = 0
    paid_cents: int = 0
    unpaid: int = 0
    unpaid_cents: int = 0
    kept: int = 0
    dropped: int = 0
    asked_again: int = 0
    turned_away: int = 0
    blocked: int = 0
    staying: int = 0

    def sentences(self, opened: OpenedCampaign) -> list[str]:
        """Return the results as sentences, money first."""
        shown = opened.campaign.rewards.shown
        workers, staying = (plural(number, "worker") for number in (self.turned_away, self.staying))
        if opened.endpoint.startswith("http"):
            money = [
                (self.unpaid, f"{shown(self.unpaid_cents)} not paid."),
                (self.paid, f"{shown(self.paid_cents)} paid, fees included."),
            ]
        else:
            money = [(self.paid + self.unpaid, "piecework pays nothing here.")]
        aside = "" if self.unpaid else ", and paid unless rejected"
        away, stays = "offered no later HIT of this campaign", "offered HITs as before"
        if opened.is_imported:
            aside, away, stays = ("", "recorded as excluded; the worker is not told", "kept")
        counted_sentences = (
            *money,
            (self.kept, f"{plural(self.kept, 'answer')} kept."),
            (self.dropped, f"{plural(self.dropped, 'answer')} set aside{aside}."),
            (self.asked_again, f"{plural(self.asked_again, 'answer')} asked for again."),
            (self.turned_away, f"{workers} {away}."),
            (self.staying, f"{staying} {stays}."),
            (self.blocked, "The block counts against the worker's account."),
        )
        return [words for number, words in counted_sentences if number] or ["Nothing changes."]


def consequences(opened: OpenedCampaign, work: Work, made: Sequence[Decision]) -> Consequences:
    """Return the results of decisions, including those that follow from them."""
    paid, paid_cents, unpaid, unpaid_cents = 0, 0, 0, 0
    whole = [decision for decision in made if decision.subject_kind == "assignment"]
    ids = [AssignmentId(decision.subject_id) for decision in whole]
    prices = hits.prices_of(opened.store, ids)
    for assignment_id, decision in zip(ids, whole, strict=True):
        reward_cents, fee_cents = prices[assignment_id]
        if decision.verdict == "approve":
            paid, paid_cents = paid + 1, paid_cents + reward_cents + fee_cents
        else:
            unpaid, unpaid_cents = unpaid + 1, unpaid_cents + reward_cents
    dropped = [decision.subject_id for decision in made if decision.verdict == "drop"]
    return Consequences(
        paid=paid,
        paid_cents=paid_cents,
        unpaid=unpaid,
        unpaid_cents=unpaid_cents,
        kept=sum(
            decision.verdict == "keep" and decision.subject_kind == "answer" for decision in made
        ),
        dropped=len(dropped),
        asked_again=_asked_again(opened, work, dropped),
        turned_away=sum(decision.verdict in _TURNED_AWAY for decision in made),
        blocked=sum(decision.verdict == "block" for decision in made),
        staying=sum(
            decision.verdict == "keep" and decision.subject_kind == "worker" for decision in made
        ),
    )


def _asked_again(opened: OpenedCampaign, work: Work, dropped: Iterable[str]) -> int:
    """Return how many answers are missing if these are dropped and the rest is kept."""
    by_item: dict[str, set[str]] = {}
    for answer_id in dropped:
        for number in work.rows("answer", answer_id):
            by_item.setdefault(work.item_id(number), set()).add(answer_id)
    least, more = (
        opened.campaign.posting.assignments,
        item_totals.wanted(opened.store, opened.campaign.posting),
    )
    lacking = 0
    rows_of = {item_id: work.rows_of_item(item_id) for item_id in by_item}
    ids = [work.answer_id(number) for rows in rows_of.values() for number in rows]
    out = set(assignments.with_verdict(opened.store, ids, "drop"))
    may_be = _batches_to_post(opened) if by_item else frozenset()
    for item_id, answer_ids in by_item.items():
        rows = rows_of[item_id]
        if work.batch(rows[0]) not in may_be:
            continue
        left, wanted = set(), more.get(ItemId(item_id), least)
        for number in rows:
            answer_id = work.answer_id(number)
            if answer_id not in out and answer_id not in answer_ids:
                left.add(work.worker_id(number))
            if len(left) == wanted:
                break
        lacking += min(len(answer_ids), wanted - len(left))
    return lacking


def _batches_to_post(opened: OpenedCampaign) -> frozenset[int]:
    """Return the batches for which missing answers may be asked for again."""
    if (
        not opened.endpoint.startswith("http")
        or campaign_facts.stopped_at(opened.store) is not None
    ):
        return frozenset()
    most = opened.campaign.posting.rounds + campaign_facts.count_undone_stops(opened.store)
    return frozenset(
        counts.batch for counts in hits.count_by_batch(opened.store) if counts.last_round < most
    )
