"""Let every heuristic look at the answers, and keep what it found with its evidence."""

import pandas as pd

from domain.verdicts import SubjectKind
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from qc.answers_table import of_answers
from qc.ratings import with_ratings
from qc.registry import assess as run_heuristics
from store import judgements


def assess(place: Workplace) -> int:
    """Judge what came of the batch at work; how many findings flag something.

    Heuristics see the whole campaign so far (a sentence pasted in two batches is one
    story); what they said about answers that are decided stays as it was decided on.
    """
    state = read_state(place)
    if not state.has_undecided():
        return 0
    frame = answer_frame(place, state)
    task, items = place.campaign.task, place.campaign.items
    findings = run_heuristics(
        with_ratings(frame, task, items),
        place.campaign.heuristics,
        seed=place.campaign.rehearsal.seed,
    )
    subjects = _subjects(state, frame[frame["batch"] == state.batch])
    mine = [one for one in findings if one.subject_id in subjects[one.subject_kind]]
    judgements.replace_findings(place.store, mine, subjects=subjects)
    return sum(finding.flag for finding in mine)


def answer_frame(place: Workplace, state: State) -> pd.DataFrame:
    """All answers so far, one row each (see `domain.tables`)."""
    return of_answers(
        state.answers.values(),
        state.assignments,
        batches={hit_id: hit.batch for hit_id, hit in state.posted.items()},
        task=place.campaign.task,
    )


def _subjects(state: State, batch: pd.DataFrame) -> dict[SubjectKind, set[str]]:
    subjects: dict[SubjectKind, set[str]] = {
        "answer": set(batch.index),
        "assignment": set(batch["assignment_id"]),
    }
    open_: dict[SubjectKind, set[str]] = {
        kind: {one for one in many if (kind, one) not in state.decisions}
        for kind, many in subjects.items()
    }
    return {**open_, "worker": set(batch["worker_id"])}
