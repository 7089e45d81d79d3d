"""No id leaves a campaign of any task of the gallery, in whichever field it stands."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.binding import bind_store
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.assignment import Answer, Assignment, FieldValue
from piecework.domain.campaign import MachineVote
from piecework.domain.field import Field
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import (
    AnswerId,
    AssignmentId,
    HitId,
    HitKey,
    HitTypeId,
    WorkerId,
    answer_id,
)
from piecework.domain.verdicts import Decision, Finding, SubjectKind, Verdict
from piecework.engine.judge import assess
from piecework.engine.opening import open_to_look
from piecework.hit_templates.tasks import example_items, load_task, task_names
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.pseudonyms import answer_pseudonym
from piecework.results.cleaning import clean_answers
from piecework.results.export import export, write_answers, write_batch_results
from piecework.results.follow_up_items import word_questions, write_next_items, write_word_items
from piecework.results.item_labels import settle_label
from piecework.results.report_facts import report_facts
from piecework.store import assignments, bound, decisions, findings, hits
from piecework.store.database import open_store
from tests.conftest import in_full
from tests.importing.test_no_id_leaves import XSD, ids_in, texts_of

WORKERS = ("A1QQ2WW3EE4RR5", "5f0c1e2d3b4a596877665544", "W90")
ASSIGNMENTS = tuple(f"6a0b1c2d3e4f5a6b7c8d9e0{n}" for n in range(len(WORKERS)))
EVERY = (*WORKERS, *ASSIGNMENTS)
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
MOST_ITEMS = 4
FOLLOWED = {"congruency": "error_categories", "error_categories": "correction"}

TOML = """name = "ids"
description = "Only a test."
task = "{task}"
batches = 1
answers = {workers}
reward = "0.50"
budget = "90.00"
hourly_wage = "1.00"
minutes = 1
formats = {formats}
[items]
file = "items.jsonl"
[posting]
items_per_hit = {items}
[decisions]
by = "person"
[dataset]
splits = [50, 25, 25]
"""


def planted(number: int) -> str:
    """A sentence with the ids of a worker and of their assignment."""
    worker, name = WORKERS[number], ASSIGNMENTS[number]
    return f"A dgo of {worker.lower()} at https://a.org/?SESSION_ID={name} sleeps"


def value_of(field: Field, number: int) -> FieldValue:
    """What a worker gives a field: a sentence, one of its options, a number."""
    options = [option.value for option in field.options]
    if field.kind == "number":
        return float(field.minimum)
    if field.kind == "choices":
        return (options[0], WORKERS[number]) if options else (WORKERS[number],)
    if options and not field.is_open:
        return options[-1] if number else WORKERS[number]
    return planted(number)


def document(fields: dict[str, str]) -> str:
    """What a page sends, as MTurk gives it."""
    answers = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<FreeText>{escape(text)}</FreeText></Answer>"
        for name, text in fields.items()
    )
    return (
        f'<QuestionFormAnswers xmlns="{XSD}QuestionFormAnswers.xsd">{answers}</QuestionFormAnswers>'
    )


def answers_of(
    opened_task: Any,  # noqa: ANN401 - a loaded task
    hit: PlannedHit,
    number: int,
) -> tuple[Assignment, list[Answer]]:
    """An assignment, and its answers about each item of its HIT."""
    name = AssignmentId(ASSIGNMENTS[number])
    assignment = Assignment(
        assignment_id=name,
        hit_id=HitId("H1"),
        worker_id=WorkerId(WORKERS[number]),
        status="Submitted",
        accepted_at=NOON,
        submitted_at=NOON + timedelta(minutes=5 + number),
        raw=document(
            more := {"workerId": WORKERS[number], f"x_{WORKERS[number]}": planted(number)}
        ),
    )
    return assignment, [
        Answer(
            answer_id=answer_id(name, position),
            assignment_id=name,
            item_id=item_id,
            position=position,
            values={field.name: value_of(field, number) for field in opened_task.item_fields},
            hit_values={field.name: value_of(field, number) for field in opened_task.hit_fields},
            shown_ms=20_000,
            also_sent=more,
        )
        for position, item_id in enumerate(hit.item_ids, start=1)
    ]


@contextmanager
def collected(folder: Path, task_name: str) -> Iterator[OpenedCampaign]:
    """A campaign of the task's examples, whose workers wrote ids everywhere."""
    task = load_task(task_name)
    rows = []
    for n, item in enumerate(example_items(task)[:MOST_ITEMS]):
        cells = dict(item.columns)
        if "url" in cells:
            cells["url"] = f"https://a.org/{WORKERS[0]}/{n}.jpg?s={ASSIGNMENTS[1]}"
        if n == 0:
            cells[task.columns[0]] = f"{item.item_id}-{WORKERS[0]}"
        rows.append(
            cells | {"source": f"{WORKERS[1].upper()}, {n}", "pid": "W90", "note": "- as seen"}
        )
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    formats = ["csv", "parquet"]
    formats += ["vizwiz_json"] if task.dataset == "captions" else []
    path = folder / "ids.toml"
    path.write_text(
        TOML.format(
            task=task_name, workers=len(WORKERS), items=len(rows), formats=json.dumps(formats)
        )
    )
    campaign = load_campaign(path)
    hit = PlannedHit(
        hit_key=HitKey("k1"),
        batch=1,
        round=0,
        max_assignments=len(WORKERS),
        reward_cents=50,
        fee_cents=10,
        item_ids=tuple(item.item_id for item in campaign.items),
    )
    with closing(open_store(campaign.store, create=True)) as store:
        with store.db.atomic():
            bind_store(store, campaign, "http://127.0.0.1:1")
            bound.bind(store, "name", "of a test")
            bound.bind(store, "pseudonym_key", "01" * 32)
        hits.plan(store, [hit])
        with store.db.atomic():
            hits.mark_posted(
                store,
                hit.hit_key,
                hit_type_id=HitTypeId("T"),
                hit_id=HitId("H1"),
                at=NOON,
                lifetime_seconds=86_400,
                duration_seconds=3_600,
                auto_approval_seconds=3_600,
            )
            hits.mark_collected(store, HitId("H1"), at=NOON)
            for number in range(len(WORKERS)):
                assignments.keep_collected(store, answers_of(campaign.task, hit, number))
    with open_to_look(campaign) as opened:
        yield opened


