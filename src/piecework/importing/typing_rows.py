"""Convert rows of files to assignments with typed answers for the campaign's task."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from piecework.domain.assignment import Answer, AssignmentStatus
from piecework.domain.campaign import Campaign
from piecework.domain.field import MERGED, Field
from piecework.domain.ids import AssignmentId, HitId, ItemId, WorkerId
from piecework.domain.imported import UNNAMED
from piecework.domain.task import GOLD, Task
from piecework.hit_templates.answers import OF_THE_HIT, SEPARATOR, read_answers
from piecework.hit_templates.own_html.control_kinds import is_reserved
from piecework.importing.parts import ITEM_ID, Part, is_wired, item_of, measures, split
from piecework.importing.readers.crowd_form import labels_in
from piecework.importing.readers.rows import OF_FILE, ImportedRow, RowPart
from piecework.importing.survey import split_options
from piecework.postprocess.pseudonyms import pseudonym
from piecework.store.imports import ImportedAssignment

_DIGEST = 24
_KEYS = "keystrokes.1"
"""Measurements that only pages of piecework make."""

_LISTS_OF_MARKS = {*MERGED.values(), "labelMappings", "instances"} - {MERGED["masks"]}

_STATUS: Mapping[str, AssignmentStatus] = {
    "approved": "Approved",
    "accepted": "Approved",
    "rejected": "Rejected",
    "soft_rejected": "Rejected",
}


class RowTyper:
    """Converts the rows of one campaign."""

    def __init__(self, campaign: Campaign) -> None:
        assert campaign.imported is not None  # noqa: S101 - the caller has looked
        self._task, reading = campaign.task, campaign.imported
        # The campaign file states expected answers by the files' names, too.
        names = {field.sent_as: field.name for field in campaign.task.fields}
        gold = {names.get(name, name): cell for name, cell in reading.gold.items()}
        self._reading = replace(reading, gold=gold)
        self._names = frozenset(map(self._column, campaign.task.fields))
        self.key = campaign.task.columns[0]
        self._tasks: dict[frozenset[str], Task] = {}

    def items(self, row: ImportedRow) -> list[dict[str, str]]:
        """Return the items of a row, with their ids in the task's column."""
        parts, _ = split(row, self._reading, self._names)
        return [self._item(part, row) for part in parts]

    def assignment(self, row: ImportedRow, ids: "RowIds") -> ImportedAssignment:
        """Convert a row to an assignment."""
        raw = _raw(row)
        assignment_id = ids.of(row, raw)
        answers = self.answers(row, assignment_id)
        item_ids = tuple(answer.item_id for answer in answers)
        listed = hashlib.sha256("\n".join(item_ids).encode(errors="replace"))
        return ImportedAssignment(
            assignment_id=assignment_id,
            hit_id=HitId(row.hit_id or f"hit_{listed.hexdigest()[:_DIGEST]}"),
            worker_id=WorkerId(row.worker_id or f"{UNNAMED}{assignment_id}"),
            status=_STATUS.get(row.outcome.lower(), "Submitted"),
            accepted_at=row.accepted_at,
            submitted_at=row.submitted_at,
            # Without times in a file, they are unknown: no wage may be computed.
            reward_cents=row.reward_cents or 0,
            item_ids=item_ids,
            raw=raw,
            answers=answers,
            outcomes={
                answer.answer_id: row.outcomes.get(answer.position, row.outcome)
                for answer in answers
            },
            feedback=row.feedback,
        )

    def answers(self, row: ImportedRow, assignment_id: AssignmentId) -> tuple[Answer, ...]:
        """Return the typed answers of a row."""
        parts, once = split(row, self._reading, self._names)
        items = [self._item(part, row) for part in parts]
        item_ids = tuple(ItemId(item[self.key]) for item in items)
        wire = self._wire(row, parts, once, item_ids)
        return read_answers(
            self._task if is_wired(row) else self._as_asked(wire),
            assignment_id,
            item_ids,
            wire,
            columns=dict(zip(item_ids, items, strict=True)),
            is_own_page=_KEYS in row.sent,
            more=self._more(parts, once),
        )

    def _as_asked(self, wire: Mapping[str, str]) -> Task:
        """Return the task without rules about what the other page did not ask.

        Files name every question that was asked, also if a worker left it out.
        """
        names = {name.removeprefix("hit.").partition(".")[0] for name in wire}
        asked = frozenset(names & {field.name for field in self._task.fields})
        if asked not in self._tasks:
            self._tasks[asked] = replace(
                self._task,
                fields=tuple(
                    field if field.name in asked else replace(field, optional=True)
                    for field in self._task.fields
                ),
                rules=tuple(rule for rule in self._task.rules if rule.field in asked),
            )
        return self._tasks[asked]

    def _item(self, part: Part, row: ImportedRow) -> dict[str, str]:
        item = item_of(part, row, self._reading)
        _match_gold(item, self._task)
        if self.key != ITEM_ID:
            item[self.key] = item.get(self.key) or item[ITEM_ID]
        return item

    def _wire(
        self,
        row: ImportedRow,
        parts: list[Part],
        once: Mapping[str, str],
        item_ids: tuple[ItemId, ...],
    ) -> dict[str, str]:
        """Return the answers by the names that piecework's pages use."""
        wire = measures(row)
        for part, item_id in zip(parts, item_ids, strict=True):
            wire[f"item.{part.position}"] = item_id
            for name, cell in part.measured.items():
                wire[f"{name}.{part.position}"] = cell
            for field in self._task.item_fields:
                sent = self._sent(field.name, part.sent)
                if sent is not None:
                    wire[f"{field.name}.{part.position}"] = sent
        of_hit = once or (parts[0].sent if parts else {})
        for field in self._task.hit_fields:
            sent = self._sent(field.name, of_hit)
            if sent is not None:
                wire[f"hit.{field.name}"] = sent
        return wire

    def _more(self, parts: list[Part], once: Mapping[str, str]) -> dict[int, dict[str, str]]:
        """Return the answers that are no field of the task, by position."""
        columns = {*self._names, *OF_THE_HIT}
        cells = {0: once} | {part.position: part.sent for part in parts}
        return {
            position: {
                name: text
                for name, text in sent.items()
                if name not in columns and text and not is_reserved(name)
            }
            for position, sent in cells.items()
        }

    def _column(self, field: Field) -> str:
        """Return the name of a field's answers in the files."""
        name = field.sent_as or field.name
        return self._reading.answers.get(name, name)

    def _sent(self, name: str, sent: Mapping[str, str]) -> str | None:
        known = next(field for field in self._task.fields if field.name == name)
        text = sent.get(self._column(known))
        if text is None or known.kind == "text":
            return text
        values = {option.value.casefold(): option.value for option in known.options}
        text = text.strip()
        labels = None if text.casefold() in values else labels_in(text)
        text = text if labels is None else labels.text
        text = self._reading.values.get(text, text)
        if known.kind == "number":
            return text
        ticked = [text] if known.kind == "choice" else split_options(text)
        meant = (self._reading.values.get(label, label) for label in ticked)
        return SEPARATOR.join(values.get(label.casefold(), label) for label in meant if label)


