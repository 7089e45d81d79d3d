"""Facts of campaigns that never were: one without rows, and large ones by chance."""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pandas as pd

from piecework.domain.edit import Edit
from piecework.domain.task import Task
from piecework.report.facts import Money, ReportFacts, SourceFile
from piecework.report.item_sample import ShownItem, choose_items
from tests.postprocess.made_tables import caption_task, made_table

START = datetime(2026, 11, 2, 9, tzinfo=UTC)

CANNED = "Quality issues are too severe to recognize visual content."

FINE = "nothing in the policy speaks against it"

HITS_OF = 5
"""Images a HIT."""

REWARD_CENTS = 55

PICTURE = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def empty(*, is_rehearsal: bool = True) -> ReportFacts:
    """A campaign that was posted a moment ago: frames without rows or columns."""
    return ReportFacts(
        campaign="birds",
        purpose="Captions for photographs of birds.",
        task=caption_task(),
        sources=(SourceFile(sha256="3f9a" * 16, since="2026-01-05 09:00"),),
        code_commit="2891ade0c5d14b7f",
        seed=7,
        is_rehearsal=is_rehearsal,
        started_at=START,
        finished_at=START,
        wanted_per_item=5,
        items=4,
        is_finished=False,
        answers=pd.DataFrame(),
        batches=pd.DataFrame(),
        findings=pd.DataFrame(),
        decisions=pd.DataFrame(),
        workers=pd.DataFrame(),
        money=Money(ledger={"budget": 10_000}, wage_floor_cents_per_hour=725),
    )


def shown(
    answers: pd.DataFrame, task: Task, columns: Mapping[str, str] | None = None
) -> tuple[ShownItem, ...]:
    """The items that a report of these answers shows, each with the same picture."""
    return tuple(
        ShownItem(item_id=item_id, kind=kind, columns=columns or {}, picture=PICTURE)
        for item_id, kind in choose_items(answers, task).items()
    )


