"""Judge answers: heuristics find, a policy or people decide, labels are weighed.

Three steps of a pass. `assess` runs every heuristic and keeps its findings with their
evidence. `decide` turns findings into decisions. Where people decide, the policy still
decides about assignments without any flag; for the rest it proposes a verdict, and the
rest waits. `weigh` is for campaigns that ask for as many answers as needed: it estimates
how sure labels or merged answers are, and wants one more answer for each unsure item. It runs
when a batch is decided, before more is posted, and stores at once what is wanted, so that a
pass that dies while it posts asks for the same.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace

from piecework.analyses.answers_needed import certainty_of_merged, weighed
from piecework.analyses.machine_labels import machine_table
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import Campaign
from piecework.domain.field import Field
from piecework.domain.ids import ItemId
from piecework.domain.late_modules import pd
from piecework.domain.tables import give_back, value_column
from piecework.domain.task import MIXED_IN
from piecework.domain.verdicts import Decision, Finding, SubjectKind
from piecework.engine.next_action import may_weigh
from piecework.engine.snapshot import Reader, Step, ToJudge, decidable, due_for_decision
from piecework.qc.joined import Judged
from piecework.qc.policy import decide as apply_policy
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import KnownScores
from piecework.qc.registry import assess as run_heuristics
from piecework.store import (
    archive,
    assignments,
    campaign_facts,
    decisions,
    findings,
    hits,
    item_totals,
)
from piecework.store.item_totals import Weighed
from piecework.store.tables import read_verdicts

_MANY = 20_000
"""Answers from which on a pass gives back the memory that judging took."""


def assignments_to_judge(reader: Reader) -> ToJudge:
    """Return the assignments to judge now; none if that cannot give new results.

    What waits for a person was judged already. It is judged again when more is due, or
    when the rules for judging in the campaign file have changed.
    """
    if reader.to_judge is None:
        reader.to_judge = _to_judge(reader.opened)
    return reader.to_judge


def _to_judge(opened: OpenedCampaign) -> ToJudge:
    due = assignments.undecided(opened.store)
    if not due:
        return ToJudge()
    at_work = next(batch for batch in hits.count_by_batch(opened.store) if batch.is_at_work)
    is_collected = at_work.is_collected
    if not is_collected:
        due = due_for_decision(opened, is_collected=False)
    if due and not decidable(opened, due):
        judged_by = campaign_facts.read_notes(opened.store).judging_digest
        if judged_by == judging_digest(opened.campaign):
            return ToJudge()
    return ToJudge(assignment_ids=due, batch=at_work.batch, is_collected=is_collected)


def keep_findings(opened: OpenedCampaign, due: ToJudge) -> int:
    """Judge what is due for a decision; return how many findings are flags.

    Heuristics see the whole campaign so far, so they can find a sentence that was
    pasted in two batches. Findings about decided answers stay as they were at the
    decision.
    """
    answers = opened.recent_answers()
    suspicions = suspicions_about(opened, answers, judged=judged_by_people(opened), batch=due.batch)
    batch = answers[answers["batch"] == due.batch]
    open_rows = batch[batch["assignment_id"].isin(due.assignment_ids)]
    subjects: dict[SubjectKind, set[str]] = {
        "answer": set(open_rows.index.tolist()),
        "assignment": set(open_rows["assignment_id"].tolist()),
        "worker": set(batch["worker_id"].tolist()),
    }
    mine = [
        finding for finding in suspicions if finding.subject_id in subjects[finding.subject_kind]
    ]
    findings.replace(opened.store, mine, subjects=subjects)
    if len(answers) >= _MANY:
        give_back()  # or each batch holds what judging the one before took
    return sum(finding.flag for finding in mine)


assess = Step("assess", assignments_to_judge, keep_findings)


def find_suspicions(opened: OpenedCampaign, batch: int | None = None) -> list[Finding]:
    """Return what all heuristics find so far, perhaps about a batch alone, without storing it.

    They do not see answers in the archive.
    """
    judged = judged_by_people(opened)
    return suspicions_about(opened, opened.recent_answers(), judged=judged, batch=batch)


def suspicions_about(
    opened: OpenedCampaign,
    answers: "pd.DataFrame",
    *,
    judged: Judged,
    batch: int | None,
    known: "KnownScores | None" = None,
    only: Collection[str] | None = None,
) -> list[Finding]:
    """Return what all heuristics find in these answers, if people judged so.

    Args:
        opened: the campaign, with its heuristics and the batches that it scored.
        answers: a row each (`piecework.domain.tables`).
        judged: what people decided by then.
        batch: find something about this batch alone; `None` for all.
        known: as for `piecework.qc.registry.assess`.
        only: as there.
    """
    if only is not None and not only:
        return []
    if known is not None and known.part is not None:
        table = known.part.table
    else:
        items = opened.items_by_id(map(ItemId, answers["item_id"].unique()))
        table = with_ratings(answers, opened.campaign.task, items.values())
    return run_heuristics(
        table,
        opened.campaign.heuristics,
        seed=opened.campaign.rehearsal.seed,
        judged=judged,
        batches=opened.batches,
        known=known,
        only=only,
        about=batch,
    )


def judged_by_people(opened: OpenedCampaign) -> Judged:
    """Return which answers and workers people judged bad or good in this campaign.

    The policy's own decisions are left out: they follow from the heuristics.
    """
    judged: dict[SubjectKind, dict[str, bool]] = {"answer": {}, "worker": {}}
    for (kind, name), verdict in decisions.by_people(opened.store, *judged).items():
        judged[kind][name] = verdict in {"drop", "exclude", "block"}
    return judged


def table_of_batch(opened: OpenedCampaign, batch: int) -> "pd.DataFrame":
    """Return the answers of the batch at work, a row each (`piecework.domain.tables`)."""
    table = opened.recent_answers()
    return table[table["batch"] == batch]


def judging_digest(campaign: Campaign) -> str:
    """Return a hash of everything in a campaign file that judging depends on."""
    task = campaign.task
    rules = [
        [task.name, task.version, task.own.digest if task.own else ""],
        campaign.heuristics,
        [asdict(rule) for rule in campaign.policy],
        campaign.decided_by,
        campaign.rehearsal.seed,
    ]
    text = json.dumps(rules, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def keep_decisions(opened: OpenedCampaign, due: ToJudge) -> int:
    """Decide what can be decided now; return how many decisions are new."""
    suspicions = findings.load_for_rules(opened.store)
    batch = table_of_batch(opened, due.batch)
    proposed = _about_due(batch, propose(opened, due, batch, suspicions), due)
    waiting: list[Decision] = []
    if opened.campaign.decided_by == "person":
        proposed, waiting = split_by_doubt(batch, proposed, suspicions)
    with opened.store.db.atomic():
        decisions.keep_proposals(opened.store, waiting)
        campaign_facts.keep_note(opened.store, "judging_digest", judging_digest(opened.campaign))
        return decisions.keep_decisions(opened.store, proposed)


decide = Step("decide", assignments_to_judge, keep_decisions)


def propose(
    opened: OpenedCampaign, due: ToJudge, batch: "pd.DataFrame", suspicions: Iterable[Finding]
) -> list[Decision]:
    """Return what the policy says about undecided subjects of a batch.

    Args:
        opened: the campaign.
        due: its undecided assignments.
        batch: its answers, a row each.
        suspicions: findings of heuristics, including those that rules look at.
    """
    undecided = due.assignment_ids
    decided_answers = set(assignments.decided_answers(opened.store, undecided) if undecided else ())
    workers = decisions.decided_workers(opened.store, due.batch)
    proposals = proposals_about(opened, batch, suspicions)
    assignment_of = batch["assignment_id"].to_dict()

    def is_open(decision: Decision) -> bool:
        if decision.subject_kind == "worker":
            return decision.subject_id not in workers
        if decision.subject_kind == "assignment":
            return decision.subject_id in undecided
        return (
            assignment_of[decision.subject_id] in undecided
            and decision.subject_id not in decided_answers
        )

    return [proposal for proposal in proposals if is_open(proposal)]


def proposals_about(
    opened: OpenedCampaign, batch: "pd.DataFrame", suspicions: Iterable[Finding]
) -> list[Decision]:
    """Return what the policy says about everything in a batch, decided or not."""
    return apply_policy(
        batch,
        suspicions,
        opened.campaign.policy,
        campaign=opened.campaign.name,
        at=opened.clock.now(),
        longest_reason=opened.capabilities.longest_reason,
    )


def _about_due(
    batch: "pd.DataFrame",
    proposed: Iterable[Decision],
    due: ToJudge,
) -> list[Decision]:
    """Return proposals about these assignments; about workers after a whole batch."""
    assignment_of = batch["assignment_id"].to_dict()

    def is_due(decision: Decision) -> bool:
        if decision.subject_kind == "worker":
            return due.is_collected
        if decision.subject_kind == "answer":
            return assignment_of[decision.subject_id] in due.assignment_ids
        return decision.subject_id in due.assignment_ids

    return [decision for decision in proposed if is_due(decision)]


def split_by_doubt(
    batch: "pd.DataFrame", proposed: Iterable[Decision], suspicions: Iterable[Finding]
) -> tuple[list[Decision], list[Decision]]:
    """Split proposals: those about assignments without any flag, and the others.

    Args:
        batch: the answers of the batch, a row each.
        proposed: what the policy says about them.
        suspicions: findings of heuristics; only flags count.
    """
    flagged = {(finding.subject_kind, finding.subject_id) for finding in suspicions if finding.flag}
    is_doubtful = pd.Series(
        [
            ("answer", answer_id) in flagged
            or ("assignment", assignment_id) in flagged
            or ("worker", worker_id) in flagged
            for answer_id, assignment_id, worker_id in zip(
                batch.index, batch["assignment_id"], batch["worker_id"], strict=True
            )
        ],
        index=batch.index,
        dtype="bool",
    )
    doubtful = set(batch.loc[is_doubtful, "assignment_id"])
    assignment_of = batch["assignment_id"].to_dict()
    clear: list[Decision] = []
    waiting: list[Decision] = []
    for decision in proposed:
        assignment_id = assignment_of.get(decision.subject_id, decision.subject_id)
        is_worker = decision.subject_kind == "worker"
        is_clear = not is_worker and assignment_id not in doubtful
        (clear if is_clear else waiting).append(decision)
    return clear, waiting


def proposed_verdicts(opened: OpenedCampaign) -> dict[str, Decision]:
    """Return a decision about each undecided answer, by its id, without storing it.

    Answers that a person would have to look at get the verdict "drop".
    """
    undecided = assignments.undecided(opened.store)
    if not undecided:
        return {}
    all_open = ToJudge(assignment_ids=undecided, batch=hits.batch_at_work(opened.store))
    batch = table_of_batch(opened, all_open.batch)
    suspicions = find_suspicions(opened, all_open.batch)
    proposals = propose(opened, all_open, batch, suspicions)
    if opened.campaign.decided_by == "person":
        clear, doubtful = split_by_doubt(batch, proposals, suspicions)
        because = "a person has to look at it"
        held = [replace(decision, verdict="drop", because=because) for decision in doubtful]
        proposals = [*clear, *held]
    return {
        decision.subject_id: decision for decision in proposals if decision.subject_kind == "answer"
    }


def items_to_weigh(reader: Reader) -> Mapping[ItemId, int]:
    """Return items that have all the answers they want, with the number of answers."""
    posting = reader.opened.campaign.posting
    if posting.as_needed is None or not may_weigh(reader.snapshot()):
        return {}
    return item_totals.to_weigh(reader.opened.store, posting)


def weigh_labels(opened: OpenedCampaign, due: Mapping[ItemId, int]) -> int:
    """Estimate how sure these items are; return how many need another answer."""
    rule = opened.campaign.posting.as_needed
    assert rule is not None  # noqa: S101 - without it, no item is unweighed
    table = _kept_answers(opened, due)
    votes = [
        (_votes(table, field), [option.value for option in field.options])
        for field in opened.campaign.task.label_fields
    ]
    answers = pd.Series(due, dtype="int64")
    about = table[table["item_id"].isin(list(due))]
    merged = [
        certainty_of_merged(_votes(about, field), field)
        for field in opened.campaign.task.merged_fields
    ]
    estimates = weighed(votes, answers, rule, _labels_of_models(opened), merged)
    # Mixed-in items have known labels, so they need no more answers.
    items = opened.items_by_id(due)
    mixed_in = [name for name in due if items[name].columns.get(MIXED_IN)]
    is_own = ~estimates.index.isin(mixed_in)
    estimates = estimates.assign(
        probability=estimates["probability"].where(is_own, 1.0),
        wanted=estimates["wanted"].where(is_own, answers),
    )
    item_totals.keep_weighed(
        opened.store,
        {
            ItemId(str(item_id)): Weighed(probability=probability, wanted=wanted)
            for item_id, probability, wanted in zip(
                estimates.index,
                estimates["probability"].tolist(),
                estimates["wanted"].tolist(),
                strict=True,
            )
        },
    )
    return int((estimates["wanted"] > answers).sum())


weigh = Step("weigh", items_to_weigh, weigh_labels)


def _kept_answers(opened: OpenedCampaign, item_ids: Collection[ItemId]) -> "pd.DataFrame":
    """Return kept answers; a worker's first answer to an item comes first.

    Answers in the archive are read only if one of these items has some.
    """
    table = opened.recent_answers()
    if archive.has_answers_to(opened.store, item_ids):
        table = opened.answers()
    verdicts = read_verdicts(opened.store).reindex(table.index)["verdict"]
    kept = table[verdicts.isin(["keep"])]
    return kept.sort_values(["submitted_at", "assignment_id", "position"])


def _labels_of_models(opened: OpenedCampaign) -> "list[pd.DataFrame | None]":
    """Return the labels of models by field; no table for a field without any."""
    votes = opened.campaign.machine
    return [machine_table(votes, field.name) for field in opened.campaign.task.label_fields]


def _votes(table: "pd.DataFrame", field: Field) -> "pd.DataFrame":
    """Return the input of `piecework.analyses.votes`; `worker` is the platform's id."""
    return pd.DataFrame(
        {
            "item_id": table["item_id"],
            "worker": table["worker_id"],
            "value": table[value_column(field)],
        }
    )
