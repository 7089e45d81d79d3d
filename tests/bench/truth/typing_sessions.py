"""Texts that were entered into the caption page in a real Chromium, in each way.

`python -m tests.bench.truth.typing_sessions 1 20` enters a sentence in each way of
`tests.browser.typists` with the seeds from 1 to 20, and adds a line for each to
`typing_sessions.jsonl`: the way, the seed, and the record that the page sent. Names of
ways behind the seeds choose some of them. The file has no text. Twenty seeds take about
an hour of typing, which six browsers share.
"""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import sync_playwright

from piecework.domain.assignment import TypingRecord, typing_record
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from tests.browser.host import serving
from tests.browser.typists import BY_NAME, Typist, enter
from tests.conftest import ARGUMENTS, installed_chromium

FILE = Path(__file__).with_name("typing_sessions.jsonl")
BROWSERS = 6


class Session(NamedTuple):
    """One text that was entered."""

    typist: Typist
    seed: int
    record: TypingRecord


def sessions() -> Iterator[Session]:
    """Yield the sessions of the file."""
    for line in FILE.read_text("utf-8").splitlines():
        cells = json.loads(line)
        record = typing_record(json.dumps(cells["record"]))
        assert record is not None
        yield Session(BY_NAME[cells["way"]], cells["seed"], record)


def main(first: int, last: int, names: list[str]) -> None:
    """Enter the texts of these seeds."""
    cases = [(name, seed) for seed in range(first, last + 1) for name in names or sorted(BY_NAME)]
    shares = [cases[number::BROWSERS] for number in range(BROWSERS)]
    with ProcessPoolExecutor(BROWSERS) as pool, FILE.open("a", encoding="utf-8") as out:
        for lines in pool.map(_entered, shares):
            out.write("".join(lines))


def _entered(cases: list[tuple[str, int]]) -> list[str]:
    item = Item(item_id=ItemId("a"), columns={"image_id": "a", "url": "/pictures/a.svg"})
    page_text = render_hit(load_task("caption"), [item])
    with serving() as host, sync_playwright() as playwright:
        host.page = page_text
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ARGUMENTS)
        lines = []
        for name, seed in cases:
            page = browser.new_context().new_page()
            page.goto(host.address())
            enter(page, BY_NAME[name], seed=seed)
            page.check('[name="has_text.1"][value=yes]')
            page.check('[name="flaws.1"][value=none]')
            page.click("#send")
            page.get_by_text("Thank you").wait_for()
            page.context.close()
            sent = json.loads(dict(host.posted[-1][1])["typing.1"])
            cells = {"way": name, "seed": seed, "record": sent["caption"]}
            lines.append(json.dumps(cells) + "\n")
        browser.close()
    return lines


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
