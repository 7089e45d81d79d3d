"""The evidence against a subject as text: its own findings, and those of its parts.

It does not reveal that an answer is in the random sample, so that a reviewer looks at
it as at any other; a sample that is known to be one is judged more kindly.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.ids import AnswerId, AssignmentId, WorkerId
from piecework.domain.verdicts import JOINED, RANDOM_SAMPLE, Finding, Subject
from piecework.qc.registry import TITLES
from piecework.store import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The subjects that one subject consists of and belongs to.

    Attributes:
        answers: the answer itself, or all answers of an assignment or a worker.
        positions: the name of each answer among them, by its id.
    """

    answers: tuple[AnswerId, ...]
    assignments: tuple[AssignmentId, ...]
    worker: WorkerId
    positions: Mapping[str, str]


def flags_of(opened: OpenedCampaign, subjects: Iterable[Subject]) -> list[Finding]:
    """Findings that flag any of these subjects, the most suspicious first."""
    flagged = [
        finding
        for finding in findings.about(opened.store, subjects)
        if finding.flag and finding.heuristic != RANDOM_SAMPLE
    ]
    return sorted(
        flagged, key=lambda finding: (-finding.suspicion, finding.heuristic, finding.subject_id)
    )


def flags_around(opened: OpenedCampaign, parts: Parts) -> list[Finding]:
    """Findings that flag an answer, the assignment or the worker of these parts."""
    return flags_of(
        opened,
        [
            *(("answer", answer_id) for answer_id in parts.answers),
            *(("assignment", assignment_id) for assignment_id in parts.assignments),
            ("worker", parts.worker),
        ],
    )


def sentence(finding: Finding, positions: Mapping[str, str]) -> str:
    """Format a finding as text, with its subject if that is not clear.

    Args:
        finding: the finding.
        positions: names of answers by id; empty if the subject is one answer.
    """
    of = {
        "answer": positions.get(finding.subject_id, ""),
        "assignment": "its assignment" if not positions else "",
        "worker": "its worker",
    }[finding.subject_kind]
    begin = f"{of}: " if of else ""
    title = TITLES.get(finding.heuristic, finding.heuristic)
    return f"{begin}{title}: {finding.evidence}"


def joined_suspicion(flags: Iterable[Finding]) -> float:
    """The joined suspicion if it flags, else the strongest; 0 without flags."""
    all_flags = list(flags)
    joined = [flag.suspicion for flag in all_flags if flag.heuristic == JOINED]
    return max(joined or [flag.suspicion for flag in all_flags], default=0.0)