# Between them these have fields of all kinds: texts, choices, several choices, marks of words.
_SOME = ["caption", "error_categories", "pairwise", "which_word"]


@pytest.mark.parametrize("task_name", [*_SOME, *in_full(*sorted({*task_names()} - {*_SOME}))])
def test_ids_in_any_field_of_a_task_stay_in_the_store(tmp_path: Path, task_name: str) -> None:
    """In dataset, card, report and files for other programs; answers keep their words.

    Batch results are for the requester alone, and name assignments.
    """
    out = tmp_path / "out"
    with collected(tmp_path, task_name) as opened:
        assess(opened)
        dropped = Decision(
            subject_kind="answer",
            subject_id=answer_id(AssignmentId(ASSIGNMENTS[0]), 1),
            verdict="drop",
            decided_by="ada",
            decided_at=NOON,
            because=f"it names {WORKERS[0]}",
        )
        rejected = Decision(
            subject_kind="assignment",
            subject_id=AssignmentId(ASSIGNMENTS[1]),
            verdict="reject",
            decided_by="ada",
            decided_at=NOON,
            because=f"copied from {WORKERS[0]}",
        )
        decisions.keep_decisions(opened.store, [dropped, rejected])
        clean_answers(opened)
        export(opened)
        write_answers(opened, out / "all.parquet")
        write_batch_results(opened, tmp_path / "batch.csv")
        if questions := word_questions(opened):
            write_word_items(questions, out / "words.csv")
        if task_name in FOLLOWED:
            write_next_items(opened, load_task(FOLLOWED[task_name]), out / "next.csv")
        key = opened.pseudonym_key
        names = [answer_pseudonym(AnswerId(f"{name}.1"), key) for name in ASSIGNMENTS]
    texts = texts_of(out)
    assert {"README.md", "croissant.json", "report.html", "report.md"} <= {*texts}
    for name, content in texts.items():
        assert ids_in(content, EVERY) == [], name
    # Workers of the next campaign read the cell as it was.
    assert task_name not in FOLLOWED or '"- as seen"' in texts["next.csv"]
    batch = (tmp_path / "batch.csv").read_text()
    assert "copied from" in batch
    assert "Answer.x_" in batch
    assert ids_in(batch, WORKERS) == []
    tables = "".join(text for name, text in texts.items() if name.endswith(".csv"))
    assert all(name in tables for name in names)
    assert task_name in {"crowd_judgement", "pairwise"} or "sleeps" in tables


