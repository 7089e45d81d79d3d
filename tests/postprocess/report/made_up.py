"""Facts of campaigns that never were: one without rows, and large ones by chance."""

import hashlib
import random
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pandas as pd

from domain.edit import Edit
from postprocess.report.facts import ReportFacts

START = datetime(2026, 11, 2, 9, tzinfo=UTC)

CANNED = "Quality issues are too severe to recognize visual content."


def empty(*, is_rehearsal: bool = True) -> ReportFacts:
    """A campaign that was posted a moment ago: frames without rows or columns."""
    return ReportFacts(
        campaign="birds",
        purpose="Captions for photographs of birds.",
        task="caption",
        source_hash="ab" * 32,
        code_commit="0123456789abcdef",
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
        ledger={"budget": 10_000},
        wage_floor_cents_per_hour=725,
    )


_TRAITS = {
    # trait: (share of the crowd, is bad, seconds per answer, share of answers dropped)
    "careful": (0.62, False, 48.0, 0.02),
    "quick but honest": (0.2, False, 30.0, 0.04),
    "pastes one caption": (0.06, True, 9.0, 0.8),
    "always canned": (0.05, True, 6.0, 0.7),
    "shouts": (0.04, True, 34.0, 0.6),
    "random letters": (0.03, True, 12.0, 0.95),
}

_HEURISTICS = (
    ("too_fast", 2, "assignment", "pastes one caption"),
    ("canned_share", 1, "worker", "always canned"),
    ("capitals", 1, "answer", "shouts"),
    ("pasted", 1, "answer", "pastes one caption"),
    ("rule_violation", 3, "answer", "random letters"),
    ("lone_canned", 1, "answer", "always canned"),
)

_WORDS = tuple(
    re.findall(
        r"\w+",
        "a the red blue white can box of soup on table with hand holding bottle label "
        "that reads computer screen showing error message dog lying carpet next to "
        "wooden chair keyboard phone menu printed page thermostat wall medicine",
    )
)


@dataclass
class _Crowd:
    """Workers drawn by trait, and what becomes of each."""

    chance: random.Random
    traits: list[tuple[str, str]] = field(default_factory=list)

    def draw(self, size: int) -> None:
        """Fill the crowd."""
        names = [*_TRAITS]
        weights = [_TRAITS[name][0] for name in names]
        for number in range(size):
            worker = hashlib.sha256(f"worker {number}".encode()).hexdigest()[:16]
            self.traits.append((worker, self.chance.choices(names, weights)[0]))


