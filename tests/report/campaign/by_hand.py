"""A campaign small enough to be counted on fingers; the counts are in the comments.

Three images, two accepted answers wanted of each, so six wanted. Four workers:

    assignment  worker  image 1        image 2   image 3
    A1          ann     novel, 4 w.    canned    novel, 6 w.
    A2          bob     novel, 4 w.    canned    dropped
    A3          cheat   rejected       rejected  rejected      (a person rejected it)
    A4          dan     surplus        -         novel, 10 w.  (second round)

Eleven submitted: 3 rejected, 1 dropped, 1 surplus, 2 canned, 4 novel; 6 accepted.
"""

from dataclasses import replace
from datetime import timedelta

import pandas as pd

from piecework.domain.edit import Edit
from piecework.report.facts import Money, ReportFacts
from tests.postprocess.made_tables import caption_task, made_table
from tests.report.campaign.made_up import CANNED, START, empty, shown

POLICY = "policy:small"

_ANSWERS = {
    # By answer: item, worker, caption, canned or not, rejected or not, surplus or not.
    "A1.1": ("i1", "ann", "the red bottle stands", 0, 0, 0),
    "A1.2": ("i2", "ann", CANNED, 1, 0, 0),
    "A1.3": ("i3", "ann", "a dog on a blue rug", 0, 0, 0),
    "A2.1": ("i1", "bob", "the bottle is red", 0, 0, 0),
    "A2.2": ("i2", "bob", CANNED, 1, 0, 0),
    "A2.3": ("i3", "bob", "nice", 0, 1, 0),
    "A3.1": ("i1", "cheat", "buy things", 0, 1, 0),
    "A3.2": ("i2", "cheat", "buy things", 0, 1, 0),
    "A3.3": ("i3", "cheat", CANNED, 1, 1, 0),
    "A4.1": ("i1", "dan", "a bottle", 0, 0, 1),
    "A4.2": ("i3", "dan", "a big dog lies on a rug in the sun", 0, 0, 0),
}

_EDITS = {
    # Two captions of the dataset changed by three edits. The edit of a rejected
    # answer is no change of the dataset.
    "A1.1": (("teh", "the", "spelling"), ("botle", "bottle", "spelling")),
    "A2.1": (("teh", "the", "spelling"),),
    "A3.1": (("bye", "buy", "whitespace"),),
}


def small(*, is_rehearsal: bool = True) -> ReportFacts:
    """The campaign of this module's docstring."""
    answers = _answers()
    return replace(
        empty(is_rehearsal=is_rehearsal),
        wanted_per_item=2,
        items=3,
        is_finished=True,
        finished_at=START + timedelta(hours=2),
        answers=answers,
        shown_items=shown(answers, caption_task()),
        batches=_batches(),
        findings=_findings(),
        decisions=_decisions(),
        workers=_workers(is_rehearsal=is_rehearsal),
        # Three approved at 60 cents, a bonus of 30; fees of 20 %: 3 x 12 + 6 = 42.
        money=Money(
            ledger={"budget": 1000, "paid_rewards": 180, "paid_bonuses": 30, "fees": 42},
            wage_floor_cents_per_hour=725,
        ),
        rules={"spelling": 3, "whitespace": 1},
        task=replace(caption_task(), version=4),
    )


def ill_paid(*, is_rehearsal: bool = True) -> ReportFacts:
    """The same, but cheat got a cent for 90 seconds: 40 cents an hour."""
    facts = small(is_rehearsal=is_rehearsal)
    workers = facts.workers.copy()
    workers.loc["cheat", ["paid_cents", "seconds_paid"]] = 1, 90.0
    assert facts.money is not None
    ledger = {**facts.money.ledger, "paid_rewards": 181}
    money = replace(facts.money, ledger=ledger)
    return replace(facts, workers=workers, money=money)


def _answers() -> pd.DataFrame:
    rows = [
        {
            "answer_id": answer,
            "assignment_id": answer[:2],
            "item_id": item,
            "url": f"/pictures/{item}.svg",
            "split": "test" if item == "i3" else "train",
            "batch": 1,
            "round": int(worker == "dan"),
            "position": int(answer[3]),
            "clean_text": caption,
            "text": f"{caption} (as typed)",
            "is_canned": bool(canned),
            "is_rejected": bool(rejected),
            "rejected_because": "off the subject" if rejected else "",
            # Image 1 by two of two, image 3 by one of two: no majority.
            "value.has_text": "yes" if item == "i1" or worker == "ann" else "no",
            "value.flaws": ("blur", "dark") if item == "i2" else ("none",),
            "worker": worker,
            "shown_seconds": 20.0,
            "submitted_at": START + timedelta(minutes=10 * place),
            "edits": _edits(answer),
            "is_surplus": bool(surplus),
        }
        for place, (answer, (item, worker, caption, canned, rejected, surplus)) in enumerate(
            _ANSWERS.items()
        )
    ]
    return made_table(rows, caption_task())


