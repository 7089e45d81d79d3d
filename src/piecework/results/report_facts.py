"""The input of the report: frames made from the store, with worker ids hashed."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from piecework.analyses.condition_scores import compared
from piecework.analyses.paired_comparisons import comparisons
from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.provenance import code_version
from piecework.campaign.warnings import own_seconds
from piecework.domain.experiment import Arm
from piecework.domain.ids import WorkerId
from piecework.domain.imported import UNNAMED
from piecework.domain.tables import give_back
from piecework.domain.verdicts import PAID_BEFORE, REJECTED_WITH
from piecework.engine.earn import records_of
from piecework.engine.progress import read_progress
from piecework.postprocess.apply import RULES
from piecework.postprocess.hidden_ids import held_columns, hide_in_items, hide_in_task
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.qc.heuristics import not_typed
from piecework.qc.plain_text import word_counts
from piecework.qc.ratings import with_ratings
from piecework.qc.silence import silences
from piecework.report.books import Books
from piecework.report.facts import AsNeeded, ImportedFacts, Money, ReportFacts, SourceFile
from piecework.report.formatting import moment
from piecework.report.item_sample import ShownItem, choose_items
from piecework.report.sections.condition_texts import corrections
from piecework.report.sections.experiment import PageExperiment
from piecework.report.sections.timeline import Growth
from piecework.report.sections.workers import BeforeWork, Earned, EarnedQualifications
from piecework.results.facts_by_source import read_gold, read_machine, read_markets
from piecework.results.pictures import small_pictures
from piecework.results.review_quality import review_quality
from piecework.results.table import answers_table, hidden_ids, moments, worked_seconds
from piecework.store import (
    dealt_items,
    findings,
    hits,
    imports,
    item_totals,
    ledger,
    reviews,
    source,
    tables,
    workers,
)
from piecework.store.forgetting import forgotten
from piecework.store.intents import compensation_reasons
from piecework.store.settlements import PAID_ALREADY

_MOST_FAULTS = 20
"""Rows that cannot be used and are named; the others are counted."""


def report_facts(opened: OpenedCampaign) -> ReportFacts:
    """Gather everything that the report shows from the store."""
    campaign = opened.campaign
    table, ids = answers_table(opened), hidden_ids(opened)
    task = hide_in_task(campaign.task, held_columns(opened.answers()), ids)
    own_items = campaign.own_items
    # Most campaigns have all decided and nothing mixed in, and a copy doubles the memory.
    is_mixed_in = table["item_id"].isin({str(item.item_id) for item in campaign.mixed_in_items})
    own = table[~is_mixed_in] if is_mixed_in.any() else table
    is_open = own["is_provisional"]
    answers = own[~is_open] if is_open.any() else own
    decided = table[~table["is_provisional"]] if is_mixed_in.any() else answers
    rounds = pd.DataFrame(tables.read_rounds(opened.store))
    decisions = pd.DataFrame(tables.read_decisions(opened.store))
    give_back()  # what made the tables
    started, finished = _span(opened, rounds, decisions)
    progress = read_progress(opened)
    return ReportFacts(
        campaign=campaign.name,
        purpose=ids.everywhere(campaign.description),
        task=task,
        sources=_sources(opened),
        changed=tuple(map(ids.everywhere, opened.changed_inputs)),
        code_commit=code_version(),
        seed=campaign.rehearsal.seed,
        is_rehearsal=opened.is_rehearsal,
        is_drawn=opened.is_rehearsal and campaign.has_drawn_truth,
        started_at=started,
        finished_at=finished,
        wanted_per_item=campaign.posting.assignments,
        items=len(own_items),
        # Between two batches, a campaign that grows lacks nothing.
        is_finished=progress.waiting_for in {"nobody", "new rows"},
        beyond_cap=progress.beyond_cap,
        answers=answers,
        waiting=own[is_open],
        mixed_in=table[is_mixed_in],
        batches=_batches(answers, rounds, decisions),
        findings=_findings(opened),
        decisions=_decisions(opened, decisions),
        workers=_workers(opened, decided, decisions),
        money=None if opened.is_imported else _money(opened),
        rules={rule.NAME: rule.VERSION for rule in RULES},
        corrections=corrections(answers, own_items, task),
        comparisons=comparisons(answers, own_items, task.item_fields, task.arrangements),
        compared=compared(answers, own_items, task.fields, task.conditions),
        shown_items=_shown_items(opened, answers),
        imported=_imported(opened),
        reviews=review_quality(opened),
        policy=campaign.policy,
        as_needed=_as_needed(opened),
        silent=silences(
            with_ratings(opened.answers(), campaign.task, campaign.items), campaign.heuristics
        ),
        of_sections=tuple(
            facts
            for facts in (
                _before_work(opened),
                _earned(opened),
                _experiment(opened),
                read_gold(opened),
                _growth(opened),
                read_machine(opened, answers),
                read_markets(opened, answers),
            )
            if facts is not None
        ),
    )


def _sources(opened: OpenedCampaign) -> tuple[SourceFile, ...]:
    """Return the campaign files that decided the answers, each once, in order."""
    since = {used.inputs.source_hash: moment(used.since) for used in reversed(opened.used_inputs)}
    return tuple(SourceFile(sha256=sha, since=since[sha]) for sha in reversed(since))


def _as_needed(opened: OpenedCampaign) -> AsNeeded | None:
    posting, store = opened.campaign.posting, opened.store
    if posting.as_needed is None:
        return None
    mixed_in = {item.item_id for item in opened.campaign.mixed_in_items}
    return AsNeeded(
        most=posting.most,
        until=posting.as_needed.until,
        wanted={
            str(item_id): n
            for item_id, n in item_totals.wanted(store, posting).items()
            if item_id not in mixed_in
        },
        sureness=item_totals.sureness(store),
    )


def _growth(opened: OpenedCampaign) -> Growth | None:
    if opened.campaign.growth is None:
        return None
    beginning = datetime(1, 1, 1, tzinfo=UTC)
    rewards = pd.DataFrame(tables.read_rewards(opened.store))
    seconds = worked_seconds(rewards)
    paid = ledger.paid_cents(opened.store, "rewards", "bonuses")
    pay = rewards["assignment_id"].map(paid) * 3600 / seconds
    wages = pay[seconds > 0].dropna().groupby(rewards["batch"]).median()
    unusable, faults = source.quarantined(opened.store, most=_MOST_FAULTS)
    folder = f"{opened.campaign.path.parent}/"
    return Growth(
        days=pd.DataFrame(
            dealt_items.days(opened.store, since=beginning), columns=["day", "arrived", "dealt"]
        ),
        cents=ledger.taken_by_batch(opened.store),
        wages_cents_per_hour=dict(zip(wages.index.tolist(), wages.tolist(), strict=True)),
        unusable=unusable,
        faults=tuple(fault.replace(folder, "") for fault in faults),
    )


def _imported(opened: OpenedCampaign) -> ImportedFacts | None:
    if not opened.is_imported:
        return None
    store = opened.store
    outcomes = imports.outcomes(store)
    rewards = pd.DataFrame(tables.read_rewards(store))
    is_unnamed = rewards["worker_id"].str.startswith(UNNAMED)
    by_worker = (
        rewards.assign(seconds=worked_seconds(rewards))
        .loc[lambda row: ~is_unnamed & (row["seconds"] > 0) & (row["reward_cents"] > 0)]
        .groupby("worker_id")[["reward_cents", "seconds"]]
        .sum()
    )
    return ImportedFacts(
        files=tuple(imports.files(store)),
        outcomes=pd.Series(outcomes["outcome"], index=outcomes["answer_id"], dtype="str"),
        feedback=_without_ids(
            opened,
            pd.DataFrame({"subject_kind": "answer", "subject_id": outcomes["answer_id"]}),
            outcomes["feedback"],
        ).set_axis(outcomes["answer_id"]),
        has_times=bool(rewards[["accepted_at", "submitted_at"]].any(axis=None)),
        unnamed_workers=int(is_unnamed.sum()),
        wages_cents_per_hour=by_worker["reward_cents"] * 3600 / by_worker["seconds"],
    )


def _shown_items(opened: OpenedCampaign, answers: pd.DataFrame) -> tuple[ShownItem, ...]:
    campaign = opened.campaign
    kinds = choose_items(answers, campaign.task)
    hidden = hide_in_items(campaign.items, opened.answers(), hidden_ids(opened))
    items = {
        str(item.item_id): private for item, private in zip(campaign.items, hidden, strict=True)
    }
    pictures = small_pictures(campaign, kinds)
    return tuple(
        ShownItem(
            item_id=item_id,
            kind=kind,
            columns=items[item_id].columns,
            picture=pictures.get(item_id, ""),
        )
        for item_id, kind in kinds.items()
    )


def _money(opened: OpenedCampaign) -> Money:
    rewards = opened.campaign.rewards
    balances = ledger.balances(opened.store)
    return Money(
        ledger={
            "budget": rewards.budget_cents,
            "held": balances["held"],
            "paid_rewards": balances["rewards"],
            "paid_bonuses": balances["bonuses"],
            "paid_compensations": balances["compensations"],
            "fees": balances["fees"],
            "released": ledger.released_cents(opened.store),
        },
        wage_floor_cents_per_hour=rewards.wage_floor_cents_per_hour,
        currency=rewards.currency,
        planned_wage_cents_per_hour=rewards.reward_cents * 3600 / own_seconds(opened.campaign)
        if opened.is_rehearsal
        else None,
        others=Books.read(opened.campaign.out),
        compensation_reasons=tuple(
            map(hidden_ids(opened).everywhere, compensation_reasons(opened.store))
        ),
    )


def _before_work(opened: OpenedCampaign) -> BeforeWork | None:
    if opened.campaign.qualification is None:
        return None
    traits = workers.load_traits(opened.store)
    newest = workers.load_scores(opened.store)
    return BeforeWork(
        test=opened.campaign.qualification,
        scores=tuple(
            (score, traits.get(worker_id, ("", False))[0]) for worker_id, score in newest.items()
        ),
    )


def _earned(opened: OpenedCampaign) -> EarnedQualifications | None:
    """The qualifications that the campaign states, with all their changes."""
    rules = []
    for rule in opened.campaign.earned:
        with records_of(opened, rule) as records:
            changes = tuple(
                replace(change, worker_id=WorkerId(opened.pseudonym(change.worker_id)))
                for change in records.changes(rule.name)
            )
            holders = len(records.holdings(rule.name))
        rules.append(Earned(rule=rule, holders=holders, changes=changes))
    return EarnedQualifications(tuple(rules)) if rules else None


def _experiment(opened: OpenedCampaign) -> PageExperiment | None:
    """The texts by arm; `None` if no HIT has an arm.

    The arms are those that HITs were posted with, even if the campaign file states
    others by now.
    """
    arms = {str(hit): Arm.from_text(arm) for hit, arm in hits.arms(opened.store).items()}
    if not arms:
        return None
    table = opened.answers()
    own = table[table["hit_id"].isin(list(arms))]
    own = own[(own["text"].str.strip() != "") & ~own["is_canned"]]
    flagged = findings.flagged_by(opened.store, not_typed.NAME)
    of_text = [arms[hit] for hit in own["hit_id"].tolist()]
    seconds = own["shown_seconds"].to_numpy()
    texts = pd.DataFrame(
        {
            "hit": own["hit_id"].to_numpy(),
            "worker": own["worker_id"].map(opened.pseudonym).to_numpy(),
            "wording": [arm.wording for arm in of_text],
            "paste": [arm.paste for arm in of_text],
            "is_flagged": own.index.isin(list(flagged)),
            "words": word_counts(own["text"]),
            "seconds": np.where(seconds > 0, seconds, np.nan),
        }
    )
    stated = opened.campaign.experiment
    arms_there = sorted(set(arms.values()), key=Arm.as_text)
    wordings = [*(stated.wordings if stated else ()), *(a.wording for a in arms_there)]
    pastes = [*(stated.pastes if stated else ()), *(a.paste for a in arms_there)]
    return PageExperiment(
        wordings=tuple(dict.fromkeys(wordings)),
        pastes=tuple(dict.fromkeys(pastes)),
        texts=texts,
        records_typing=opened.campaign.posting.records_typing,
    )


def _span(
    opened: OpenedCampaign, rounds: pd.DataFrame, decisions: pd.DataFrame
) -> tuple[datetime, datetime]:
    """The time from the first posting to the last event.

    For imported answers, the time from the first start to the last submission:
    decisions made here years later are not part of their collection.
    """
    columns = [rounds["posted_at"], rounds["last_submitted_at"], decisions["decided_at"]]
    if opened.is_imported:
        rewards = pd.DataFrame(tables.read_rewards(opened.store))
        columns = [rewards["accepted_at"].dropna(), rewards["submitted_at"].dropna()]
    times = [
        datetime.fromisoformat(text)
        for cells in columns
        for text in (cells.min(), cells.max())
        if isinstance(text, str) and text
    ]
    if not times:
        return opened.clock.now(), opened.clock.now()
    return min(times), max(times)


def _batches(answers: pd.DataFrame, rounds: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    if rounds.empty:
        return pd.DataFrame()
    key = ["batch", "round"]
    kept = ~answers["is_rejected"] & ~answers["is_surplus"]
    by_round = answers.assign(is_kept=kept).groupby(key)[["is_kept", "is_rejected"]].sum()
    of_round = by_round.reindex(pd.MultiIndex.from_frame(rounds[key]), fill_value=0)
    made = rounds.assign(
        answers_kept=of_round["is_kept"].tolist(),
        answers_dropped=of_round["is_rejected"].tolist(),
        workers_excluded=_excluded_by_round(rounds, decisions),
    )
    # Missing times must still have the time dtype: one resolution for all columns.
    for name in ("posted_at", "last_submitted_at", "settled_at"):
        made[name] = moments(made[name])
    return made


def _excluded_by_round(rounds: pd.DataFrame, decisions: pd.DataFrame) -> list[int]:
    """By round, how many workers were excluded.

    An exclusion belongs to the first round that was settled at that time or later; if
    there is none, to the current round, which was planned last.
    """
    settled = rounds["settled_at"].dropna().sort_values(kind="stable")
    is_excluded = decisions["verdict"].isin(["exclude", "block"])
    excluded = [0] * len(rounds)
    for decided_at in decisions.loc[is_excluded, "decided_at"]:
        later = settled.index[settled >= decided_at]
        excluded[later[0] if len(later) else len(rounds) - 1] += 1
    return excluded


def _findings(opened: OpenedCampaign) -> pd.DataFrame:
    table = pd.DataFrame(tables.read_findings(opened.store))
    return table.assign(
        evidence=_without_ids(opened, table, table["evidence"]),
        subject_id=_shown_ids(opened, table),
    )


def _decisions(opened: OpenedCampaign, decisions: pd.DataFrame) -> pd.DataFrame:
    is_late = _was_paid_before(decisions)
    because = _without_ids(opened, decisions, decisions["because"])
    return decisions.assign(
        subject_id=_shown_ids(opened, decisions),
        verdict=decisions["verdict"].where(~is_late, "approve"),
        because=because.where(~is_late, PAID_BEFORE + because),
        decided_at=moments(decisions["decided_at"]),
        is_accepted=_are_accepted(opened, decisions),
    ).drop(columns="outcome")


def _are_accepted(opened: OpenedCampaign, decisions: pd.DataFrame) -> list[bool]:
    """Return whether each decision has the reason that a reviewer was proposed.

    With a rejection that a reviewer accepts, the assignment's answers are dropped.
    """
    made = reviews.reviews_in_force(opened.store)
    proposed = {(review.act, review.proposed_because) for review in made}
    accepted = {
        (*review.subject, review.because)
        for review in made
        if (review.act, review.because.removeprefix(REJECTED_WITH)) in proposed
    }
    subjects = decisions[["subject_kind", "subject_id", "because"]]
    return [subject in accepted for subject in subjects.itertuples(index=False, name=None)]


def _workers(
    opened: OpenedCampaign, answers: pd.DataFrame, decisions: pd.DataFrame
) -> pd.DataFrame:
    store = opened.store
    traits = workers.load_traits(store)
    made = pd.DataFrame(tables.read_assignments(store))
    paid = ledger.paid_cents(store, "rewards", "bonuses")
    cents = made["assignment_id"].map(paid).fillna(0).astype("int64")
    seconds = worked_seconds(made)
    by_worker = made.assign(
        seconds=seconds,
        seconds_paid=seconds.where(cents > 0, 0.0),
        paid=cents,
        is_rejected=(made["verdict"] == "reject") & ~_was_paid_before(made),
    ).groupby("worker_id")
    is_excluded = decisions["verdict"].isin(["exclude", "block"])
    excluded = set(decisions.loc[is_excluded, "subject_id"])
    answers_of = opened.answers().groupby("worker_id")
    of_worker, sent = answers_of.size(), answers_of["assignment_id"].nunique()
    dropped = answers.groupby("worker")["is_rejected"].sum()
    ids = [WorkerId(str(worker)) for worker in by_worker.groups]
    of_trait = [traits.get(worker, ("", False)) for worker in ids]
    names = [opened.pseudonym(worker) for worker in ids]
    gone = forgotten(store, ids)
    deleted = by_worker.size() - sent.reindex(ids, fill_value=0)
    return pd.DataFrame(
        {
            "assignments": by_worker.size().to_numpy(),
            "answers": of_worker.reindex(ids, fill_value=0).to_numpy(),
            "answers_dropped": dropped.reindex(names, fill_value=0).to_numpy(),
            "assignments_rejected": by_worker["is_rejected"].sum().to_numpy(),
            "paid_cents": by_worker["paid"].sum().to_numpy(),
            "seconds_worked": by_worker["seconds"].sum().to_numpy(),
            "seconds_paid": by_worker["seconds_paid"].sum().to_numpy(),
            "is_excluded": [worker in excluded for worker in ids],
            "assignments_deleted": deleted.where(np.isin(ids, [*gone]), 0).to_numpy(),
            "trait": [trait for trait, _ in of_trait],
            "is_planted_bad": [is_bad for _, is_bad in of_trait],
        },
        index=names,
    )


def _was_paid_before(table: pd.DataFrame) -> "pd.Series[bool]":
    """Whether a rejection came too late, because the platform had paid."""
    is_paid = table["outcome"] == PAID_ALREADY
    return ((table["verdict"] == "reject") & is_paid).astype("bool")


def _without_ids(
    opened: OpenedCampaign, subjects: pd.DataFrame, texts: Iterable[str | None]
) -> "pd.Series[str]":
    """Texts about subjects, with pseudonyms for ids; before anything cuts or escapes them.

    Args:
        opened: the campaign.
        subjects: `subject_kind` and `subject_id` of each text.
        texts: such as evidence, which may quote what the subject's worker wrote.
    """
    ids, answers = hidden_ids(opened), opened.answers()
    workers = answers["worker_id"].tolist()
    worker_of = {
        "answer": dict(zip(answers.index.tolist(), workers, strict=True)),
        "assignment": dict(zip(answers["assignment_id"].tolist(), workers, strict=True)),
    }
    hidden = [
        # Most answers have no feedback.
        ids.of_worker(text, worker_of[kind].get(name, "") if kind in worker_of else name)
        if text
        else ""
        for kind, name, text in zip(
            subjects["subject_kind"].tolist(), subjects["subject_id"].tolist(), texts, strict=True
        )
    ]
    return pd.Series(hidden, index=subjects.index, dtype="str")


def _shown_ids(opened: OpenedCampaign, table: pd.DataFrame) -> "pd.Series[str]":
    """The ids of subjects, with those of workers hashed."""
    ids = table["subject_id"]
    is_worker = table["subject_kind"] == "worker"
    hashed = pseudonyms(ids[is_worker], opened.pseudonym_key)
    return ids.where(~is_worker, hashed)
