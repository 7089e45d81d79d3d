"""How many participants who arrive find no work, by how often the bridge looks.

Twelve participants do ten HITs with eight assignments each, two HITs in a visit, over
the real wire: the marketplace, the offline Prolific, and the bridge between them. Each
participant acts once a minute, in random order: opens a study that Prolific shows,
answers a HIT, returns the submission, leaves the window open, or ends the visit with
its code. Between two looks the bridge knows nothing of all this. When it is served, it
looks within seconds of a change on the marketplace, and within two minutes of others.

A participant counts as turned away if there is no work for the visit. Run: `python -m
tests.bench.arrivals`, with a number of seeds.
"""

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from offline_markets_tests.prolific.people import Refused
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

PEOPLE, HITS, ASSIGNMENTS = 12, 10, 8
SEEDS = 10
PACES = (0, 1, 5, 15)
"""Minutes between two looks of the bridge; 0: it looks after each act."""

_MOST_MINUTES = 600
_RETURNS, _LEAVES = 0.04, 0.02
"""How often a participant at work gives up instead of going on."""


class _Person:
    """A participant, and what they are doing."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.is_at_work = False
        self.has_left = False

    def act(self, rng: random.Random, tally: Counter[str]) -> None:
        if not self.is_at_work:
            self._come(rng, tally)
        elif (chance := rng.random()) < _RETURNS:
            self.visitor.give_back(self.visitor.submission_id)
            self.is_at_work = False
            tally["returned"] += 1
        elif chance < _RETURNS + _LEAVES:
            self.has_left = True
            tally["left"] += 1
        else:
            self._work(tally)

    def _come(self, rng: random.Random, tally: Counter[str]) -> None:
        shown = self.visitor.studies()
        if not shown:
            return
        try:
            reply = self.visitor.arrive(rng.choice(shown))
        except Refused:
            tally["no place at Prolific"] += 1
            return
        assert reply.status_code == 201, reply.text
        tally["arrived"] += 1
        self.is_at_work = self.visitor.visit()["stage"] != "TurnedAway"
        if not self.is_at_work:
            tally["turned away"] += 1
            self.visitor.give_back(self.visitor.submission_id)

    def _work(self, tally: Counter[str]) -> None:
        visit = self.visitor.visit()
        if visit["stage"] == "Open":
            visit = self.visitor.answer()
        if visit["stage"] != "Open":
            self.visitor.complete(self.visitor.submission_id, visit["code"])
            self.is_at_work = False
            tally["finished"] += 1


def measured(seed: int, pace: int, folder: Path) -> Counter[str]:
    """Return what happened in a campaign, by kind of event."""
    rng = random.Random(seed)  # noqa: S311 - a simulation
    tally: Counter[str] = Counter()
    with a_town(folder, hits_per_visit=2, visits_per_participant=10) as town:
        town.post(HITS, ASSIGNMENTS, Reward="0.40")
        people = [_Person(town.visitor()) for _ in range(PEOPLE)]
        for minute in range(_MOST_MINUTES):
            if minute % max(pace, 1) == 0:
                town.settle()
                _approve(town)
                if not _open_slots(town):
                    break
            rng.shuffle(people)
            for person in people:
                if not person.has_left:
                    person.act(rng, tally)
                    if not pace:
                        town.settle()
            town.wait(minutes=1)
        tally["slots left"] = _open_slots(town)
        tally["studies"] = len(town.studies())
        for _ in range(2):
            _approve(town)
            town.settle()
        town.check_books()
    return tally


def _approve(town: Town) -> None:
    for row in town.rows("SELECT assignment_id FROM assignments WHERE status = 'Submitted'"):
        town.requester.approve_assignment(AssignmentId=str(row["assignment_id"]))


def _open_slots(town: Town) -> int:
    [row] = town.rows(
        "SELECT coalesce(sum(max_assignments - submitted - approved - rejected), 0) "
        "AS slots FROM hits"
    )
    return int(row["slots"])


def main(seeds: int) -> None:
    """Print the table."""
    print("| minutes between looks | arrived | turned away | finished | returned |")
    print("|---:|---:|---:|---:|---:|")
    for pace in PACES:
        total: Counter[str] = Counter()
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                happened = measured(seed, pace, Path(folder))
            print(seed, pace, dict(happened), file=sys.stderr)
            total += happened
        share = total["turned away"] / total["arrived"]
        print(
            f"| {pace} | {total['arrived']} | {total['turned away']} ({share:.1%}) | "
            f"{total['finished']} | {total['returned']} |"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
