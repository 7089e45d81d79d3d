"""What the results of a large campaign cost: processor seconds and memory by part.

Real captions (`../shared/data`, VizWiz's own) are repeated to 195,905 answers about
39,181 items: repeated as they are, and spliced (the first half of one caption with the
second half of another), so that hardly any two texts are equal. Each run is a process
of its own, so that memory is its own. Run: `make bench`, or with a number of answers:
`python -m tests.bench.results 20000`.
"""

import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import get_args

import pandas as pd

from piecework.domain import tables
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.tasks import load_task
from tests.bench.peers import symspell_seconds
from tests.bench.targets import Figure

ANSWERS = 195_905
ANSWERS_EACH = 5
BY_COMMAND = 170_000
DATA = Path(__file__).resolve().parents[2] / "../shared/data"
CAPTIONS = DATA / "vizwiz_val_captions_half.csv"
KINDS = ("repeated", "spliced")
START = datetime(2026, 3, 1, tzinfo=UTC)


def main(answers: int) -> dict[str, Figure]:
    """Print the table; return the figures of repeated captions."""
    if not CAPTIONS.exists():
        print(f"skipped: {CAPTIONS.name} is not beside this repository")
        return {}
    results = [_in_a_process(kind, answers) for kind in KINDS]
    print(f"{'':28}" + "".join(f"{kind:>12}" for kind in KINDS))
    for name in results[0]:
        print(f"{name:28}" + "".join(f"{result[name]:>12,.1f}" for result in results))
    peer = symspell_seconds([*islice(_captions(KINDS[0]), answers)])
    return {
        "cleaning, s": Figure(results[0]["clean, s"], peer),
        "files, s": Figure(results[0]["write files, s"]),
        "report, s": Figure(results[0]["report, s"]),
        **_by_command(),
    }


def _by_command() -> dict[str, Figure]:
    """What `piecework data clean` takes for drawn captions, by the clock."""
    # Imported here, as in `measure`.
    from tests.bench.many_captions import write  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), BY_COMMAND, 1)
        [file] = Path(folder).glob("*.parquet")
        began = time.perf_counter()
        command = [str(Path(sys.executable).with_name("piecework")), "data", "clean", str(file)]
        child, peak = subprocess.Popen([*command, "--to", f"{folder}/clean.parquet"]), 0
        while child.poll() is None:
            # `ru_maxrss` would be ours, which it began as.
            with suppress(OSError, IndexError):
                status = Path(f"/proc/{child.pid}/status").read_text()
                peak = max(peak, int(status.partition("VmHWM:")[2].split()[0]))
            time.sleep(0.05)
        seconds = time.perf_counter() - began
    assert child.returncode == 0
    print(f"by command, {BY_COMMAND:,} captions: {seconds:.1f} s, {peak / 1024:,.0f} MiB")
    name = f"cleaning {BY_COMMAND:,} captions by command"
    return {f"{name}, s": Figure(seconds), f"{name}, MiB": Figure(peak / 1024)}


