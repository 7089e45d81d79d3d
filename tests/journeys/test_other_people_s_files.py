"""What comes from elsewhere: results of another tool, and somebody's campaign."""

import csv
import hashlib
import os
from pathlib import Path

from tests.journeys.conftest import PAGE, User


def _results(path: Path) -> None:
    """Answers of a survey tool, with codes, a list, and the ids of the workers."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "code", "stars", "tags", "PROLIFIC_PID", "submitted", "typing"])
        for n in range(24):
            worker = f"5f{n % 6:022x}"
            writer.writerow(
                [
                    *(f"i{n // 6}", f"00{600 + n % 3}", 1 + n % 5, '["red", "big"]'),
                    *(worker, f"2026-11-02T09:{n:02}:00Z", f"said {worker}"),
                ]
            )


def test_results_of_another_tool_become_a_dataset(user: User) -> None:
    """Import, assess, export: codes stay text, every column arrives, ids do not."""
    _results(user.path("results.csv"))
    user.write(
        "columns.toml",
        """item = ["item"]
        answers = {code = "code", stars = "stars", tags = "tags", typing = "typing"}
        [columns]
        worker = "PROLIFIC_PID"
        submitted = "submitted"
        """,
    )
    before = {file.name for file in user.folder.iterdir()}
    shown = user.types("data import results.csv --columns columns.toml --dry-run")
    assert "code" in shown
    assert {file.name for file in user.folder.iterdir()} == before
    user.types("data import results.csv --columns columns.toml --as stance.toml")
    user.types("data assess stance.toml")
    user.types("export stance.toml")
    rows = user.answers("stance")
    assert len(rows) == 24
    assert {row["code"] for row in rows} == {"00600", "00601", "00602"}
    assert all(row["typing_answer"] for row in rows)
    published = user.published("stance")
    for n in range(6):
        assert f"5f{n:022x}".encode() not in published


def test_a_campaign_from_elsewhere_reaches_nothing(user: User) -> None:
    """`check` reads, renders and prices it; what it names outside waits for trust."""
    user.write("hit.html", PAGE)
    user.write("items.csv", "id,text\na,soup\n")
    user.types("init theirs.toml --task hit.html --items items.csv --json")
    outside = user.folder.parent / f"{user.folder.name}-outside.csv"
    outside.write_text("id,text\nb,secret soup\n")
    user.replace("theirs.toml", '"items.csv"', f'"../{outside.name}"')
    before = _listing(user.folder)
    user.settings["AWS_SECRET_ACCESS_KEY"] = "never sent"  # noqa: S105 - no real one
    shown = user.types("check theirs.toml", exits=3)
    assert outside.name in shown
    assert "secret soup" not in shown
    shown = user.types("preview theirs.toml", exits=3)
    assert outside.name in shown
    assert _listing(user.folder) == before


def _listing(folder: Path) -> list[tuple[str, str]]:
    return sorted(
        (name, hashlib.sha256(Path(inside, name).read_bytes()).hexdigest())
        for inside, _, names in os.walk(folder)
        for name in names
    )