def large(*, items: int = 600, crowd: int = 60, seed: int = 1) -> ReportFacts:
    """A finished rehearsal in five batches whose books agree, drawn by chance."""
    campaign = _Campaign(random.Random(seed), items)  # noqa: S311 - nothing secret
    campaign.hire(crowd)
    for batch in range(1, 6):
        campaign.run_batch(batch)
    workers = campaign.worker_frame()
    paid = int(workers["paid_cents"].sum())
    answers = made_table(campaign.answers, caption_task())
    return replace(
        empty(),
        campaign="Photographs by people who are blind",
        purpose="Five captions for each photograph, written so that somebody who "
        "cannot see it learns what matters. Used to train and to judge captioning.",
        items=items,
        is_finished=True,
        finished_at=START + timedelta(hours=101, minutes=31),
        answers=answers,
        shown_items=shown(answers, caption_task()),
        batches=pd.DataFrame(campaign.batches),
        findings=pd.DataFrame(campaign.findings),
        decisions=pd.DataFrame(campaign.decisions),
        workers=workers,
        money=Money(
            ledger={
                "budget": -(-paid * 13 // 1000) * 100,
                "paid_rewards": paid,
                "fees": paid // 5,
                "released": 5_500,
            },
            wage_floor_cents_per_hour=725,
        ),
        rules={"spelling": 2, "whitespace": 1},
    )


@dataclass(frozen=True)
class _Trait:
    name: str
    weight: float
    seconds: float
    dropped: float
    heuristic: str
    evidence: str

    @property
    def is_bad(self) -> bool:
        return bool(self.heuristic)


_TRAITS = (
    _Trait("careful", 62, 44, 0.01, "", ""),
    _Trait("quick but honest", 20, 29, 0.03, "", ""),
    _Trait("pastes", 6, 11, 0.8, "pasted", "2 pastes and only 3 keystrokes"),
    _Trait("all canned", 5, 7, 0.7, "minority_canned", "only 1 of 5 calls it canned"),
    _Trait("shouts", 4, 34, 0.6, "capitals", "96 % of the letters are capitals"),
    _Trait("letters", 3, 12, 0.95, "rule_violation", "breaks least_words: 2 of 8"),
)

_PICTURES = (
    ("a can of {} on a kitchen counter", "tomato soup", "black beans", "cola"),
    ("a hand holding a box of {} over a table", "crackers", "batteries", "tea bags"),
    ("a computer screen showing {} on a blue page", "an error", "a login", "an email"),
    ("a {} lying on a carpet next to a wooden chair", "brown dog", "red sock", "cat"),
)


@dataclass
class _Campaign:
    chance: random.Random
    items: int
    traits: dict[str, _Trait] = field(default_factory=dict)
    zeal: dict[str, float] = field(default_factory=dict)
    excluded: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    answers: list[dict[str, object]] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    done: dict[int, set[str]] = field(default_factory=dict)
    outs: dict[str, list[bool]] = field(default_factory=dict)
    batches: list[dict[str, object]] = field(default_factory=list)
    findings: list[dict[str, object]] = field(default_factory=list)
    decisions: list[dict[str, object]] = field(default_factory=list)

    def hire(self, size: int) -> None:
        weights = [trait.weight for trait in _TRAITS]
        for number in range(size):
            worker = hashlib.sha256(f"worker {number}".encode()).hexdigest()[:16]
            self.traits[worker] = self.chance.choices(_TRAITS, weights)[0]
            self.zeal[worker] = self.chance.paretovariate(1.2)

    def run_batch(self, batch: int) -> None:
        hits = range((self.items + HITS_OF - 1) // HITS_OF)
        posted = START + timedelta(hours=20 * (batch - 1))
        lacking = {hit: 5 for hit in hits if hit % 5 == batch - 1}
        for transaction in range(3):
            lacking = self._run_round(batch, transaction, posted, lacking)
            posted += timedelta(hours=7)
            if not lacking:
                break

    def _run_round(
        self, batch: int, transaction: int, posted: datetime, lacking: dict[int, int]
    ) -> dict[int, int]:
        start = len(self.answers)
        before = len(self.excluded)
        for hit, number in lacking.items():
            for worker in self._takers(hit, number):
                self._work(batch, transaction, hit, worker, posted)
        made = self.answers[start:]
        self._exclude(posted + timedelta(hours=6))
        out = sum(bool(answer["is_rejected"]) for answer in made)
        last = max(datetime.fromisoformat(str(answer["submitted_at"])) for answer in made)
        self.batches.append(
            {
                "batch": batch,
                "round": transaction,
                "hits": len(lacking),
                "assignments_wanted": sum(lacking.values()),
                "assignments_submitted": len({answer["assignment_id"] for answer in made}),
                "answers_kept": len(made) - out,
                "answers_dropped": out,
                "posted_at": posted,
                "last_submitted_at": last,
                "settled_at": last + timedelta(hours=1),
                "workers_excluded": len(self.excluded) - before,
            }
        )
        return self._lacking([*lacking])

    def _takers(self, hit: int, number: int) -> list[str]:
        done = self.done.setdefault(hit, set())
        free = [worker for worker in self.traits if worker not in self.excluded | done]
        free.sort(key=lambda worker: self.chance.random() ** (1 / self.zeal[worker]))
        done |= {*free[-number:]}
        return free[-number:]

    def _lacking(self, hits: list[int]) -> dict[int, int]:
        fewest = {hit: 5 - min(self.kept.get(item, 0) for item in self._items(hit)) for hit in hits}
        return {hit: number for hit, number in fewest.items() if number > 0}

    def _items(self, hit: int) -> list[str]:
        last = min(hit * HITS_OF + HITS_OF, self.items)
        return [f"img_{item:05d}" for item in range(hit * HITS_OF, last)]

    def _work(self, batch: int, transaction: int, hit: int, worker: str, posted: datetime) -> None:
        trait = self.traits[worker]
        assignment = f"3{hashlib.sha256(f'{hit} {worker}'.encode()).hexdigest()[:12]}"
        submitted = posted + timedelta(hours=5 * self.chance.betavariate(1.3, 3))
        drops = []
        for position, item in enumerate(self._items(hit), start=1):
            drops.append(self.chance.random() < trait.dropped)
            self.outs.setdefault(worker, []).append(drops[-1])
            is_surplus = self.kept.get(item, 0) >= 5 and not drops[-1]
            self.kept[item] = self.kept.get(item, 0) + (not drops[-1])
            self.answers.append(
                {
                    "answer_id": f"{assignment}.{position}",
                    "assignment_id": assignment,
                    "item_id": item,
                    "url": f"/pictures/{item}.jpg",
                    "split": ("train", "train", "train", "test", "val")[hit % 5],
                    "batch": batch,
                    "round": transaction,
                    "position": position,
                    "is_rejected": drops[-1],
                    "rejected_because": trait.evidence * drops[-1],
                    "value.has_text": self.chance.choice(("yes", "yes", "no")),
                    "value.flaws": (self.chance.choice(("blur", "dark", "none", "none")),),
                    "worker": worker,
                    "shown_seconds": trait.seconds * self.chance.uniform(0.6, 1.6),
                    "submitted_at": submitted,
                    "is_surplus": is_surplus,
                }
                | self._caption(item, trait)
            )
            self._judge(f"{assignment}.{position}", trait, is_out=drops[-1])
        is_rejected = trait.name == "letters" and all(drops)
        if is_rejected:
            self.rejected.add(assignment)
        self._decide(
            "assignment",
            assignment,
            "reject" if is_rejected else "approve",
            "every caption is random letters" if is_rejected else FINE,
            posted + timedelta(hours=6),
        )

    def _caption(self, item: str, trait: _Trait) -> dict[str, object]:
        hardness = random.Random(item).betavariate(0.35, 2.6)  # noqa: S311 - as above
        is_canned = self.chance.random() < (1 if trait.name == "all canned" else hardness)
        scene, *things = _PICTURES[int(item[4:]) % len(_PICTURES)]
        words = scene.format(self.chance.choice(things)).split()
        words += self.chance.choices(("with", "some", "white", "light", "near"), k=5)
        original = " ".join(words[: self.chance.randint(8, len(words))])
        edits: tuple[Edit, ...] = ()
        if not is_canned and self.chance.random() < 0.14:
            before, after, rule = self.chance.choice(
                (
                    ("teh ", "the ", "spelling"),
                    ("botle ", "bottle ", "spelling"),
                    ("  ", "", "whitespace"),
                )
            )
            edits = (
                Edit(
                    start=0,
                    end=len(before),
                    before=before,
                    after=after,
                    rule=rule,
                    reason="in no word list",
                ),
            )
            original = before + original
        if trait.name == "shouts":
            original = original.upper()
        after = edits[0].after if edits else ""
        clean = after + original[edits[0].end :] if edits else original
        return {
            "clean_text": CANNED if is_canned else clean,
            "text": CANNED if is_canned else original,
            "is_canned": is_canned,
            "edits": edits,
        }

    def _judge(self, answer: str, trait: _Trait, *, is_out: bool) -> None:
        for known_trait in _TRAITS:
            if not known_trait.heuristic:
                continue
            is_his = known_trait is trait
            flag = self.chance.random() < ((0.9 if is_out else 0.3) if is_his else 0.01)
            self.findings.append(
                {
                    "heuristic": known_trait.heuristic,
                    "version": 1 + len(known_trait.name) % 3,
                    "subject_kind": "answer",
                    "subject_id": answer,
                    "suspicion": self.chance.uniform(0.7, 1) if flag else 0.1,
                    "flag": flag,
                    "evidence": known_trait.evidence * flag,
                }
            )
        verdict, because = ("drop", trait.evidence) if is_out else ("keep", FINE)
        self._decide("answer", answer, verdict, because or "off the subject", START)

    def _exclude(self, at: datetime) -> None:
        for worker, trait in self.traits.items():
            mine = self.outs.get(worker, [])
            is_much = len(mine) > 5 and sum(mine) / len(mine) > 0.3
            if is_much and worker not in self.excluded:
                self.excluded.add(worker)
                why = f"{trait.heuristic} flags most answers"
                self._decide("worker", worker, "exclude", why, at, who="ada")
                self.findings.append(
                    {
                        "heuristic": "too_fast",
                        "version": 2,
                        "subject_kind": "worker",
                        "subject_id": worker,
                        "suspicion": 0.9,
                        "flag": trait.seconds < 15,
                        "evidence": f"{trait.seconds} s an image, 2.1 standard "
                        "deviations below the mean of 38.2 s",
                    }
                )

    def _decide(
        self,
        kind: str,
        subject: str,
        verdict: str,
        because: str,
        at: datetime,
        *,
        who: str = "policy:birds",
    ) -> None:
        self.decisions.append(
            {
                "subject_kind": kind,
                "subject_id": subject,
                "verdict": verdict,
                "decided_by": who,
                "decided_at": at,
                "because": because,
                "is_accepted": False,
            }
        )

    def worker_frame(self) -> pd.DataFrame:
        rows = {}
        for worker, mine in pd.DataFrame(self.answers).groupby("worker"):
            assignments = set(mine["assignment_id"])
            rejected = len(assignments & self.rejected)
            rows[str(worker)] = {
                "assignments": len(assignments),
                "answers": len(mine),
                "answers_dropped": int(mine["is_rejected"].sum()),
                "assignments_rejected": rejected,
                "paid_cents": (len(assignments) - rejected) * REWARD_CENTS,
                "seconds_worked": float(mine["shown_seconds"].sum()) * 1.1,
                "seconds_paid": float(
                    mine.loc[~mine["assignment_id"].isin(self.rejected), "shown_seconds"].sum()
                )
                * 1.1,
                "is_excluded": worker in self.excluded,
                "assignments_deleted": 0,
                "trait": self.traits[str(worker)].name,
                "is_planted_bad": self.traits[str(worker)].is_bad,
            }
        return pd.DataFrame.from_dict(rows, orient="index")
