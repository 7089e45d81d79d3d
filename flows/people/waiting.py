"""What waits for reviewers, worst first.

Answers that nothing flags (of an assignment in which something is flagged, or drawn by
chance) stand among the others at places drawn by the campaign's seed. So a reviewer
cannot tell from the place that nothing speaks against one.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from domain.verdicts import Decision
from flows.campaign_run import CampaignStore
from flows.people.deciding import Subject, waiting_for_people
from flows.people.reviewing import View
from flows.people.work import Work
from qc.heuristics.random_sample import NAME as SAMPLE
from store import findings, reviews

_DRAWS = 2**48


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """All that waits, by what a reviewer may look at.

    Attributes:
        proposals: by kind and id of their subject.
        keys: of the groups of each view, worst first; a worker's is the pseudonym.
        suspicions: by view and key.
    """

    proposals: Mapping[Subject, Decision]
    keys: Mapping[View, tuple[str, ...]]
    suspicions: Mapping[tuple[View, str], float]

    def count(self, kind: str) -> int:
        """How many subjects of a kind wait."""
        return sum(of == kind for of, _ in self.proposals)


def waiting_now(run: CampaignStore, work: Work) -> Waiting:
    """What waits, from the store as it is."""
    proposals = {
        (one.subject_kind, one.subject_id): one for one in waiting_for_people(run)
    }
    strongest = findings.strongest(run.store, but=SAMPLE)
    own: dict[int, float] = {}
    only: dict[View, dict[str, float]] = {
        "answer": {}, "assignment": {}, "worker": {}, "item": {}
    }  # fmt: skip
    for kind, subject_id in proposals:
        rows = work.rows(kind, subject_id)
        for number in rows if kind == "answer" else ():
            own[number] = max(
                strongest.get(("answer", str(work.answer_id(number))), 0.0),
                strongest.get(("assignment", str(work.assignment_id(number))), 0.0),
                strongest.get(("worker", str(work.worker_id(number))), 0.0),
            )
        if rows and kind != "answer":
            key = work.pseudonym(subject_id) if kind == "worker" else subject_id
            only[kind][key] = max(
                strongest.get((kind, subject_id), 0.0),
                *(strongest.get(("answer", str(work.answer_id(n))), 0.0) for n in rows),
            )
    for number, suspicion in own.items():
        keys: dict[View, str] = {
            "answer": str(work.answer_id(number)),
            "assignment": str(work.assignment_id(number)),
            "worker": work.pseudonym_of(number),
            "item": work.item_id(number),
        }
        for view, key in keys.items():
            known = only[view]
            known[key] = max(known.get(key, 0.0), suspicion)
    seed = run.campaign.rehearsal.seed
    return Waiting(
        proposals=proposals,
        keys={view: worst_first(known, seed=seed) for view, known in only.items()},
        suspicions={
            (view, key): suspicion
            for view, known in only.items()
            for key, suspicion in known.items()
        },
    )


def worst_first(suspicions: Mapping[str, float], *, seed: int) -> tuple[str, ...]:
    """Keys by suspicion; those without any at places drawn by the seed and the key.

    >>> worst_first({"a": 0.5, "b": 0.9}, seed=1)
    ('b', 'a')
    """
    some = sorted((one for one in suspicions.values() if one > 0), reverse=True)

    def behind(key: str) -> tuple[float, float]:
        drawn, suspicion = draw(seed, key), suspicions[key]
        if not suspicion and some:
            suspicion = some[int(drawn * len(some))]
        return -suspicion, drawn

    return tuple(sorted(suspicions, key=behind))


def second_opinions(run: CampaignStore, *, share: float, by: str) -> tuple[str, ...]:
    """Answers that others have reviewed once and this reviewer is to review, too.

    Args:
        run: the campaign.
        share: of all reviewed answers, drawn by the seed and their ids.
        by: the reviewer, who has said nothing of them.
    """
    if not share:
        return ()
    said: dict[str, set[str]] = {}
    for review in reviews.in_force(run.store):
        if review.subject_kind == "answer" and not review.is_along:
            said.setdefault(review.subject_id, set()).add(review.reviewer)
    seed = run.campaign.rehearsal.seed
    return tuple(
        answer_id
        for answer_id, reviewers in said.items()
        if len(reviewers) == 1 and by not in reviewers
        and draw(seed, f"twice:{answer_id}") < share
    )  # fmt: skip


def draw(seed: int, key: str) -> float:
    """A number in [0, 1) that depends on the seed and the key alone."""
    digest = hashlib.sha256(f"review:{seed}:{key}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / _DRAWS


def first_of(keys: Iterable[str], *, after: str, taken: Iterable[str]) -> str | None:
    """The key to look at next: behind one that was skipped, else from the front.

    Args:
        keys: in their order.
        after: the one that was skipped; "" for none.
        taken: those that others look at just now; they come last.
    """
    listed = list(keys)
    if after in listed:
        number = listed.index(after)
        listed = [*listed[number + 1 :], *listed[:number]]
    others = set(taken)
    return next((key for key in listed if key not in others), next(iter(listed), None))
