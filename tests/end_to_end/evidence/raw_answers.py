"""What workers sent, read from the store's verbatim answers by plain Python.

Nothing of `qc`, of `piecework.domain.tables` or of the typed answers is used: what is
reckoned from these rows is reckoned beside the pipeline.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree as ET

_NUMBERED = re.compile(r"(.+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """One worker's answer about one item, as the form sent it.

    Attributes:
        sent: by name of the field, without the item's number.
        hit_sent: what the form sent once for the HIT.
        page_seconds: all items of the HIT were shown, divided by their number.
        market_seconds: from accepting to submitting, divided by the same.
    """

    answer_id: str
    assignment_id: str
    worker_id: str
    item_id: str
    batch: int
    n_items: int
    submitted_at: datetime
    sent: Mapping[str, str]
    hit_sent: Mapping[str, str]
    page_seconds: float
    market_seconds: float

    @property
    def shown_seconds(self) -> float:
        """How long the item was shown."""
        return int(self.sent["shown_ms"]) / 1000

    def count(self, name: str) -> int:
        """A number that the page measured."""
        return int(self.sent[name])


def read(connection: sqlite3.Connection) -> list[RawAnswer]:
    """All answers, in the order of their ids."""
    rows = connection.execute(
        "SELECT assignment_id, raw, worker_id, accepted_at, submitted_at, batch, "
        "item_ids FROM raw_answers JOIN assignments USING (assignment_id) "
        "JOIN hits USING (hit_id) ORDER BY assignment_id"
    )
    return [answer for row in rows for answer in _of_assignment(*row)]


def _of_assignment(
    assignment_id: str,
    raw: str,
    worker_id: str,
    accepted: str,
    submitted: str,
    batch: int,
    item_ids: str,
) -> Iterable[RawAnswer]:
    sent = {
        answer[0].text or "": answer[1].text or ""
        for answer in ET.fromstring(raw)  # noqa: S314 - our own marketplace's
    }
    of_item: dict[int, dict[str, str]] = {}
    of_hit: dict[str, str] = {}
    for name, value in sent.items():
        if numbered := _NUMBERED.fullmatch(name):
            of_item.setdefault(int(numbered[2]), {})[numbered[1]] = value
        else:
            of_hit[name] = value
    n_items = item_ids.count('"') // 2
    assert len([values for values in of_item.values() if "item" in values]) == n_items
    shown = sum(int(values.get("shown_ms", 0)) for values in of_item.values()) / 1000
    seconds = datetime.fromisoformat(submitted) - datetime.fromisoformat(accepted)
    for number in range(1, n_items + 1):
        yield RawAnswer(
            answer_id=f"{assignment_id}.{number}",
            assignment_id=assignment_id,
            worker_id=worker_id,
            item_id=of_item[number]["item"],
            batch=batch,
            n_items=n_items,
            submitted_at=datetime.fromisoformat(submitted),
            sent=of_item[number],
            hit_sent=of_hit,
            page_seconds=shown / n_items,
            market_seconds=seconds.total_seconds() / n_items,
        )


def firsts(answers: Iterable[RawAnswer]) -> list[RawAnswer]:
    """Of each worker's answers about an item the first."""
    known: dict[tuple[str, str], RawAnswer] = {}
    for answer in sorted(
        answers, key=lambda raw_answer: (raw_answer.submitted_at, raw_answer.answer_id)
    ):
        known.setdefault((answer.worker_id, answer.item_id), answer)
    return [*known.values()]


def words(text: str) -> list[str]:
    """The words of a text, as a reader compares two sentences."""
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).lower())
