"""What a worker's form sends is in the store, the dataset and the batch results."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from piecework.domain.assignment import fields_of
from piecework.domain.column_names import MEASURES, OF_DATASETS, ON_THE_PAGE
from piecework.domain.ids import AnswerId, AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.engine.run_pass import run_pass
from piecework.marketplace.workers.hit_forms import OWN, RESERVED
from piecework.platforms.clocks import VirtualClock
from piecework.postprocess.datasets.file_table import to_csv
from piecework.postprocess.datasets.layouts import sent_columns
from piecework.postprocess.pseudonyms import answer_pseudonym
from piecework.results.export import export, write_batch_results
from piecework.results.table import answers_table
from piecework.simulation.crowd.browser import Page
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.crowd.people import Person
from piecework.simulation.crowd.site import WorkerSite
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of
from piecework.store import assignments
from tests.campaign.test_own_page import written

Form = Sequence[tuple[str, str]]

PAGE = """<p>${image_url} <input name="color"> <input type="number" name="how-many">
<label><input type="radio" name="ok" value="yes"> yes</label>
<label><input type="radio" name="ok" value="no"> no</label></p>"""
REPEATED = sorted({*RESERVED} - {OWN})
"""What a form says of the platform's; with `OWN` of another's work it is refused."""

NAMES = st.one_of(
    st.sampled_from((*sorted(OF_DATASETS | ON_THE_PAGE), *REPEATED, "color", "how-many")),
    st.sampled_from(("ok", "ok.yes", "item.1", "pastes.1", "typing.1", "taskAnswer")),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
VALUES = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.sampled_from(("", "7", "=1+1", "yes", "\0", "a\r\nb", "1|2", "x" * 20_000)),
)
FORMS = st.lists(st.lists(st.tuples(NAMES, VALUES), max_size=12), min_size=4, max_size=4)
ADDED = {"item.1": lambda text: "|" not in text} | dict.fromkeys(
    (f"{name}.1" for name in MEASURES), str.isdecimal
)
AT_ONCE = [
    [(f"q{'.' * n}", f"{n}") for n in range(200)],
    [("色", "red"), ("形", "round"), ("色", "blue"), ("a\0", "1"), ("a\1", "2")],
    [("how-many", "some"), ("item.1", "x"), ("pastes.1", "y"), ("color", "")],
    [("width", "1"), ("sent_more", "2"), ("edit1", "3\n4"), ("Edit1", "5")],
]
CHOSEN = [[("ok", text) for text in texts] for texts in (("", "1|2"), ("yes", "1|2"), ("", "no"))]


class Program:
    """A worker's program: it sends forms of its own with what the page adds."""

    def __init__(self, forms: Sequence[Form]) -> None:
        self._left = list(forms)
        self.sent: dict[str, dict[str, list[str]]] = {}

    def knows(self, item_id: ItemId) -> bool:
        """Return whether anything is left to send."""
        return bool(item_id)

    def fill_in(
        self,
        page: Page,
        assignment_id: AssignmentId,
        *,
        person: Person,  # noqa: ARG002 - of the port
        shown_ms: Sequence[int],
        seed: int,  # noqa: ARG002 - of the port
    ) -> dict[str, list[str]]:
        """Return the next form."""
        form = {"item.1": [str(page.item_ids[0])], "shown_ms.1": [str(shown_ms[0])]}
        for name in ("pastes.1", "keystrokes.1", "focus_losses.1"):
            form[name] = ["0"]
        for name, value in self._left.pop() if self._left else ():
            form.setdefault(name, []).append(value)
        self.sent[assignment_id] = form
        return form


def carried(text: str) -> str:
    """What XML carries of a text, by XML 1.0, section 2.2."""
    return "".join(
        char if char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff") else "\ufffd"
        for char in text
    )


def in_csv(text: str) -> str:
    """A cell as CSV shows it: harmless in a spreadsheet."""
    return list(csv.reader(io.StringIO(to_csv({"c": [text]}).decode(), newline="")))[1][0]


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@dataclass
class Arrived:
    """What became of forms: documents, tables and files, by assignment."""

    sent: Mapping[str, Mapping[str, Sequence[str]]]
    documents: Mapping[AssignmentId, str]
    platform: Mapping[str, set[str]]
    table: pd.DataFrame
    undeclared: Mapping[str, int]
    answers: Mapping[str, Mapping[str, str]]
    batch: Mapping[str, Mapping[str, str]]
    task: Task


