"""No id of a worker leaves the store, wherever an import brings it."""

import re
from pathlib import Path

import pyarrow.parquet as pq

from tests.importing.batches import row, write
from tests.importing.test_importing import done

WORKERS = ("A1QQ2WW3EE4RR5", "5f0c1e2d3b4a596877665544", "W90", "w91")


def texts_of(folder: Path) -> dict[str, str]:
    """The content of every file outside of the private folder, by name."""
    texts = {}
    for path in folder.rglob("*"):
        if not path.is_file() or path.suffix in {".db", ".db-wal", ".db-shm"}:
            continue
        text = path.read_bytes().decode(errors="replace")
        if path.suffix == ".parquet":
            table = pq.read_table(path)
            text = f"{table.column_names} {table.to_pydict()}"
        texts[path.name] = text
    return texts


def test_ids_stay_in_the_store_wherever_a_file_has_them(tmp_path: Path) -> None:
    """As a column, in JSON, joined, in an address, in a sentence, in items."""
    rows = [
        row(
            number,
            worker,
            hit=f"HIT{number // 4}",
            shown={"picture": f"https://a.org/{number // 4}.jpg", "pid": worker},
            sent={
                "label": ("dog", "cat")[number % 2],
                "workerId": worker,
                "uniqueid": f"{worker}:A{number}",
                "turk": f'{{"workerId": "{worker}"}}',
                "from": f"https://a.org/?PROLIFIC_PID={worker.lower()}&n={number}",
                "remark": f"This is {worker.upper()}, number {number} of this list.",
            },
        )
        for number, worker in enumerate(WORKERS * 4)
    ]
    batch, campaign = write(tmp_path / "batch.csv", rows), tmp_path / "b.toml"
    done("import", batch, "--as", campaign)
    text = campaign.read_text()
    assert not re.search("|".join(WORKERS), text, re.IGNORECASE)
    campaign.write_text(text + '\n[output]\nformats = ["csv", "parquet"]\n')
    done("assess", campaign)
    done("export", campaign)
    done("export", campaign, "--answers", tmp_path / "out/answers.parquet")
    texts = texts_of(tmp_path / "out")
    assert {"answers.csv", "items.parquet", "README.md", "report.html"} <= set(texts)
    assert {"croissant.json", "answers.parquet"} <= set(texts)
    alone = re.compile(
        f"(?<![0-9A-Za-z])(?:{'|'.join(WORKERS)})(?![0-9A-Za-z])", re.IGNORECASE
    )
    for name, content in texts.items():
        places = [content[max(0, at.start() - 80) :] for at in alone.finditer(content)]
        assert [place[:120] for place in places] == [], name
    assert texts["answers.csv"].count("number 3 of this list") == 1
