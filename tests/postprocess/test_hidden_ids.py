"""Where an id of a worker is replaced, and where a text stays as it is."""

import pytest

from piecework.domain.ids import WorkerId
from piecework.postprocess.hidden_ids import HiddenIds
from piecework.postprocess.pseudonyms import pseudonym
from tests.for_each import for_each

KEY = b"key"
WORKERS = ("A1B2C3D4E5F6G7", "5f0c1e2d3b4a596877665544", "W0", "7", "worker", "a@b.org")
IDS = HiddenIds(WORKERS, KEY)


@for_each(
    ("worker", "text"),
    [
        ("A1B2C3D4E5F6G7", "@@"),
        ("A1B2C3D4E5F6G7", "my id is @@, thanks"),
        ("A1B2C3D4E5F6G7", "x@@x"),
        ("W0", "@@:A000"),
        ("W0", '{"workerId": "@@"}'),
        ("W0", "https://a.org/?workerId=@@&x=1"),
        ("7", '{"worker_id": "@@", "n": 77}'),
        ("7", "https://a.org/7/?PROLIFIC_PID=@@#7"),
        ("worker", "a worker wrote workerId=@@"),
        ("a@b.org", "mail a@b.org.uk or @@"),
    ],
)
def test_an_id_is_replaced_in_its_workers_rows(worker: str, text: str) -> None:
    """In any case of letters, alone, in JSON, in addresses and in sentences."""
    name = pseudonym(WorkerId(worker), KEY)
    for spelled in (worker, worker.lower(), worker.upper()):
        hidden = IDS.of_worker(text.replace("@@", spelled), worker)
        assert hidden == text.replace("@@", name).replace("a@b.org", name)


@pytest.mark.parametrize(
    ("worker", "text"),
    [
        ("7", "7"),
        ("7", "7 dogs, 17 cats"),
        ("worker", "a worker in a field"),
        ("W0", "W01 and xW0"),
        ("7", "W0"),
    ],
)
def test_a_word_stays(worker: str, text: str) -> None:
    """An id that is also a word or a number does not change texts."""
    assert IDS.of_worker(text, worker) == text


def test_a_distinctive_id_is_replaced_in_every_row() -> None:
    """People name each other; short ids are replaced in their own rows only."""
    text = "ask 5F0C1E2D3B4A596877665544 or W0"
    name = pseudonym(WorkerId(WORKERS[1]), KEY)
    assert IDS.everywhere(text) == f"ask {name} or W0"


def test_a_column_of_ids_is_known_by_its_cells() -> None:
    """Two workers at least; one cell without its id, and it is no such column."""
    assert IDS.holds_own(["7", "", "worker"], ["7", "W0", "worker"])
    assert not IDS.holds_own(["7", "7"], ["7", "7"])
    assert not IDS.holds_own(["7", "W0", "1"], ["7", "W0", "worker"])
