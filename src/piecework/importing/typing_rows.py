"""Rows of files as assignments with typed answers, as the campaign's task says."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping

from piecework.domain.assignment import Answer, AssignmentStatus
from piecework.domain.campaign import Campaign
from piecework.domain.ids import AssignmentId, HitId, ItemId, WorkerId
from piecework.domain.imported import UNNAMED
from piecework.domain.task import GOLD, Task
from piecework.hit_templates.answers import MEASURES, read_answers
from piecework.hit_templates.values import SEPARATOR
from piecework.importing.parts import ITEM_ID, Part, item_of, measures, split
from piecework.importing.readers.rows import ImportedRow, RowPart
from piecework.postprocess.pseudonyms import pseudonym
from piecework.store.imports import ImportedAssignment

_DIGEST = 24
_KEYS = "keystrokes.1"
"""What only a page of ours counts."""

_STATUS: Mapping[str, AssignmentStatus] = {
    "approved": "Approved",
    "accepted": "Approved",
    "rejected": "Rejected",
    "soft_rejected": "Rejected",
}


class RowTyper:
    """Types the rows of one campaign."""

    def __init__(self, campaign: Campaign) -> None:
        assert campaign.imported is not None  # noqa: S101 - the caller has looked
        self._task, self._reading = campaign.task, campaign.imported
        self.key = campaign.task.columns[0]

    def items(self, row: ImportedRow) -> list[dict[str, str]]:
        """The items that a row is about, with their ids under the task's name."""
        parts, _ = split(row, self._reading)
        return [self._item(part, row) for part in parts]

    def assignment(self, row: ImportedRow, ids: "RowIds") -> ImportedAssignment:
        """A row as an assignment."""
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
            # What no file says is unknown: no wage may be made of it.
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

    def answers(
        self, row: ImportedRow, assignment_id: AssignmentId
    ) -> tuple[Answer, ...]:
        """The typed answers of a row."""
        parts, once = split(row, self._reading)
        items = [self._item(part, row) for part in parts]
        item_ids = tuple(ItemId(item[self.key]) for item in items)
        return read_answers(
            self._task,
            assignment_id,
            item_ids,
            self._wire(row, parts, once, item_ids),
            columns=dict(zip(item_ids, items, strict=True)),
            is_own_page=_KEYS in row.sent,
        )

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
        """The answers by the names that pages of ours send them under."""
        wire = measures(row)
        for part, item_id in zip(parts, item_ids, strict=True):
            wire[f"item.{part.position}"] = item_id
            for name in MEASURES:
                if name in part.sent:
                    wire[f"{name}.{part.position}"] = part.sent[name]
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

    def _sent(self, name: str, sent: Mapping[str, str]) -> str | None:
        known = next(field for field in self._task.fields if field.name == name)
        column = self._reading.answers.get(name) or known.sent_as or name
        text = sent.get(column)
        if text is None or known.kind == "text":
            return text
        text = self._reading.values.get(text.strip(), text.strip())
        values = {option.value.casefold(): option.value for option in known.options}
        if known.kind == "choice":
            return values.get(text.casefold(), text)
        if known.kind == "choices":
            ticked = (
                values.get(label.casefold(), label) for label in text.split(SEPARATOR)
            )
            return SEPARATOR.join(value for value in ticked if value)
        return text


class RowIds:
    """Ids of assignments; where a file has none, they are made of what a row says.

    So the same file read again gives the same ids. Equal rows of one file are
    different assignments: two people may have said the same.

    Args:
        key: of the pseudonyms, one of which stands for a worker whose id is part of an
            assignment's: datasets repeat assignments' ids, and never a worker's.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._seen: Counter[bytes] = Counter()

    def of(self, row: ImportedRow, raw: str) -> AssignmentId:
        """The id of the next row."""
        if row.assignment_id:
            return AssignmentId(self._without_worker(row))
        identifying = [row.hit_id, row.worker_id, str(row.submitted_at), raw]
        digest = hashlib.sha256("\n".join(identifying).encode(errors="replace"))
        key = digest.digest()[:12]
        self._seen[key] += 1
        number = self._seen[key]
        name = f"row_{digest.hexdigest()[:_DIGEST]}"
        return AssignmentId(name if number == 1 else f"{name}_{number}")

    def _without_worker(self, row: ImportedRow) -> str:
        if not row.worker_id or row.worker_id not in row.assignment_id:
            return row.assignment_id
        # Readers join what tells assignments apart by slashes.
        part = rf"(?:^|(?<=/)){re.escape(row.worker_id)}(?=/|$)"
        name = pseudonym(WorkerId(row.worker_id), self._key)
        return re.sub(part, name, row.assignment_id)


def row_of(raw: str) -> ImportedRow:
    """The row that was kept: what was shown, and what was sent."""
    document = json.loads(raw)
    return ImportedRow(
        line=0,
        hit_id=document.get("hit", ""),
        shown=document["shown"],
        sent=document["sent"],
        parts=tuple(RowPart(*part) for part in document.get("parts", ())),
    )


def _raw(row: ImportedRow) -> str:
    document: dict[str, object] = {
        "hit": row.hit_id,
        "shown": dict(row.shown),
        "sent": dict(row.sent),
    }
    if row.parts:
        document["parts"] = [[dict(part.shown), dict(part.sent)] for part in row.parts]
    # SQLite keeps no half of a pair of surrogates.
    return json.dumps(document, ensure_ascii=True)


def _match_gold(item: dict[str, str], task: Task) -> None:
    """Leave out expected answers that are none of the field's options."""
    for field in task.item_fields:
        expected = item.get(GOLD + field.name)
        if expected is None or not field.options:
            continue
        values = {option.value.casefold(): option.value for option in field.options}
        if (known := values.get(expected.strip().casefold())) is None:
            del item[GOLD + field.name]
        else:
            item[GOLD + field.name] = known
