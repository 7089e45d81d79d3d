"""Three people in browsers, one of them careless: judged, paid once, exported."""

import csv
import json
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from piecework.domain.money import cents_from_text
from tests.journeys.conftest import PAGE, Serves, User

pytestmark = [pytest.mark.flow, pytest.mark.browser]

ITEMS = 'id,text\na,"Soup is hot"\nb,"Cars are fast"\nc,"Bread is warm"\n'
TEXT_PAGE = re.sub("<label><input.*", "", PAGE).replace("<textarea", "<textarea required")
# How fast this machine types says nothing about these people, and chance draws no answer of theirs.
HEURISTICS = """
[heuristics]
too_fast = false
random_sample = false
rushed = false
not_typed = false
[heuristics.same_sentence]
min_images = 3
[[decisions.rule]]
on = "worker"
any_of = ["same_sentence"]
then = "exclude"
because = "Not invited again: {evidence}."
"""
CARELESS = "i like all of the nice things here"


def _works(page: Page, site: str, why: Callable[[int], str]) -> None:
    """Do every HIT that the site offers."""
    page.goto(f"{site}/worker/hits")
    page.get_by_role("link", name="Preview").first.click()
    page.get_by_role("button", name="Accept").click()
    for n in range(3):
        frame = page.frame_locator("iframe")
        frame.get_by_label("Why?").fill(why(n))
        frame.get_by_role("button", name="Send").click()
        page.wait_for_url("**/thanks")
        if n < 2:
            page.get_by_role("button", name="Accept the next HIT").click()
            page.wait_for_selector("iframe")


def test_three_people_and_one_of_them_careless(user: User, serves: Serves) -> None:
    """Flagged work waits for a person, who drops it; all are paid, one is excluded."""
    user.write("hit.html", TEXT_PAGE)
    user.write("items.csv", ITEMS)
    user.types("init food.toml --task hit.html --items items.csv --answers 3 --json")
    user.completes("food.toml")
    written = user.path("food.toml").read_text()
    assert 'description = "Is it about food?"' in written
    user.write("food.toml", written + HEURISTICS)
    user.replace("food.toml", '"rule_violation"', '"same_sentence"')
    with serves() as market:
        advance = f"run food.toml --once --endpoint {market.site}"
        user.types(advance)
        cat = market.opens("cat")
        _works(cat, market.site, lambda _: CARELESS)
        _works(market.opens("ann"), market.site, lambda n: f"it says number {n}")
        _works(market.opens("bob"), market.site, lambda n: f"my reason {n} is clear")
        user.types(advance)
        assert "piecework review food.toml" in user.types("status food.toml")
        user.types("review food.toml --csv decisions.csv")
        _decide(user.path("decisions.csv"))
        user.types("review food.toml --read decisions.csv --by ada")
        # `run` pays, excludes cat, asks for three answers again, and ends by itself.
        with user.starts(f"run food.toml --endpoint {market.site} --poll-seconds 1") as running:
            dan = market.opens("dan")
            _wait_for_hits(dan, market.site)
            cat.goto(f"{market.site}/worker/hits")
            assert cat.get_by_role("link", name="Preview").count() == 0
            _works(dan, market.site, lambda n: f"reason {n} of mine")
            assert running.wait(240) == 0
    status = json.loads(user.types("status food.toml --json"))
    user.types("review food.toml --csv left.csv")
    assert status["is_finished"], user.path("left.csv").read_text()
    # Twelve assignments, each paid once: dropped answers are paid too.
    stated = tomllib.loads(user.path("food.toml").read_text())
    assert status["rewards_cents"] == 12 * cents_from_text(stated["reward"])
    assert (status["accepted"], status["dropped"], status["excluded"]) == (9, 3, 1)
    assert len(user.answers("food")) == 9
    assert {row["why"] for row in user.answers("food", "set_aside")} == {CARELESS}


def _wait_for_hits(page: Page, site: str) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        page.goto(f"{site}/worker/hits")
        if page.get_by_role("link", name="Preview").count():
            return
        page.wait_for_timeout(500)
    pytest.fail("no HIT was posted again")


def _decide(path: Path) -> None:
    """Fill in the file as a person would: the careless worker's work is dropped."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(CARELESS in row["answer"] for row in rows) >= 3
    careless = {row["worker"] for row in rows if CARELESS in row["answer"]}
    verdicts = {
        "answer": ("drop", "keep"),
        "assignment": ("approve", "approve"),
        "worker": ("exclude", "keep"),
    }
    for row in rows:
        bad, good = verdicts[row["subject_kind"]]
        row["verdict"] = bad if row["worker"] in careless else good
        row["because"] = "The same sentence again and again."
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