def _edits(answer: str) -> tuple[Edit, ...]:
    return tuple(
        Edit(start=0, end=0, before=before, after=after, rule=rule, reason="")
        for before, after, rule in _EDITS.get(answer, ())
    )


def _batches() -> pd.DataFrame:
    first = {
        "batch": 1,
        "round": 0,
        "hits": 1,
        "assignments_wanted": 3,
        "assignments_submitted": 3,
        "answers_kept": 5,
        "answers_dropped": 4,
        "posted_at": START,
        "last_submitted_at": START + timedelta(minutes=80),
        "settled_at": START + timedelta(minutes=90),
        "workers_excluded": 0,
    }
    # The second round is still open as far as settling goes.
    second = {
        **first,
        "round": 1,
        "assignments_wanted": 1,
        "assignments_submitted": 1,
        "answers_kept": 2,
        "answers_dropped": 0,
        "posted_at": START + timedelta(minutes=90),
        "last_submitted_at": START + timedelta(minutes=100),
        "settled_at": None,
        "workers_excluded": 1,
    }
    return pd.DataFrame([first, second])


def _findings() -> pd.DataFrame:
    rows = [
        # heuristic, version, kind, id, suspicion, flag, evidence
        ("pasted", 2, "answer", "A2.3", 0.8, 1, "1 paste"),
        ("pasted", 2, "answer", "A3.1", 0.9, 1, "3 pastes, 0 keystrokes"),
        ("pasted", 2, "answer", "A3.2", 0.9, 1, "2 pastes, 0 keystrokes"),
        ("pasted", 2, "answer", "A1.1", 0.0, 0, ""),
        ("too_fast", 1, "assignment", "A3", 0.7, 1, "2 s an image"),
        ("too_fast", 1, "assignment", "A1", 0.1, 0, ""),
        ("canned_share", 5, "worker", "cheat", 0.6, 1, "1 of 3 answers is canned"),
        ("capitals", 1, "answer", "A1.1", 0.0, 0, ""),
    ]
    columns = [
        "heuristic",
        "version",
        "subject_kind",
        "subject_id",
        "suspicion",
        "flag",
        "evidence",
    ]
    return pd.DataFrame(rows, columns=columns)


def _decisions() -> pd.DataFrame:
    out = {"A2.3", "A3.1", "A3.2", "A3.3"}
    rows = [
        ("answer", answer, "drop" if answer in out else "keep", POLICY, 1, "as stated")
        for answer in _ANSWERS
    ]
    rows += [
        ("assignment", assignment_id, "approve", POLICY, 1, "nothing speaks against it")
        for assignment_id in ("A1", "A2", "A3", "A4")
    ]
    # A person overrules the policy about A3; the policy excludes dan.
    rows += [
        ("assignment", "A3", "reject", "eve", 2, "advertising"),
        ("worker", "dan", "exclude", POLICY, 1, "one answer is flagged"),
    ]
    columns = ["subject_kind", "subject_id", "verdict", "decided_by", "hour", "because"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["decided_at"] = START + pd.to_timedelta(frame.pop("hour"), unit="h")
    frame["is_accepted"] = False
    # The order of rows must not matter, only the time of a decision.
    return frame.iloc[::-1]


def _workers(*, is_rehearsal: bool) -> pd.DataFrame:
    columns = [
        "assignments",
        "answers",
        "answers_dropped",
        "assignments_rejected",
        "paid_cents",
        "seconds_worked",
        "seconds_paid",
        "is_excluded",
        "assignments_deleted",
        "trait",
        "is_planted_bad",
    ]
    rows = {
        # Cents an hour: 60 x 3600 / 288 = 750; 90 x 3600 / 360 = 900; no paid work, so
        # no wage; 60 x 3600 / 300 = 720, which is below the floor of 725.
        "ann": (1, 3, 0, 0, 60, 288.0, 288.0, False, 0, "careful", False),
        "bob": (1, 3, 1, 0, 90, 360.0, 360.0, False, 0, "careful", False),
        "cheat": (1, 3, 3, 1, 0, 90.0, 0.0, False, 0, "advertiser", True),
        "dan": (1, 2, 0, 0, 60, 300.0, 300.0, True, 0, "slow", False),
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return frame if is_rehearsal else frame.assign(trait="", is_planted_bad=False)
