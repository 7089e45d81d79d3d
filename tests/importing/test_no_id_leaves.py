"""No id of a worker or an assignment leaves the store, whatever tool it comes from."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
import pytest

from tests.importing.batches import row, write
from tests.importing.test_annotation_tools import table
from tests.importing.test_importing import done

WORKERS = ("A1QQ2WW3EE4RR5", "5f0c1e2d3b4a596877665544", "W90", "w91")
FOUR = len(WORKERS)
ROWS = 4 * FOUR
FILES = {"README.md", "answers.csv", "answers.parquet", "croissant.json"}
FILES |= {"items.csv", "items.parquet", "report.html", "report.md"}
XSD = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"

Files = Sequence[object]
"""Files to import, with options between them."""


def worker_of(number: int) -> str:
    """Who gave an answer, in the spelling of the tool's own column."""
    return WORKERS[number % FOUR]


def assignment_of(number: int) -> str:
    """An id as a market makes it."""
    return f"6a0b1c2d3e4f5a6b7c8d9e{number:02}"


def shown(number: int) -> dict[str, str]:
    """An item that four workers see; its columns name two of them."""
    return {
        "picture": f"https://a.org/{WORKERS[0]}/{number // FOUR}.jpg",
        "source": f"by {WORKERS[1].upper()}, number {number // FOUR}",
    }


def sent(number: int, assignment: str = "") -> dict[str, str]:
    """Ids as a column, in JSON, joined, in an address, in a sentence, as a choice."""
    worker, assignment = worker_of(number), assignment or assignment_of(number)
    return {
        "label": ("dog", "cat")[number % 2],
        "workerId": worker,
        "uniqueid": f"{worker}:{assignment}",
        "turk": json.dumps({"workerId": worker, "SESSION_ID": assignment}),
        "from": f"https://a.org/?PROLIFIC_PID={worker.lower()}&n={assignment}",
        "remark": f"This is {worker.upper()}, number {number} of {assignment.upper()}",
        "first": WORKERS[number // FOUR % 2],
    }


def batch(path: Path, number: int, answers: Mapping[str, str]) -> dict[str, str]:
    """A row of MTurk's batch results."""
    cells = row(
        number, worker_of(number), hit=f"HIT{number // FOUR}", shown=shown(number), sent=answers
    )
    feedback = f"{path.name} {assignment_of(number)}"
    return cells | {"AssignmentId": assignment_of(number), "RequesterFeedback": feedback}


def mturk(folder: Path) -> Files:
    """Batch results of MTurk's site."""
    path = folder / "batch.csv"
    return [write(path, [batch(path, n, sent(n)) for n in range(ROWS)])]


def crowd_form(folder: Path) -> Files:
    """Batch results of a page with `<crowd-form>`: an object in one cell."""
    path = folder / "batch.csv"
    answers = [{"taskAnswers": json.dumps([sent(n)])} for n in range(ROWS)]
    return [write(path, [batch(path, n, cell) for n, cell in enumerate(answers)])]


def assignment(number: int) -> dict[str, str]:
    """An assignment as the API gives it."""
    answers = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<FreeText>{escape(text)}</FreeText></Answer>"
        for name, text in sent(number).items()
    )
    return {
        "AssignmentId": assignment_of(number),
        "WorkerId": worker_of(number),
        "HITId": f"HIT{number // FOUR}",
        "AssignmentStatus": "Submitted",
        "AcceptTime": "2019-04-20T11:59:00Z",
        "SubmitTime": "2019-04-20T12:00:00Z",
        "Answer": f'<QuestionFormAnswers xmlns="{XSD}QuestionFormAnswers.xsd">'
        f"{answers}</QuestionFormAnswers>",
    }


