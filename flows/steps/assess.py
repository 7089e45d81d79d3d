"""Let every heuristic look at the answers, and keep what it found with its evidence."""

import pandas as pd

from domain.judgement import SubjectKind
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from qc import frame as qc_frame
from qc.registry import assess as run_heuristics
from store import judgements


def assess(place: Workplace) -> int:
    """Judge the batch at work once all of it is here; how many findings flag something.

    Heuristics see the whole campaign so far (a sentence pasted in two batches is one
    story); what they say about earlier batches' answers stays as it was decided on.
    """
    state = read_state(place)
    if not _is_due(state):
        return 0
    frame = answer_frame(place, state)
    findings = run_heuristics(
        frame, place.campaign.heuristics, seed=place.campaign.rehearsal.seed
    )
    subjects = _subjects(frame[frame["batch"] == state.batch])
    mine = [one for one in findings if one.subject_id in subjects[one.subject_kind]]
    judgements.replace_findings(place.store, mine, subjects=subjects)
    return sum(finding.flag for finding in mine)


def answer_frame(place: Workplace, state: State) -> pd.DataFrame:
    """All answers so far, one row each (see `qc.frame`)."""
    return qc_frame.build(
        state.answers.values(),
        state.assignments,
        batches={hit_id: hit.batch for hit_id, hit in state.posted.items()},
        task=place.campaign.task,
        items=place.campaign.items,
    )


def _is_due(state: State) -> bool:
    return state.batch > 0 and state.is_collected(state.batch) and state.has_undecided()


def _subjects(batch: pd.DataFrame) -> dict[SubjectKind, set[str]]:
    return {
        "answer": set(batch.index),
        "assignment": set(batch["assignment_id"]),
        "worker": set(batch["worker_id"]),
    }
