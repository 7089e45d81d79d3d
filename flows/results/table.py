"""From the store to the dataset frame: one row an answer, workers as keyed hashes."""

from collections.abc import Collection

import pandas as pd

from analyses.fields import HIT_VALUE, ITEM_VALUE, ORDER, PLACE, PROBLEMS
from domain.assignment import Answer
from domain.edit import Edit
from domain.hit import Item, PlannedHit
from domain.tables import is_canned
from domain.task import Task
from domain.verdicts import SubjectKind
from flows.campaign_run import CampaignStore
from flows.results.old_state import State, counted
from hit_templates.answers import ordered_names
from postprocess.edits import replay
from postprocess.frame import dataset_frame
from postprocess.pseudonyms import pseudonym
from postprocess.splits import split_of
from store import edits

Subject = tuple[SubjectKind, str]
_NOT_YET = "not decided yet"


def answers_frame(
    run: CampaignStore, state: State, *, decided: Collection[Subject] | None = None
) -> pd.DataFrame:
    """Every answer that is decided, kept or not (see `postprocess.frame`).

    `assignment_id` is added for the report; no dataset file shows it.

    Args:
        place: the campaign.
        state: with its decisions, proposed ones too if they are to be shown.
        decided: subjects whose decision is final; all, if not given.
    """
    _, surplus = counted(state, run.campaign.posting.assignments)
    proposed = edits.load(run.store)
    hits, items = _by_id(run, state)
    rows = []
    for answer in state.answers.values():
        decision = state.decisions.get(("answer", answer.answer_id))
        if decision is None:
            continue
        is_rejected = decision.verdict == "drop"
        is_final = decided is None or ("answer", str(answer.answer_id)) in decided
        because = decision.because if is_final else f"{_NOT_YET}: {decision.because}"
        rows.append(
            {
                **_facts(run, state, answer, hits, items),
                **_text(run, answer, proposed.get(answer.answer_id, ())),
                **_values(run.campaign.task, answer),
                "is_rejected": is_rejected,
                "is_provisional": not is_final,
                "rejected_because": because if is_rejected else "",
                "is_surplus": answer.answer_id in surplus,
            }
        )
    return dataset_frame(rows)


def _by_id(
    run: CampaignStore, state: State
) -> tuple[dict[str, PlannedHit], dict[str, Item]]:
    hits = {str(hit_id): hit for hit_id, hit in state.posted.items()}
    items = {str(item.item_id): item for item in run.campaign.items}
    return hits, items


def _facts(
    run: CampaignStore,
    state: State,
    answer: Answer,
    hits: dict[str, PlannedHit],
    items: dict[str, Item],
) -> dict[str, object]:
    assignment = state.assignments[answer.assignment_id]
    hit = hits[assignment.hit_id]
    shown = answer.shown_ms
    text_field = run.campaign.task.text_present_field
    is_captions = run.campaign.task.dataset == "captions"
    return {
        "answer_id": answer.answer_id,
        "assignment_id": answer.assignment_id,
        "item_id": answer.item_id,
        "url": items[answer.item_id].columns.get("url", ""),
        "split": split_of(answer.item_id),
        "batch": hit.batch,
        "round": hit.round,
        "position": answer.position,
        "text_detected": answer.values.get(text_field, ""),
        "flaws": answer.values.get("flaws", ()) if is_captions else (),
        "flaw_other": answer.values.get("flaw_other", "") if is_captions else "",
        "worker": pseudonym(assignment.worker_id, run.pseudonym_key),
        "shown_seconds": float("nan") if shown is None else shown / 1000,
        "submitted_at": assignment.submitted_at,
    }


def _values(task: Task, answer: Answer) -> dict[str, object]:
    """What a dataset of answers has in columns of its own (`analyses.fields`)."""
    if task.dataset == "captions":
        return {}
    return {
        PLACE: answer.place or answer.position,
        **{
            ITEM_VALUE + field.name: answer.values.get(field.name)
            for field in task.item_fields
        },
        **{
            HIT_VALUE + field.name: answer.hit_values.get(field.name)
            for field in task.hit_fields
        },
        **{ORDER + name: answer.orders.get(name, ()) for name in ordered_names(task)},
        PROBLEMS: answer.problems,
    }


def _text(
    run: CampaignStore, answer: Answer, proposed: tuple[Edit, ...]
) -> dict[str, object]:
    task = run.campaign.task
    original = str(answer.values.get(task.main_text, ""))
    return {
        "caption_original": original,
        "caption": replay(original, proposed),
        "edits": proposed,
        "is_precanned": is_canned(original, task.canned_text),
    }