def lines(path: Path, documents: Sequence[object]) -> Path:
    """A file with a document a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in documents))
    return path


def api(folder: Path) -> Files:
    """Pages of ListAssignmentsForHIT."""
    return [lines(folder / "api.jsonl", [assignment(n) for n in range(ROWS)])]


def amti(folder: Path) -> Files:
    """A folder with a folder for each HIT."""
    for hit in range(ROWS // FOUR):
        inside = folder / "batch" / "results" / f"hit-HIT{hit}"
        own = [assignment(n) for n in range(hit * FOUR, hit * FOUR + FOUR)]
        lines(inside / "assignments.jsonl", own)
        document = {"HIT": {"HITId": f"HIT{hit}", "Reward": "0.25"}}
        lines(inside / "hit.jsonl", [document])
    return [folder / "batch"]


def simple_amt(folder: Path) -> Files:
    """A line for each assignment."""
    documents = [
        {
            "assignment_id": assignment_of(n),
            "hit_id": f"HIT{n // FOUR}",
            "worker_id": worker_of(n),
            "submit_time": "2019-04-20 12:00:00+00:00",
            "output": [sent(n)],
        }
        for n in range(ROWS)
    ]
    return [lines(folder / "results.txt", documents)]


def vizwiz(folder: Path) -> Files:
    """The packed fields of `hit.results`."""
    rows = [
        {
            "hitid": f"HIT{n // FOUR}",
            "assignmentid": assignment_of(n),
            "workerid": worker_of(n),
            "assignmentstatus": "Submitted",
            "assignmentaccepttime": "Sat Apr 20 06:59:00 CDT 2019",
            "assignmentsubmittime": "Sat Apr 20 07:00:00 CDT 2019",
            "reward": "$0.55",
            "Answer.IMG": f"{n // FOUR}.jpg",
            "Answer.IMG_ST_TIME": "1000",
            "Answer.IMG_END_TIME": "3500",
            "Answer.IMG_CAPTION": f"{sent(n)['remark']} {sent(n)['from']}<END>",
            "Answer.TEXT_DETECT": "Y<END>",
            "Answer.Q_ISSUE": "OTH<END>",
            "Answer.Q_ISSUE_OTH": f"{sent(n)['turk']}<END>",
        }
        for n in range(ROWS)
    ]
    quoted = [
        "\t".join('"{}"'.format(cell.replace('"', '""')) for cell in line)
        for line in (rows[0], *(each.values() for each in rows))
    ]
    (folder / "hit.results").write_text("\n".join(quoted) + "\n")
    return [folder / "hit.results"]


def prolific(folder: Path) -> Files:
    """Prolific's export, joined with a survey that names people and submissions."""
    export = [
        {
            "Submission id": assignment_of(n),
            "Participant id": worker_of(n),
            "Status": "APPROVED",
            "Started at": "2019-04-20T11:59:00Z",
            "Completed at": "2019-04-20T12:00:00Z",
            "Time taken": "60",
            "Completion code": "C1",
            "Remark": sent(n)["remark"],
        }
        for n in range(ROWS)
    ]
    survey = [
        {"PROLIFIC_PID": worker_of(n), "SESSION_ID": assignment_of(n), **sent(n)}
        for n in range(ROWS)
    ]
    return [table(folder / "export.csv", export), table(folder / "s.csv", survey)]


def judgment_of(number: int) -> str:
    """An id as Figure Eight makes it."""
    return f"13120{number:05}"


def figure_eight(folder: Path) -> Files:
    """A full report."""
    rows = [
        {
            "_unit_id": f"90{n // FOUR}",
            "_created_at": "7/12/2014 01:55:49",
            "_id": judgment_of(n),
            "_started_at": "7/12/2014 01:55:25",
            "_channel": "neodev",
            "_trust": "0.83",
            "_worker_id": worker_of(n),
            "_ip": "192.0.2.7",
            **sent(n, judgment_of(n)),
            **shown(n),
        }
        for n in range(ROWS)
    ]
    return [table(folder / "f123.csv", rows)]


