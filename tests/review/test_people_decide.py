import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import JOINED, Finding, SubjectKind
from piecework.engine.judge import split_by_doubt, table_of_batch
from piecework.engine.run_pass import run_pass
from piecework.review.model.decisions_csv import read_decisions, waiting_csv
from piecework.store import assignments, decisions, findings
from tests.review import stores


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def _as_proposed(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The file after a person has agreed to all that is proposed."""
    return [{**row, "verdict": row["proposed"]} for row in rows]


def _written(rows: list[dict[str, str]], *, delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def test_what_is_flagged_waits_and_the_rest_does_not(waiting: CampaignRun) -> None:
    """Ann's clean work is approved at once; bob's capitals wait for a person."""
    reached = run_pass(waiting)
    assert reached.waiting_for == "people"
    # bob's assignment, his two answers, and the exclusion that is proposed.
    assert reached.to_decide == 4
    # Who says that answers are missing, while a person may keep them?
    assert reached.too_few_workers == ""
    assert reached.rewards_cents == 50
    content, count = waiting_csv(waiting)
    rows = _rows(content)
    assert count == len(rows) == 4
    assert {row["subject_kind"] for row in rows} == {"answer", "assignment", "worker"}
    assert all("capitals" in row["evidence"] for row in rows[:2])
    assert {row["verdict"] for row in rows} == {""}
    bob = {row["worker"] for row in rows}
    assert len(bob) == 1
    answer = next(row for row in rows if row["subject_kind"] == "answer")
    assert answer["item"].endswith(f"/{answer['item_id'].removeprefix('p')}.jpg")
    assert answer["submitted_at"].startswith("2026-01-05T09:")
    assert answer["answer"].isupper()
    assert not answer["other_answers"].isupper()
    whole = next(row for row in rows if row["subject_kind"] == "assignment")
    assert whole["answer"].count(" | ") == whole["item"].count(" | ") == 1
    workers = {assignment.worker_id for assignment in assignments.load_assignments(waiting.store)}
    assert not [worker for worker in workers if worker in content.decode()]


def test_the_csv_has_the_texts_that_workers_saw(waiting: CampaignRun) -> None:
    """On one line each, beside the picture; not the columns that no page shows."""
    run_pass(waiting)
    campaign = waiting.campaign
    items = tuple(
        replace(item, columns={**item.columns, "hint": "Two\nlines.", "secret": "x"})
        for item in campaign.items
    )
    task = replace(campaign.task, optional_columns=("hint",))
    content, _ = waiting_csv(replace(waiting, campaign=replace(campaign, task=task, items=items)))
    answer = next(row for row in _rows(content) if row["subject_kind"] == "answer")
    assert answer["item"].endswith(".jpg / Two lines.")


def test_what_no_heuristic_flags_waits_for_nobody(waiting: CampaignRun) -> None:
    """Rules look at a joined suspicion without a flag; people are not asked for it."""
    (ann, *_) = decisions.load_decisions(waiting.store)
    suspected = Finding(
        heuristic=JOINED,
        version=1,
        subject_kind="answer",
        subject_id=ann.subject_id,
        suspicion=0.7,
        flag=False,
        evidence="as likely bad as 0.70",
    )
    subjects: dict[SubjectKind, list[str]] = {"answer": [ann.subject_id]}
    findings.replace(waiting.store, findings=[suspected], subjects=subjects)
    assert suspected not in findings.load_findings(waiting.store, only_flags=True)
    flags = findings.load_for_rules(waiting.store)
    assert suspected in flags
    clear, doubtful = split_by_doubt(table_of_batch(waiting, 1), [ann], flags)
    assert (clear, doubtful) == ([ann], [])


def test_decisions_that_are_read_are_acted_on_once(waiting: CampaignRun) -> None:
    """As proposed: two drops, one approval, one exclusion; then replacements."""
    untouched = waiting_csv(waiting)[0].decode()
    assert read_decisions(waiting, untouched, decided_by="ada", name="d.csv") == 0
    text = _written(_as_proposed(_rows(untouched.encode())))
    assert read_decisions(waiting, text, decided_by="ada", name="d.csv") == 4
    assert read_decisions(waiting, text, decided_by="bea", name="d.csv") == 0
    reached = run_pass(waiting)
    assert (reached.dropped, reached.excluded) == (2, 1)
    assert (reached.replaced, reached.waiting_for) == (1, "workers")
    by_ada = [
        decision
        for decision in decisions.load_decisions(waiting.store)
        if "ada" in decision.decided_by
    ]
    assert len(by_ada) == 4


def test_a_person_may_overrule_the_proposal(waiting: CampaignRun) -> None:
    """Kept answers count, a kept worker stays, and nothing is replaced."""
    rows = _as_proposed(_rows(waiting_csv(waiting)[0]))
    for row in rows:
        if row["subject_kind"] != "assignment":
            row["verdict"], row["because"] = "keep", ""
    assert read_decisions(waiting, _written(rows), decided_by="ada", name="d") == 4
    reached = run_pass(waiting)
    assert (reached.accepted, reached.excluded, reached.replaced) == (4, 0, 0)
    assert reached.batch == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "burn"}, "is not one of"),
        ({"subject_id": "nobody"}, "waits for a decision"),
        ({"subject_kind": "planet"}, "is not one of"),
        ({"verdict": "reject", "because": " "}, "is not one of"),
        ({"verdict": "drop", "because": "x" * 1025}, "allowed are 1024"),
        ({"verdict": "drop", "because": "bell \x07"}, "control characters"),
    ],
)
def test_a_bad_file_is_refused_whole(
    waiting: CampaignRun, change: dict[str, str], words: str
) -> None:
    """One bad row and nothing is stored; the sentence names the line."""
    before = len(decisions.load_decisions(waiting.store))
    rows = _as_proposed(_rows(waiting_csv(waiting)[0]))
    rows[0] |= change
    with pytest.raises(ConfigError, match=words) as error:
        read_decisions(waiting, _written(rows), decided_by="ada", name="d.csv")
    assert "d.csv: line 2" in error.value.faults[0]
    assert len(decisions.load_decisions(waiting.store)) == before


def test_two_verdicts_about_one_subject_are_a_fault(waiting: CampaignRun) -> None:
    """Nobody has to guess which of two lines holds; a line twice says the same."""
    rows = _as_proposed(_rows(waiting_csv(waiting)[0]))
    other = rows[0] | {"because": "Another reason."}
    with pytest.raises(ConfigError, match="another verdict or reason in an earl"):
        read_decisions(waiting, _written([*rows, other]), decided_by="ada", name="d")
    twice = _written([*rows, rows[0]])
    assert read_decisions(waiting, twice, decided_by="ada", name="d") == len(rows)


def test_a_file_is_read_again_when_more_of_it_is_filled_in(waiting: CampaignRun) -> None:
    """What was read before stays as it is; another verdict about it is a fault."""
    rows = _rows(waiting_csv(waiting)[0])
    first, filled = rows[0], _as_proposed(rows)
    begun = [filled[0], *rows[1:]]
    assert read_decisions(waiting, _written(begun), decided_by="ada", name="d") == 1
    new = read_decisions(waiting, _written(filled), decided_by="bea", name="d")
    assert new == len(rows) - 1
    made = {
        decision.subject_id: decision.decided_by
        for decision in decisions.load_decisions(waiting.store)
    }
    assert made[first["subject_id"]] == "ada"
    assert made[rows[1]["subject_id"]] == "bea"
    changed = [first | {"verdict": "keep"}]
    with pytest.raises(ConfigError, match="was decided before: drop, by ada"):
        read_decisions(waiting, _written(changed), decided_by="bea", name="d")


def test_a_spreadsheet_may_part_cells_as_it_likes(waiting: CampaignRun) -> None:
    """Semicolons, CRLF and lines of nothing but separators, in capitals."""
    rows = _as_proposed(_rows(waiting_csv(waiting)[0]))
    for row in rows:
        row["verdict"] = f" {row['verdict'].upper()} "
    saved = _written(rows, delimiter=";") + ";" * (len(rows[0]) - 1) + "\r\n"
    assert read_decisions(waiting, saved, decided_by="ada", name="d") == len(rows)


def test_a_rejected_assignment_cannot_leave_its_answers_in(waiting: CampaignRun) -> None:
    """Work that is used is paid for; to reject it is to drop it."""
    rows = _rows(waiting_csv(waiting)[0])
    for row in rows:
        verdicts = {"assignment": "reject", "answer": "keep", "worker": "keep"}
        row["verdict"] = verdicts[row["subject_kind"]]
        row["because"] = "Shouted throughout."
    with pytest.raises(ConfigError, match="although its assignment is rejected"):
        read_decisions(waiting, _written(rows), decided_by="ada", name="d")


def test_a_row_left_empty_goes_on_waiting(waiting: CampaignRun) -> None:
    """No verdict, no decision; the campaign still waits for people."""
    rows = _as_proposed(_rows(waiting_csv(waiting)[0]))
    rows[0]["verdict"] = ""
    assert read_decisions(waiting, _written(rows), decided_by="ada", name="d") == 3
    reached = run_pass(waiting)
    assert (reached.to_decide, reached.waiting_for) == (1, "people")
    assert reached.batch == 1


def test_to_reject_an_assignment_is_to_drop_its_answers(waiting: CampaignRun) -> None:
    """One verdict is enough, in whatever case it is written; the reason goes along."""
    rows = _rows(waiting_csv(waiting)[0])
    for row in rows:
        if row["subject_kind"] == "assignment":
            row |= {"verdict": " Reject ", "because": "Shouted throughout."}
    assert read_decisions(waiting, _written(rows), decided_by="ada", name="d") == 1
    dropped = decisions.load_decisions(waiting.store, "answer", verdicts=["drop"])
    assert {decision.because for decision in dropped} == {
        "its assignment was rejected: Shouted throughout."
    }
    assert len(dropped) == 2
    reached = run_pass(waiting)
    assert (reached.rejected, reached.dropped) == (1, 2)
    # The exclusion that is proposed goes on waiting.
    assert (reached.to_decide, reached.waiting_for) == (1, "people")


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_only_answers_of_a_rejected_assignment_say_that_it_was_rejected(
    tmp_path: Path, verdict: str
) -> None:
    """The policy proposes to drop them with it; a person may drop them and pay."""
    with stores.opened(tmp_path, workers=1) as run:
        run.store.db.execute(
            "UPDATE proposals SET verdict = 'drop', "
            "because = 'its assignment was rejected: A joke.' WHERE subject_kind = 'answer'"
        )
        rows = [row for row in _rows(waiting_csv(run)[0]) if row["subject_kind"] != "worker"]
        shown = {row["why_proposed"] for row in rows if row["subject_kind"] == "answer"}
        assert shown == {"A joke."}
        for row in rows:
            row["verdict"] = "drop" if row["subject_kind"] == "answer" else verdict
            row["because"] = "A joke." if row["verdict"] == "reject" else ""
        for _again in range(2):
            read_decisions(run, _written(rows), decided_by="ada", name="d")
            dropped = decisions.load_decisions(run.store, "answer", verdicts=["drop"])
            beginning = "its assignment was rejected: " if verdict == "reject" else ""
            assert {decision.because for decision in dropped} == {f"{beginning}A joke."}


def test_a_drop_without_a_reason_of_its_own_needs_a_proposal_of_one(waiting: CampaignRun) -> None:
    """An assignment that is proposed to be approved is not rejected for nothing."""
    rows = _rows(waiting_csv(waiting)[0])
    for row in rows:
        if row["subject_kind"] == "assignment":
            assert row["proposed"] == "approve"
            row["verdict"] = "reject"
    with pytest.raises(ConfigError, match="reject needs a reason"):
        read_decisions(waiting, _written(rows), decided_by="ada", name="d")
