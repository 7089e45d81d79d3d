"""A campaign that asks as often as it needs, and people whose votes are scripted.

Four pairs, two a HIT, two to four answers each. What is said about a pair does not hang
on who says it, or when: its votes come in their order.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.hit_templates.tasks import load_task
from piecework.simulation.crowd.browser import Page, orders_sent
from tests.crash.people import People

AS_NEEDED = """
name = "crash"
description = "As many answers as a label needs."
task = "congruency"
batches = 1
answers = { least = 2, most = 4, until = 0.86 }
reward = "0.50"
budget = "20.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "items.csv"
[posting]
items_per_hit = 2
max_rounds = 1
[heuristics]
random_sample = false
[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "Not what the page asks for."
"""

VOTES = {"p1": "yyyy", "p2": "yyyy", "p3": "ynyy", "p4": "ynyn"}
"""Two pairs are plain, one is settled by a third vote or a fourth, one by none."""

ANSWERS = {"p1": 2, "p2": 2, "p3": 4, "p4": 4}
"""How many of these votes are asked for: three to one are not sure to 0.8."""

PEOPLE = ("ann", "bob", "cat", "dan", "eve", "fay")
_TASK = load_task("congruency")
_ITEMS = {
    ItemId(name): Item(item_id=ItemId(name), columns={"pair_id": name}) for name in (*VOTES, "p9")
}
_OPTIONS = {"y": "congruent", "n": "incongruent"}


def write_as_needed(folder: Path, text: str = AS_NEEDED) -> Path:
    """Write the campaign's file and its items into a folder; the file's path."""
    path = folder / "crash.toml"
    path.write_text(text)
    rows = "".join(
        f"{name},https://example.org/{name}.jpg,A cup on a table {name}\n" for name in VOTES
    )
    (folder / "items.csv").write_text("pair_id,url,description\n" + rows)
    return path


class Voters:
    """Everybody takes what is offered; the next vote about each pair is sent."""

    def __init__(self, endpoint: str, votes: Mapping[str, str] = VOTES) -> None:
        self._endpoint, self._votes = endpoint, votes
        self._sent: Counter[str] = Counter()

    def work(self) -> int:
        """Until nobody is offered anything; how many HITs were done."""
        done, again = 0, 1
        while again:
            again = sum(
                People(self._endpoint, script=((name, "vote"),), fill_in=self._form).work()
                for name in PEOPLE
            )
            done += again
        return done

    def _form(self, assignment_id: str, page: Page, _manner: str) -> dict[str, str]:
        form = {**page.fixed, "assignmentId": assignment_id}
        orders = orders_sent(page, _TASK, AssignmentId(assignment_id), _ITEMS)
        form |= {name: values[0] for name, values in orders.items()}
        for position, item_id in enumerate(page.item_ids, start=1):
            vote = self._votes.get(item_id, "ynyn")[self._sent[item_id]]
            self._sent[item_id] += 1
            form |= {
                f"congruent.{position}": _OPTIONS[vote],
                f"shown_ms.{position}": "9000",
                f"pastes.{position}": "0",
                f"keystrokes.{position}": "0",
                f"focus_losses.{position}": "0",
            }
        return form