def label_studio(folder: Path) -> Files:
    """Tasks with annotations by people with addresses."""
    tasks = [
        {
            "id": 700 + unit,
            "data": shown(unit * FOUR),
            "annotations": [
                {
                    "id": 33120000 + n,
                    "completed_by": {"id": n % FOUR, "email": worker_of(n)},
                    "result": [
                        {
                            "from_name": name,
                            "to_name": "img",
                            "id": f"r{n}",
                            "value": {"text": [text]},
                        }
                        for name, text in sent(n, "-").items()
                    ],
                    "was_cancelled": False,
                    "created_at": "2024-03-09T22:16:08.728353Z",
                    "lead_time": 4.0,
                }
                for n in range(unit * FOUR, unit * FOUR + FOUR)
            ],
        }
        for unit in range(ROWS // FOUR)
    ]
    path = folder / "project.json"
    path.write_text(json.dumps(tasks))
    return [path]


def mapped(folder: Path) -> Files:
    """A table of no known tool, with its columns described."""
    rows = [
        {
            "who": worker_of(n),
            "response": assignment_of(n),
            "image": f"i{n // FOUR}",
            **shown(n),
            **sent(n),
        }
        for n in range(ROWS)
    ]
    answers = "\n".join(f'{name} = "{name}"' for name in sent(0))
    (folder / "columns.toml").write_text(
        'item = ["image", "picture", "source"]\nitem_id = "image"\n'
        '[columns]\nworker = "who"\nassignment = "response"\n'
        f"[answers]\n{answers}\n"
    )
    file = table(folder / "answers.csv", rows)
    return [file, "--columns", folder / "columns.toml"]


def mephisto(folder: Path) -> Files:
    """Units with inputs and outputs."""
    units = [
        {
            "unit_id": 33120000 + n,
            "worker_id": worker_of(n),
            "assignment_id": str(n // FOUR),
            "status": "completed",
            "task_start": 1555761540,
            "task_end": 1555761600,
            "data": {"inputs": shown(n), "outputs": {"final_data": sent(n, "-")}},
        }
        for n in range(ROWS)
    ]
    path = folder / "units.json"
    path.write_text(json.dumps(units))
    return [path]


def potato(folder: Path) -> Files:
    """Lines of an export, and the instances that they are about."""
    names = ("turk", "from", "remark", "uniqueid")
    documents = [
        {
            "instance_id": f"i{n // FOUR}",
            "user_id": worker_of(n),
            "labels": {name: {"text_box": sent(n, "-")[name]} for name in names},
            "spans": {},
            "links": {},
        }
        for n in range(ROWS)
    ]
    items = [{"id": f"i{n}", **shown(n * FOUR)} for n in range(ROWS // FOUR)]
    return [lines(folder / "annotations.jsonl", documents), lines(folder / "items.jsonl", items)]


READERS: tuple[Callable[[Path], Files], ...] = (mturk, vizwiz, prolific, mapped)
MORE: tuple[Callable[[Path], Files], ...] = (
    *(crowd_form, api, amti, simple_amt, figure_eight, label_studio, mephisto, potato),
)


def texts_of(folder: Path) -> dict[str, str]:
    """The content of every file outside of the private folder, by name."""
    texts = {}
    for path in folder.rglob("*"):
        if not path.is_file() or path.suffix in {".db", ".db-wal", ".db-shm"}:
            continue
        text = path.read_bytes().decode(errors="replace")
        if path.suffix == ".parquet":
            read = pq.read_table(path)
            text = f"{read.column_names} {read.to_pydict()}"
        texts[path.name] = text
    return texts


def ids_in(text: str, ids: Sequence[str]) -> list[str]:
    """Where ids stand by themselves, whatever their case, with what is around."""
    alone = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
    found_at = re.finditer(f"(?<![0-9A-Za-z])(?:{alone})(?![0-9A-Za-z])", text, re.IGNORECASE)
    return [text[max(0, at.start() - 80) : at.end() + 40] for at in found_at]


@pytest.mark.parametrize(
    "reader",
    [*READERS, *(pytest.param(reader, marks=pytest.mark.full) for reader in MORE)],
    ids=lambda reader: reader.__name__,
)
def test_ids_stay_in_the_store_wherever_a_file_has_them(
    reader: Callable[[Path], Files], tmp_path: Path
) -> None:
    """In answers, items, feedback and addresses, in every format and on every page."""
    files, campaign = reader(tmp_path), tmp_path / "b.toml"
    done("data", "import", *files, "--as", campaign)
    text = campaign.read_text()
    numbers = range(ROWS)
    every = [*WORKERS, *map(assignment_of, numbers), *map(judgment_of, numbers)]
    assert ids_in(text, every) == []
    formats = '["csv", "parquet"]' if reader is not vizwiz else '["csv", "vizwiz_json"]'
    campaign.write_text(f"formats = {formats}\n{text}")
    findings = tmp_path / "findings"
    findings.mkdir()
    pages = ["--html", findings / "f.html", "--parquet", findings / "f.parquet"]
    done("data", "assess", campaign, *pages)
    done("export", campaign)
    done("export", campaign, "--answers", tmp_path / "out/all.parquet")
    done("data", "analyse", campaign, "--html", tmp_path / "out/analysis.html")
    texts = texts_of(tmp_path / "out")
    assert reader is vizwiz or {*texts} >= FILES | {"all.parquet"}
    for name, content in texts.items():
        assert ids_in(content, every) == [], name
    for name, content in texts_of(findings).items():
        assert ids_in(content, every) == [], name
    if reader is mturk:
        assert texts["answers.csv"].count("number 3 of ") == 1