def measure(kind: str, answers: int) -> dict[str, float]:
    """Seconds of processor time by part, and memory at its end in MiB."""
    # Imported here: the parent process only prints.
    from piecework.domain.campaign import OutputFormat  # noqa: PLC0415
    from piecework.postprocess.answers import with_edits  # noqa: PLC0415
    from piecework.postprocess.apply import Text, clean_and_propose  # noqa: PLC0415
    from piecework.postprocess.datasets.facts import DatasetFacts  # noqa: PLC0415
    from piecework.postprocess.datasets.files import dataset_files  # noqa: PLC0415
    from piecework.report.facts import ReportFacts, SourceFile  # noqa: PLC0415
    from piecework.report.item_sample import ShownItem, choose_items  # noqa: PLC0415
    from piecework.report.page import render_report  # noqa: PLC0415
    from piecework.store.files import write_whole  # noqa: PLC0415

    task = load_task("caption")
    items = [_item(number) for number in range(-(-answers // ANSWERS_EACH))]
    captions = list(islice(_captions(kind), answers))
    figures: dict[str, float] = {"answers": answers, "different": len({*captions})}
    began = time.process_time()

    def lap(name: str) -> None:
        nonlocal began
        now = time.process_time()
        figures[f"{name}, s"] = now - began
        figures[f"{name}, MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        began = time.process_time()

    table = _table(captions, items)
    lap("make the table")
    edits = clean_and_propose(
        [
            Text(text_id=str(row[0]), item_id=row[1], text=row[2], is_canned=row[3])
            for row in table[["item_id", "text", "is_canned"]].itertuples(name=None)
        ]
    ).edits
    lap("clean")
    table = with_edits(table, {name: made for name, made in edits.items() if made})
    lap("apply edits")
    facts = DatasetFacts(
        campaign="bench", purpose="To be measured.", task=task, source_hash="ab" * 32,
        code_commit="", is_rehearsal=True, wanted_per_item=str(ANSWERS_EACH),
    )  # fmt: skip
    formats = get_args(OutputFormat)
    with tempfile.TemporaryDirectory() as folder:
        for name, write in dataset_files(table, items, facts, formats).items():
            write_whole(Path(folder) / name, write)
    lap("write files")
    nothing = pd.DataFrame()
    kinds = choose_items(table, task)
    render_report(
        ReportFacts(
            campaign="bench", purpose="To be measured.", task=task,
            sources=(SourceFile(sha256="ab" * 32, since=""),), code_commit="",
            is_rehearsal=False, started_at=START,
            finished_at=START + timedelta(days=30),
            wanted_per_item=ANSWERS_EACH, items=len(items), is_finished=True,
            answers=table, batches=nothing, findings=nothing, decisions=nothing,
            workers=nothing,
            shown_items=tuple(
                ShownItem(item_id=item_id, kind=kind) for item_id, kind in kinds.items()
            ),
        )
    )  # fmt: skip
    lap("report")
    return figures


def _table(captions: list[str], items: list[Item]) -> pd.DataFrame:
    from piecework.domain.dataset import Shares  # noqa: PLC0415
    from piecework.postprocess.answers import answer_columns  # noqa: PLC0415
    from piecework.postprocess.splits import splits  # noqa: PLC0415

    task = load_task("caption")
    chance = random.Random(1)  # noqa: S311 - a sample, no secret
    count = len(captions)
    columns = answer_columns(task)
    del columns["clean_text"], columns["edits"]
    empty = {"str": "", "int64": 1, "bool": False, "float64": 20.0, "object": ()}
    cells: dict[str, list[object]] = {
        name: [empty.get(column.dtype, START)] * count for name, column in columns.items()
    }
    of_row = [items[number // ANSWERS_EACH] for number in range(count)]
    cells["item_id"] = [item.item_id for item in of_row]
    cells["url"] = [item.columns["url"] for item in of_row]
    split_of = splits(items, Shares())
    cells["split"] = [split_of[item.item_id] for item in of_row]
    cells["text"] = list(captions)
    cells["is_canned"] = [tables.is_canned(t, task.canned_text) for t in captions]
    cells["is_rejected"] = [chance.random() < 0.05 for _ in captions]
    cells["worker"] = [f"{chance.randrange(1623):016x}" for _ in captions]
    cells["submitted_at"] = [START + timedelta(seconds=n) for n in range(count)]
    cells["value.has_text"] = [chance.choice(("yes", "no")) for _ in captions]
    cells["value.flaws"] = [(chance.choice(("blur", "none")),) for _ in captions]
    return tables.build([f"a{n:07d}" for n in range(count)], cells, columns)


def _item(number: int) -> Item:
    name = f"img_{number:06d}"
    columns = {"image_id": name, "url": f"https://pictures.example/{name}.jpg"}
    return Item(item_id=ItemId(name), columns=columns)


def _captions(kind: str) -> Iterator[str]:
    """Captions without end; of the spliced ones the first turn is as it was."""
    with CAPTIONS.open(encoding="utf-8", newline="") as file:
        texts = [row["caption"] for row in csv.DictReader(file)]
    canned = load_task("caption").canned_text
    turn = 0
    while True:
        for number, text in enumerate(texts):
            other = texts[(number + 7919 * turn) % len(texts)]
            is_whole = kind == "repeated" or not turn or canned in (text, other)
            yield text if is_whole else _spliced(text, other)
        turn += 1


def _spliced(text: str, other: str) -> str:
    first, second = text.split(" "), other.split(" ")
    return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])


def _in_a_process(kind: str, answers: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.results", "--one", kind, str(answers)],
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else ANSWERS)
