"""Where an id of a worker is replaced, and where a text stays as it is."""

import json

import pytest

from piecework.domain.ids import AssignmentId, WorkerId
from piecework.postprocess.hidden_ids import HiddenIds
from piecework.postprocess.pseudonyms import assignment_pseudonym, pseudonym
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


@for_each("letter", ["ß", "ẞ", "ﬁ", "İ", "ΐ"])
def test_a_letter_that_folds_to_several_hides_no_id(letter: str) -> None:
    """One such letter stands anywhere in a text, in a page of many texts, or in an id."""
    own = f"Stra{letter}e77x"
    ids = HiddenIds([*WORKERS, own], KEY)
    name, own_name = (pseudonym(WorkerId(each), KEY) for each in (WORKERS[1], own))
    text = f"{letter} by {WORKERS[1].upper()}, {own} and STRA{letter}E77X {letter}"
    hidden = f"{letter} by {name}, {own_name} and {own_name} {letter}"
    assert ids.everywhere(text) == hidden
    assert ids.of_worker(text, WORKERS[1]) == hidden
    assert ids.of_worker(f"{letter} w0 {letter}", "W0").split()[1] == pseudonym(WorkerId("W0"), KEY)
    assert ids.named("pid", f"STRA{letter}E77X") == own_name
    assert ids.holds_own([f"{letter} 7", f"{letter} WORKER"], ["7", "worker"])


ASSIGNMENT = "60f2A7c1d9e8b0a1c2d3e4f5"


@for_each("text", ["@@", "W0:@@", "https://a.org/?SESSION_ID=@@&x=1"])
def test_an_assignments_id_is_replaced_in_every_row(text: str) -> None:
    """By another pseudonym than a worker's; short ids are numbers as others are."""
    ids = HiddenIds(WORKERS, KEY, assignment_ids=[ASSIGNMENT, "row_17", "12345678"])
    name = assignment_pseudonym(AssignmentId(ASSIGNMENT), KEY)
    assert name != pseudonym(WorkerId(ASSIGNMENT), KEY)
    for spelled in (ASSIGNMENT, ASSIGNMENT.upper()):
        shown = ids.everywhere(text.replace("@@", spelled))
        assert shown == text.replace("@@", name)
    assert ids.everywhere("row_17, 12345678") == "row_17, 12345678"


def test_what_was_sent_has_no_ids_in_names_and_cells() -> None:
    """As JSON writes them; a short id under a name that says so, and nothing else."""
    name = pseudonym(WorkerId("7"), KEY)
    sent = {"workerId": "7", "user_rating": "7", "a@b.org": "é A1B2C3D4E5F6G7"}
    shown = json.loads(IDS.sent(json.dumps(sent), "7"))
    assert shown["workerId"] == name
    assert shown["user_rating"] == "7"
    others = [pseudonym(WorkerId(each), KEY) for each in (WORKERS[5], WORKERS[0])]
    assert shown[others[0]] == f"é {others[1]}"


def test_ids_that_begin_alike_are_looked_for_by_what_differs() -> None:
    """A text with the tool's name is not compared with each of its ids."""
    ids = HiddenIds([f"annotator_{n:06}" for n in range(5000)], KEY)
    assert max(map(len, ids._by_part.values())) == 1
    name = pseudonym(WorkerId("annotator_004711"), KEY)
    assert ids.everywhere("Annotator_004711 is an annotator_") == (f"{name} is an annotator_")


def test_a_column_of_ids_is_known_by_its_cells() -> None:
    """Two workers at least; one cell without its id, and it is no such column."""
    assert IDS.holds_own(["7", "", "worker"], ["7", "W0", "worker"])
    assert not IDS.holds_own(["7", "7"], ["7", "7"])
    assert not IDS.holds_own(["7", "W0", "1"], ["7", "W0", "worker"])