class RowIds:
    """Ids of assignments; if a file has none, they are derived from the row's content.

    So reading the same file again gives the same ids. Identical rows of one file are
    different assignments: two people may have given the same answers.

    Args:
        key: the key of the pseudonyms. A pseudonym replaces a worker id in an
            assignment id of a file, because findings name assignments but never workers.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._seen: Counter[bytes] = Counter()

    def of(self, row: ImportedRow, raw: str) -> AssignmentId:
        """Return the id of the next row."""
        if row.assignment_id:
            return AssignmentId(self._without_worker(row))
        at = row.submitted_at
        if row.worker_id.startswith(OF_FILE):
            # A second person's file of this name is found out by its other answer.
            at, raw = None, json.dumps(dict(row.shown))
        identifying = [row.hit_id, row.worker_id, str(at), raw]
        digest = hashlib.sha256("\n".join(identifying).encode(errors="replace"))
        key = digest.digest()[:12]
        self._seen[key] += 1
        number = self._seen[key]
        name = f"row_{digest.hexdigest()[:_DIGEST]}"
        return AssignmentId(name if number == 1 else f"{name}_{number}")

    def _without_worker(self, row: ImportedRow) -> str:
        if row.is_id_made or not row.worker_id or row.worker_id not in row.assignment_id:
            return row.assignment_id
        part = rf"(?<![^\W_]){re.escape(row.worker_id)}(?![^\W_])"
        name = pseudonym(WorkerId(row.worker_id), self._key)
        return re.sub(part, name, row.assignment_id)


def row_of(raw: str) -> ImportedRow:
    """Return the stored row: what was shown and what was sent."""
    document = json.loads(raw)
    return ImportedRow(
        line=0,
        hit_id=document.get("hit", ""),
        shown=document["shown"],
        sent=document["sent"],
        parts=tuple(RowPart(*part) for part in document.get("parts", ())),
    )


def is_same_row(before: str, raw: str) -> bool:
    """Return whether a stored row and a row of a later file differ at most in empty answers.

    Readers add an empty list of marks if other rows of the file show that marks were asked.
    """
    return before == raw or _without_empty(before) == _without_empty(raw)


def _without_empty(raw: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(raw)
    row = row_of(raw)
    document["sent"] = _filled(row.sent)
    document["parts"] = [part._replace(sent=_filled(part.sent)) for part in row.parts]
    return document


def _filled(sent: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in sent.items() if text and not _is_without_marks(text)}


def _is_without_marks(text: str) -> bool:
    try:
        document = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return False
    lists = [document[name] for name in _LISTS_OF_MARKS & document.keys()]
    return bool(lists) and not any(lists)


def _raw(row: ImportedRow) -> str:
    document: dict[str, object] = {
        "hit": row.hit_id,
        "shown": dict(row.shown),
        "sent": dict(row.sent),
    }
    if row.parts:
        document["parts"] = [list(map(dict, part)) for part in row.parts]
    # SQLite cannot store lone surrogates.
    return json.dumps(document, ensure_ascii=True)


def _match_gold(item: dict[str, str], task: Task) -> None:
    """Drop expected answers that are not among the field's options."""
    for field in task.item_fields:
        expected = item.get(GOLD + field.name)
        if expected is None or not field.options:
            continue
        values = {option.value.casefold(): option.value for option in field.options}
        if (known := values.get(expected.strip().casefold())) is None:
            del item[GOLD + field.name]
        else:
            item[GOLD + field.name] = known
