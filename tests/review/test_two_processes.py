"""Two pages of a campaign in two processes, and a file of decisions meanwhile."""

import csv
import io
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.verdicts import Verdict
from piecework.engine.opening import open_to_look
from piecework.review.model.deciding import ALL_LOOKED_AT
from piecework.review.model.decisions_csv import read_decisions, waiting_csv
from piecework.store import decisions
from tests.review import stores

ROOT = Path(__file__).resolve().parents[2]
WORKERS, ITEMS = 10, 20
UNDONE = 0.15
"""The share of acts that are taken back at once."""


@contextmanager
def _page(path: Path, name: str) -> Iterator[httpx.Client]:
    """A reviewer with a server of one's own."""
    run_main = "from piecework.cli.main import main; main()"
    command = [sys.executable, "-c", run_main, "review", str(path), "--by", name]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            link = server.stdout.readline().removeprefix("open ").strip()
            url, _, token = link.partition("/enter#")
            with httpx.Client(base_url=url, headers={"Origin": url}, timeout=60) as client:
                client.post("/enter", data={"token": token}).raise_for_status()
                yield client
        finally:
            server.terminate()
            server.wait(timeout=20)


class _Reviewer:
    """Decides card by card what waits, and takes some of it back.

    Attributes:
        made: what was decided and not taken back, by answer.
        met: what became of all that was tried.
    """

    def __init__(self, client: httpx.Client, other: str, seed: int) -> None:
        self._client, self._other = client, other
        self._random = random.Random(seed)  # noqa: S311 - which card, not a secret
        self.made: dict[str, Verdict] = {}
        self.met: Counter[str] = Counter()

    def work(self) -> None:
        """Until nothing waits."""
        while self._decide_next():
            pass

    def _decide_next(self) -> bool:
        card = self._client.get("/next?view=answer", follow_redirects=True)
        if card.url.path != "/card":
            return False
        key, act = card.url.params["key"], self._random.choice(("keep", "drop"))
        form = dict(re.findall(r'name="(form_token|view|key|seen)" value="([^"]*)"', card.text))
        if "form_token" not in form or f'value="{act}"' not in card.text:
            self.met["seen as decided"] += 1
            return True
        form |= {"key": key, "act": act, "because": "so"}
        reply = self._client.post("/decide", data=form)
        if reply.status_code == 409:
            # Whose it is stands there, or that it was a file's.
            assert re.search(f"<bdi>({self._other}|file)</bdi>", reply.text)
            self.met["late"] += 1
            return True
        assert reply.status_code == 303, reply.text
        self.made[key] = act  # type: ignore[assignment]
        self.met["decided"] += 1
        if self._random.random() < UNDONE:
            self._undo(key, form)
        return True

    def _undo(self, key: str, form: dict[str, str]) -> None:
        reply = self._client.post("/undo", data=form, follow_redirects=True)
        if "Undone. It waits again." in reply.text:
            del self.made[key]
            self.met["undone"] += 1
        else:
            assert "Not undone" in reply.text
            self.met["not undone"] += 1


def _read_files(path: Path, times: int) -> tuple[dict[str, Verdict], int]:
    """Files of three rows, written and read; what was stored, and how many refused."""
    kept: dict[str, Verdict] = {}
    refused = 0
    with open_to_look(load_campaign(path)) as opened:
        for number in range(times):
            rows = list(csv.DictReader(io.StringIO(waiting_csv(opened)[0].decode())))
            answers = [row for row in rows if row["subject_kind"] == "answer"]
            some = _three_of(answers, number)
            if not some:
                break
            out = io.StringIO()
            writer = csv.DictWriter(out, fieldnames=list(some[0]))
            writer.writeheader()
            writer.writerows({**row, "verdict": "drop", "because": "f"} for row in some)
            try:
                read_decisions(opened, out.getvalue(), decided_by="file", name="d.csv")
            except ConfigError:
                refused += 1  # decided meanwhile: nothing of it is stored
            else:
                kept |= {row["subject_id"]: "drop" for row in some}
    return kept, refused


def _three_of(rows: list[dict[str, str]], seed: int) -> list[dict[str, str]]:
    drawn = random.Random(seed)  # noqa: S311 - which rows, not a secret
    return drawn.sample(rows, min(3, len(rows)))


@pytest.mark.full
def test_two_processes_and_a_file_decide_the_same_and_nothing_is_overwritten(
    tmp_path: Path,
) -> None:
    """Of hundreds of answers each is as the one who was told so has decided it."""
    with stores.opened(tmp_path, workers=WORKERS, items=ITEMS) as run:
        path = run.campaign.path
        with (
            _page(path, "ada") as first,
            _page(path, "grace") as second,
            ThreadPoolExecutor(3) as pool,
        ):
            ada, grace = _Reviewer(first, "grace", 1), _Reviewer(second, "ada", 2)
            working = [pool.submit(ada.work), pool.submit(grace.work)]
            reading = pool.submit(_read_files, path, 12)
            for future in working:
                future.result()
            by_file, _ = reading.result()
            # Who was done before another took something back goes on.
            ada.work()
        verdicts = {"ada": ada.made, "grace": grace.made, "file": by_file}
        assert ada.met["decided"] > 20
        assert grace.met["decided"] > 20
        assert ada.met["late"] + grace.met["late"] > 0
        assert ada.met["undone"] + grace.met["undone"] > 0
        answers = decisions.load_decisions(run.store, "answer")
        assert len(answers) == WORKERS * ITEMS
        for made in answers:
            assert verdicts[made.decided_by][made.subject_id] == made.verdict
        by = {made.subject_id: made for made in answers}
        for name in ("ada", "grace"):
            assert all(by[key].decided_by == name for key in verdicts[name])
        # A file may say once more what somebody has said before.
        assert {by[key].verdict for key in by_file} == {"drop"}
        (again,) = run.store.db.execute(
            "SELECT count(*) FROM (SELECT 1 FROM decisions "
            "GROUP BY subject_kind, subject_id HAVING count(*) > 1)"
        ).fetchone()
        assert again == 0
        _check_approvals({key: made.verdict for key, made in by.items()}, run)


def _check_approvals(verdicts: dict[str, Verdict], opened: OpenedCampaign) -> None:
    """Approved is what has an answer that is kept, or was to be approved anyhow."""
    approved = {
        decision.subject_id
        for decision in decisions.load_decisions(opened.store, "assignment")
        if decision.because == ALL_LOOKED_AT
    }
    expected = set()
    for answer_id, verdict in verdicts.items():
        assignment_id = answer_id.rpartition(".")[0]
        if verdict == "keep" or not assignment_id.endswith("-k1"):
            expected.add(assignment_id)
    assert approved == expected