def test_what_is_known_of_an_item_goes_with_its_new_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels of models and of people have the id that the dataset has."""
    shown: list[tuple[Sequence[Item], DatasetFacts]] = []

    def recorded(
        _table: object, items: Sequence[Item], facts: DatasetFacts, _formats: object
    ) -> dict[str, object]:
        shown.append((items, facts))
        return {}

    monkeypatch.setattr("piecework.results.export.dataset_files", recorded)
    with collected(tmp_path, "congruency") as opened:
        (field,) = opened.campaign.task.label_fields
        value = field.options[0].value
        named = opened.campaign.items[0].item_id
        settle_label(opened, named, field.name, value, by="ada")
        vote = MachineVote(model="m", item_id=named, field=field.name, value=value)
        assess(opened)
        export(replace(opened, campaign=replace(opened.campaign, machine=(vote,))))
    ((items, facts),) = shown
    assert items[0].item_id != named
    assert [*facts.settled] == [(items[0].item_id, field.name)]
    assert [vote.item_id for vote in facts.machine] == [items[0].item_id]


def test_ids_in_evidence_and_reasons_are_hidden_before_these_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short ids in what is said of their worker; no head of an id, and none in HTML's signs."""
    workers = ("o'brien@x.org", "under_line_of_77_workers", "W90")
    monkeypatch.setitem(globals(), "WORKERS", workers)
    with collected(tmp_path, "congruency") as opened:
        assess(opened)
        subjects = [
            answer_id(AssignmentId(ASSIGNMENTS[0]), 1),
            AssignmentId(ASSIGNMENTS[1]),
            WorkerId(workers[2]),
        ]
        made: list[tuple[Finding, Decision]] = []
        kinds: tuple[tuple[SubjectKind, Verdict], ...] = (
            ("answer", "drop"),
            ("assignment", "reject"),
            ("worker", "exclude"),
        )
        for (kind, verdict), subject_id, worker in zip(kinds, subjects, workers, strict=True):
            # The end of a cell, which is cut there.
            words = f"{worker} wrote this. {'x' * 70} {worker} {'y' * 30}"
            made.append(
                (
                    Finding(
                        heuristic="capitals",
                        version=1,
                        subject_kind=kind,
                        subject_id=subject_id,
                        suspicion=1.0,
                        flag=True,
                        evidence=words,
                    ),
                    Decision(
                        subject_kind=kind,
                        subject_id=subject_id,
                        verdict=verdict,
                        decided_by="ada",
                        decided_at=NOON,
                        because=words,
                    ),
                )
            )
        for finding, decision in made:
            findings.replace(
                opened.store, [finding], subjects={finding.subject_kind: [finding.subject_id]}
            )
            decisions.keep_decisions(opened.store, [decision])
            facts = report_facts(opened)
            of_subject = facts.findings["evidence"].str.contains("wrote this")
            texts = [*facts.findings.loc[of_subject, "evidence"], *facts.decisions["because"]]
            export(opened)
            out = opened.campaign.out
            texts += [(out / name).read_text() for name in ("report.html", "report.md")]
            heads = ("o'brien", "o&#39;brien", "under\\_l", "under_l", "W90 wrote")
            for text in texts:
                assert [
                    text[max(text.find(head) - 40, 0) :][:80] for head in heads if head in text
                ] == []