def arrived(folder: Path, forms: Sequence[Form]) -> Arrived:
    """Send forms to a marketplace, one by each worker, and export what came."""
    path = written(folder, html=PAGE, rows=2)
    path.write_text(path.read_text().replace("answers = 3", "answers = 2"))
    campaign, program = prepare(path), Program(forms)
    with rehearsal_of(campaign) as (run, _):
        run_pass(run)
        clock = VirtualClock(run.endpoint)
        site = WorkerSite(run.endpoint, clock.now())
        plan, task = campaign.rehearsal, campaign.task
        with Crowd(plan, task, site=site, answering=program, clock=clock) as crowd:
            crowd.work_until()
        run_pass(run)
        export(run)
        write_batch_results(run, folder / "batch.csv")
        kept = assignments.load_assignments(run.store)
        dataset = folder / "out/birds/dataset"
        answers_of = {
            name: answer_pseudonym(AnswerId(f"{name}.1"), run.pseudonym_key)
            for name in program.sent
        }
        tables = [rows_of(dataset / f"{name}.csv") for name in ("answers", "set_aside")]
        return Arrived(
            sent=program.sent,
            documents=assignments.documents(run.store),
            platform={a.assignment_id: {*a.platform_ids.values()} for a in kept},
            table=answers_table(run),
            undeclared=assignments.names_also_sent(run.store),
            answers={
                assignment_id: row
                for row in chain(*tables)
                for assignment_id in program.sent
                if row["answer_id"] == answers_of[assignment_id]
            },
            batch={row["AssignmentId"]: row for row in rows_of(folder / "batch.csv")},
            task=task,
        )


def wire_of(form: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What a requester receives of a form: MTurk's own fields are no answers."""
    wire: dict[str, list[str]] = {}
    for name, values in form.items():
        if name != OWN:
            wire.setdefault(carried(name), []).extend(map(carried, values))
    return {name: "|".join(values) for name, values in wire.items()}


def cell_of(name: str, row: Mapping[str, str], all_of: Arrived) -> str:
    """The cell of the dataset that holds what came under a name."""
    columns = sent_columns(all_of.table, all_of.task)
    field = next((f for f in all_of.task.fields if f.sent_as == name), None)
    if field is None:
        return row[columns.get(name) or columns[name.removesuffix(".1")]]
    # What a field could not hold has a column of its own.
    return row.get(columns.get(name, ""), "") or row[field.name]


@settings(max_examples=max(1, settings().max_examples // 10))
@given(FORMS)
@example(AT_ONCE)
@example([*CHOSEN, []])
def test_nothing_that_was_sent_is_lost(forms: Sequence[Form]) -> None:
    """Each name with its value, from the form to the dataset and the batch results."""
    with TemporaryDirectory() as folder:
        came = arrived(Path(folder), forms)
    assert len(came.answers) == len(came.documents) == len(came.sent) == len(forms)
    assert sent_columns(came.table, came.task).keys() == came.undeclared.keys()
    for assignment_id, form in came.sent.items():
        wire, row = wire_of(form), came.answers[assignment_id]
        assert fields_of(came.documents[AssignmentId(assignment_id)]) == wire
        for name, value in wire.items():
            if name in ADDED and ADDED[name](value):
                continue  # by piecework's script
            if name in RESERVED and value in {"", *came.platform[assignment_id]}:
                continue  # said by the platform, too
            assert came.batch[assignment_id][f"Answer.{name}"] == in_csv(value)
            cell = cell_of(name, row, came)
            if name in ADDED and name == "item.1":
                value = value.partition("|")[2]  # noqa: PLW2901 - the item's id comes first
            # An empty text chooses nothing.
            wanted = "|".join(filter(None, value.split("|"))) if name == "ok" else value
            is_number = name == "how-many" and cell and cell != in_csv(value)
            assert cell == in_csv(wanted) or (is_number and float(cell) == float(value))
    # Nothing undeclared breaks a rule: the page has none.
    problems = {problem for cell in came.table["problems"] for problem in cell}
    assert {problem.partition(":")[0] for problem in problems} <= {
        *("missing", "not_a_number", "unknown_option", "out_of_range")
    }