def large(*, items: int = 600, crowd: int = 60, seed: int = 1) -> ReportFacts:
    """A finished rehearsal whose books agree, drawn by chance."""
    chance = random.Random(seed)  # noqa: S311 - the same campaign every time
    people = _Crowd(chance)
    people.draw(crowd)
    answers = _answers(chance, people.traits, items)
    findings = _findings(chance, answers, dict(people.traits))
    workers = _workers(chance, answers, dict(people.traits))
    paid = int(workers["paid_cents"].sum())
    return replace(
        empty(),
        campaign="Photographs by people who are blind",
        purpose="Five captions for each photograph, written so that somebody who "
        "cannot see it learns what matters. Used to train and to judge captioning.",
        items=items,
        is_finished=True,
        finished_at=START + timedelta(hours=101),
        answers=answers.drop(columns="trait"),
        batches=_batches(answers),
        findings=findings,
        decisions=_decisions(answers, workers),
        workers=workers,
        ledger={
            "budget": -(-paid * 13 // 1000) * 100,
            "paid_rewards": paid - 300,
            "paid_bonuses": 300,
            "fees": paid // 5,
            "held": 0,
            "released": 5_500,
        },
        task_version=1,
        rules={"spelling": 2, "whitespace": 1},
    )


def _answers(
    chance: random.Random, crowd: list[tuple[str, str]], items: int
) -> pd.DataFrame:
    rows = []
    busy = [chance.paretovariate(1.2) for _ in crowd]
    for item in range(items):
        hardness = chance.betavariate(0.35, 2.6)
        split = chance.choices(("train", "val", "test"), (70, 10, 20))[0]
        people = dict(chance.choices(crowd, busy, k=5 + (item % 40 == 0)))
        for position, (worker, trait) in enumerate(people.items()):
            rows.append(
                _answer(chance, item, position, worker, trait)
                | {"split": split}
                | _caption(chance, trait, hardness)
            )
    frame = pd.DataFrame(rows)
    frame.index = pd.Index(
        [
            f"{row.assignment_id}.{number}"
            for number, row in enumerate(frame.itertuples())
        ],
        name="answer_id",
    )
    return frame


def _answer(
    chance: random.Random, item: int, position: int, worker: str, trait: str
) -> dict[str, object]:
    batch = 1 + item * 5 // max(item + 1, 600)
    hour = (batch - 1) * 20 + 14 * chance.betavariate(1.4, 3)
    is_out = chance.random() < _TRAITS[trait][3]
    return {
        "assignment_id": f"A{item // 5:05d}{worker[:6]}",
        "item_id": f"img_{item:05d}",
        "url": f"/pictures/img_{item:05d}.jpg",
        "batch": batch,
        "round": 0,
        "position": position + 1,
        "is_rejected": is_out,
        "rejected_because": "pasted the same caption into several images" * is_out,
        "text_detected": chance.choice(("yes", "yes", "no")),
        "flaws": tuple(chance.sample(("blur", "dark", "framing", "rotation"), k=1)),
        "flaw_other": "",
        "worker": worker,
        "shown_seconds": _TRAITS[trait][2] * chance.uniform(0.6, 1.6),
        "submitted_at": START + timedelta(hours=hour),
        "is_surplus": position >= 5 and not is_out,
        "trait": trait,
    }


def _caption(chance: random.Random, trait: str, hardness: float) -> dict[str, object]:
    is_canned = chance.random() < (0.9 if trait == "always canned" else hardness)
    length = max(8, round(chance.gauss(13, 3.5)))
    caption = CANNED if is_canned else " ".join(chance.choices(_WORDS, k=length))
    edits: tuple[Edit, ...] = ()
    original = caption
    if not is_canned and chance.random() < 0.14:
        before, after = chance.choice(
            (("teh", "the"), ("botle", "bottle"), ("  ", " "), ("dell", "Dell"))
        )
        rule = "whitespace" if before == "  " else "spelling"
        original = before + caption
        edits = (
            Edit(
                start=0,
                end=len(before),
                before=before,
                after=after,
                rule=rule,
                reason="x",
            ),
        )
        caption = after + caption
    if trait == "shouts":
        original = original.upper()
    return {
        "caption": caption,
        "caption_original": original,
        "is_precanned": is_canned,
        "edits": edits,
    }


def _findings(
    chance: random.Random, answers: pd.DataFrame, traits: dict[str, str]
) -> pd.DataFrame:
    columns = {"answer": None, "assignment": "assignment_id", "worker": "worker"}
    rows = []
    for heuristic, version, kind, suspect in _HEURISTICS:
        column = columns[kind]
        ids = answers.index if column is None else answers[column]
        owners = dict(zip(ids, answers["worker"], strict=True))
        for subject, worker in owners.items():
            is_suspect = traits[worker] == suspect
            flag = chance.random() < (0.75 if is_suspect else 0.03)
            rows.append(
                {
                    "heuristic": heuristic,
                    "version": version,
                    "subject_kind": kind,
                    "subject_id": subject,
                    "suspicion": chance.uniform(0.7, 1) if flag else 0.1,
                    "flag": flag,
                    "evidence": f"{chance.uniform(1.96, 4):.2f} standard deviations "
                    f"from the mean of {chance.uniform(30, 60):.1f} s" * flag,
                }
            )
    return pd.DataFrame(rows)


def _workers(
    chance: random.Random, answers: pd.DataFrame, traits: dict[str, str]
) -> pd.DataFrame:
    rows = {}
    for worker, mine in answers.groupby("worker"):
        trait = traits[str(worker)]
        is_bad = _TRAITS[trait][1]
        assignments = mine["assignment_id"].nunique()
        dropped = int(mine["is_rejected"].sum())
        rejected = 1 if is_bad and dropped > 3 and chance.random() < 0.5 else 0
        rows[str(worker)] = {
            "assignments": assignments,
            "answers": len(mine),
            "answers_dropped": dropped,
            "assignments_rejected": rejected,
            "paid_cents": len(mine) * 11,
            "seconds_worked": float(mine["shown_seconds"].sum()),
            "is_excluded": is_bad and dropped / len(mine) > 0.3,
            "trait": trait,
            "is_planted_bad": is_bad,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _decisions(answers: pd.DataFrame, workers: pd.DataFrame) -> pd.DataFrame:
    rows = [
        (
            "answer",
            str(answer),
            "drop",
            "policy:birds",
            "two heuristics flag the caption",
        )
        if is_out
        else (
            "answer",
            str(answer),
            "keep",
            "policy:birds",
            "nothing speaks against it",
        )
        for answer, is_out in answers["is_rejected"].items()
    ]
    rows += [
        (
            "assignment",
            assignment,
            "approve",
            "policy:birds",
            "nothing speaks against it",
        )
        for assignment in answers["assignment_id"].unique()
    ]
    bad = workers.index[workers["is_excluded"]]
    rows += [
        ("worker", worker, "exclude", "ada", "pastes one caption everywhere")
        for worker in bad
    ]
    frame = pd.DataFrame(
        rows, columns=["subject_kind", "subject_id", "verdict", "decided_by", "because"]
    )
    return frame.assign(decided_at=START + timedelta(hours=30))


def _batches(answers: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for batch, mine in answers.groupby("batch"):
        number = int(str(batch))
        posted = START + timedelta(hours=20 * (number - 1))
        kept = int((~mine["is_rejected"]).sum())
        rows.append(
            {
                "batch": number,
                "round": 0,
                "hits": mine["item_id"].nunique() // 5,
                "assignments_wanted": mine["assignment_id"].nunique(),
                "assignments_submitted": mine["assignment_id"].nunique(),
                "answers_kept": kept,
                "answers_dropped": len(mine) - kept,
                "posted_at": posted,
                "last_submitted_at": mine["submitted_at"].max(),
                "settled_at": mine["submitted_at"].max() + timedelta(hours=3),
                "workers_excluded": number % 3,
            }
        )
    return pd.DataFrame(rows)
