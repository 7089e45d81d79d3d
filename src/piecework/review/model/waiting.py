"""What waits for reviewers, worst first.

Randomly drawn answers, and a tenth of the other unflagged answers (from assignments in
which something is flagged), are mixed among the flagged ones, at places drawn by the
campaign's seed. The rest comes last. So a reviewer cannot tell from its place whether
an answer was drawn. In a blind review, the whole order is random.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.verdicts import RANDOM_SAMPLE, Decision, Subject
from piecework.results.answers_shown import Work
from piecework.review.model.deciding import waiting_among
from piecework.review.model.reviewing import VIEWS, View
from piecework.store import findings, reviews

_DRAWS = 2**48
_MIXED = 0.1
"""The share of undrawn, unflagged answers to mix among the flagged ones."""


class Waiting:
    """Everything that waits, by view.

    It is updated: decided subjects are removed and new ones added. So a card costs the
    same with ten waiting subjects and with ten thousand.

    Args:
        opened: the campaign.
        is_blind: whether the order must say nothing about suspicions.

    Attributes:
        proposals: the proposals by kind and id of their subject.
    """

    def __init__(self, opened: OpenedCampaign, *, is_blind: bool = False) -> None:
        self._opened, self._is_blind = opened, is_blind
        self.proposals: dict[Subject, Decision] = {}
        self._members: dict[View, dict[str, set[Subject]]] = {view: {} for view in VIEWS}
        self._suspicions: dict[View, dict[str, float]] = {view: {} for view in VIEWS}
        self._keys: dict[View, tuple[str, ...]] = {}

    def read_on(self, work: Work) -> None:
        """Update from the store."""
        self._take_in(waiting_among(self._opened), self.proposals.keys(), work)

    def read_about(self, subjects: Collection[Subject], work: Work) -> None:
        """Update only these subjects from the store."""
        self._take_in(
            waiting_among(self._opened, subjects), self.proposals.keys() & set(subjects), work
        )

    def _take_in(
        self, now: Mapping[Subject, Decision], before: Collection[Subject], work: Work
    ) -> None:
        self._take_out(set(before) - now.keys(), work)
        if new := now.keys() - before:
            self._put_in(new, work)
        self.proposals.update(now)

    def keys(self, view: View) -> tuple[str, ...]:
        """Return the keys of the groups in which something waits, worst first."""
        if view not in self._keys:
            self._keys[view] = self._in_order(view)
        return self._keys[view]

    def _in_order(self, view: View) -> tuple[str, ...]:
        seed, known = self._opened.campaign.rehearsal.seed, self._suspicions[view]
        waiting = list(self._members[view])
        if self._is_blind:
            return tuple(sorted(waiting, key=lambda key: draw(seed, key)))
        mixed = set(waiting)
        if view == "answer":
            drawn = findings.flagged_by(self._opened.store, RANDOM_SAMPLE)
            mixed = {key for key in waiting if key in drawn or draw(seed, f"mixed:{key}") < _MIXED}
        return worst_first({key: known[key] for key in waiting}, mixed, seed=seed)

    def suspicion(self, view: View, key: str) -> float:
        """Return the strongest suspicion in a group; 0 if there is none."""
        return self._suspicions[view].get(key, 0.0)

    def count(self, view: View) -> int:
        """Return the number of groups in which something waits."""
        return len(self._members[view])

    def _take_out(self, subjects: Iterable[Subject], work: Work) -> None:
        done: dict[View, set[str]] = {}
        for subject in subjects:
            del self.proposals[subject]
            for view, key in _groups(work, subject):
                members = self._members[view].get(key, set())
                members.discard(subject)
                if not members and self._members[view].pop(key, None) is not None:
                    done.setdefault(view, set()).add(key)
        # Once for each view: one act may decide ten thousand groups.
        for view, gone in done.items():
            if view in self._keys:
                left = (key for key in self._keys[view] if key not in gone)
                self._keys[view] = tuple(left)

    def _put_in(self, subjects: Iterable[Subject], work: Work) -> None:
        strongest = findings.strongest(self._opened.store, but=RANDOM_SAMPLE)
        for subject in subjects:
            suspicion = _suspicion(work, subject, strongest)
            for view, key in _groups(work, subject):
                self._members[view].setdefault(key, set()).add(subject)
                known = self._suspicions[view]
                known[key] = max(known.get(key, 0.0), suspicion)
                self._keys.pop(view, None)


def _groups(work: Work, subject: Subject) -> list[tuple[View, str]]:
    """Return the groups that show a subject."""
    kind, subject_id = subject
    rows = work.rows(kind, subject_id)
    if not rows:
        return []
    if kind == "worker":
        return [("worker", work.pseudonym_of(rows[0]))]
    if kind == "assignment":
        return [("assignment", subject_id)]
    (number,) = rows
    return [
        ("answer", subject_id),
        ("assignment", str(work.assignment_id(number))),
        ("worker", work.pseudonym_of(number)),
        ("item", work.item_id(number)),
    ]


def _suspicion(work: Work, subject: Subject, strongest: Mapping[tuple[str, str], float]) -> float:
    """Return the strongest suspicion of a subject and what it belongs to."""
    rows = work.rows(*subject)
    around: set[tuple[str, str]] = {subject}
    around |= {("answer", str(work.answer_id(number))) for number in rows}
    if subject[0] == "answer":
        around |= {("assignment", str(work.assignment_id(n))) for n in rows}
        around |= {("worker", str(work.worker_id(n))) for n in rows}
    return max((strongest.get(related, 0.0) for related in around), default=0.0)


def worst_first(
    suspicions: Mapping[str, float], mixed: Collection[str], *, seed: int
) -> tuple[str, ...]:
    """Return keys by suspicion.

    Args:
        suspicions: the suspicion of each key.
        mixed: the unsuspicious keys to mix among the others; the rest comes last.
        seed: draws, with the key, the place.

    >>> worst_first({"a": 0.5, "b": 0.9, "c": 0.0}, (), seed=1)
    ('b', 'a', 'c')
    """
    some = sorted((suspicion for suspicion in suspicions.values() if suspicion > 0), reverse=True)

    def behind(key: str) -> tuple[float, float]:
        drawn, suspicion = draw(seed, key), suspicions[key]
        if not suspicion and some and key in mixed:
            suspicion = some[int(drawn * len(some))]
        return -suspicion, drawn

    return tuple(sorted(suspicions, key=behind))


def second_opinions(opened: OpenedCampaign, *, share: float, by: str) -> tuple[str, ...]:
    """Return answers that one other person has reviewed and this reviewer should too.

    Args:
        opened: the campaign.
        share: the share of all reviewed answers, drawn by the seed and their ids.
        by: the reviewer, who has not reviewed them.
    """
    if not share:
        return ()
    reviewers_by_answer: dict[str, set[str]] = {}
    for review in reviews.reviews_in_force(opened.store):
        if review.subject_kind == "answer" and not review.is_along:
            reviewers_by_answer.setdefault(review.subject_id, set()).add(review.reviewer)
    seed = opened.campaign.rehearsal.seed
    return tuple(
        answer_id
        for answer_id, reviewers in reviewers_by_answer.items()
        if len(reviewers) == 1 and by not in reviewers
        and draw(seed, f"twice:{answer_id}") < share
    )  # fmt: skip


def draw(seed: int, key: str) -> float:
    """Return a number in [0, 1) that depends only on the seed and the key."""
    digest = hashlib.sha256(f"review:{seed}:{key}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / _DRAWS


def first_of(keys: Iterable[str], *, after: str, taken: Iterable[str]) -> str | None:
    """Return the next key: after a skipped one, otherwise from the front.

    Args:
        keys: the keys in order.
        after: the skipped key; "" for none.
        taken: keys that other reviewers look at now; they come last.
    """
    listed = list(keys)
    if after in listed:
        number = listed.index(after)
        listed = [*listed[number + 1 :], *listed[:number]]
    others = set(taken)
    return next((key for key in listed if key not in others), next(iter(listed), None))
