"""Replace ids of workers and assignments by keyed hashes before they leave the store.

Participants' own answers leave it only as counts.
"""

import hashlib
import hmac
import re
from collections.abc import Sequence

from piecework.analyses.votes import answers_that_count
from piecework.domain.column_names import OF_PARTICIPANTS
from piecework.domain.field import Field
from piecework.domain.ids import AnswerId, AssignmentId, WorkerId, answer_id
from piecework.domain.imported import UNNAMED
from piecework.domain.late_modules import pd
from piecework.domain.tables import value_column

_HEX_CHARACTERS = 16
"""64 bits: the probability that two of 100,000 workers collide is below 1e-9."""

_PSEUDONYM = re.compile(f"(?:{UNNAMED})?(?:[0-9a-f]{{16}}|[0-9a-f]{{32,64}})")
"""Of piecework, or longer ones of another program. Prolific's own ids have 24."""


def is_pseudonym(name: str) -> bool:
    """Return whether a text can be a keyed hash in hex.

    >>> is_pseudonym("A1B2C3D4E5F6G7"), is_pseudonym("0123456789abcdef")
    (False, True)
    >>> is_pseudonym("unnamed:0123456789abcdef")
    True
    """
    return _PSEUDONYM.fullmatch(name) is not None


def pseudonym(worker_id: WorkerId, key: bytes) -> str:
    """Return 16 hex characters for a worker, the same for the same key.

    The prefix `unnamed:` means that an imported file did not name the worker.

    Raises:
        ValueError: the key is empty, so the hash would protect no worker.
    """
    unnamed = UNNAMED if worker_id.startswith(UNNAMED) else ""
    return unnamed + _keyed_hash(worker_id, key)


def pseudonyms(worker_ids: "pd.Series[str]", key: bytes) -> "pd.Series[str]":
    """Return the pseudonyms of a column of worker ids, computing each once."""
    different = worker_ids.unique().tolist()
    return worker_ids.map(
        {worker: pseudonym(WorkerId(worker), key) for worker in different}
    ).astype("str")


def assignment_pseudonym(assignment_id: AssignmentId, key: bytes) -> AssignmentId:
    """Return 16 hex characters for an assignment, the same for the same key.

    Raises:
        ValueError: the key is empty.
    """
    # A worker and an assignment with the same id have different pseudonyms.
    return AssignmentId(_keyed_hash(f"assignment {assignment_id}", key))


def answer_pseudonym(private: AnswerId, key: bytes) -> AnswerId:
    """Return an answer's id with the pseudonym of its assignment.

    >>> answer_pseudonym(AnswerId("A1.B2.3"), b"key").rpartition(".")[2]
    '3'
    """
    assignment_id, _, position = private.rpartition(".")
    if not position.isdecimal():  # of a file that another program wrote
        return AnswerId(assignment_pseudonym(AssignmentId(private), key))
    return answer_id(assignment_pseudonym(AssignmentId(assignment_id), key), int(position))


def _keyed_hash(name: str, key: bytes) -> str:
    if not key:
        raise ValueError("the key of the pseudonyms is empty")
    digest = hmac.new(key, name.encode(), hashlib.sha256).hexdigest()
    return digest[:_HEX_CHARACTERS]


LEAST = 5
"""Smaller numbers of people are hidden (our choice; statistical offices usually use a
threshold between 3 and 10)."""

HIDDEN = "hidden"


def participants(table: "pd.DataFrame", fields: Sequence[Field]) -> "pd.DataFrame":
    """Return a row per option of each personal field: `field`, `value`, `participants`.

    Only workers with answers that count are counted; `participants` (str) is a number
    or `hidden`. Questions that a worker left out are in no row.
    """
    rows: list[tuple[str, str, str]] = []
    people = answers_that_count(table).drop_duplicates("worker")
    for field in fields:
        if not field.is_personal:
            continue
        values = people[value_column(field)].tolist()
        counts = {option.value: values.count(option.value) for option in field.options}
        rows += [(field.name, value, number) for value, number in _disclosed(counts).items()]
    return pd.DataFrame(rows, columns=list(OF_PARTICIPANTS), dtype="str")


def _disclosed(counts: dict[str, int]) -> dict[str, str]:
    """Hide small numbers.

    Numbers from 1 to `LEAST` - 1 are hidden, then the next smallest, until at least two
    are hidden that stand for at least `LEAST` people.

    >>> _disclosed({"a": 30, "b": 12, "c": 2, "d": 0})
    {'a': '30', 'b': 'hidden', 'c': 'hidden', 'd': '0'}
    """
    in_order = sorted(filter(counts.__getitem__, counts), key=counts.__getitem__)
    hidden = [value for value in in_order if counts[value] < LEAST]
    for value in in_order[len(hidden) :]:
        behind = sum(counts[option] for option in hidden)
        if not hidden or (len(hidden) > 1 and behind >= LEAST):
            break
        hidden.append(value)
    return {value: HIDDEN if value in hidden else str(count) for value, count in counts.items()}
