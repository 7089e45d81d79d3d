"""From nothing to numbers: init, check, rehearse, change a rule, rehearse, compare."""

import hashlib
import json

import pytest

from tests.journeys.conftest import PAGE, User

pytestmark = pytest.mark.flow

ITEMS = "id,text\n" + "".join(f"s{n},Sentence {n} is about soup\n" for n in range(8))


def test_a_changed_rule_changes_the_result(user: User) -> None:
    """Each rehearsal shows what the file says now, and names the change."""
    user.write("hit.html", PAGE)
    user.write("items.csv", ITEMS)
    shown = user.types("init food.toml --task hit.html --items items.csv --yes")
    assert "8 items" in shown
    user.completes("food.toml")
    shown = user.types("check food.toml")
    assert "WARNING: the policy" not in shown
    first = user.rehearses("food.toml")
    assert first["is_finished"]
    assert (first["changes"], first["accepted"]) == ([], 40)
    # Nobody can be excluded from a rehearsal, so no command for that is shown.
    assert "next: " not in user.types("workers list food.toml")
    assert user.rehearses("food.toml")["is_same_as_before"]
    again = user.types("rehearse food.toml")
    assert "Changed since" not in again
    # Whoever rehearses without `check` reads its warnings too.
    warnings = [line for line in shown.splitlines() if line.startswith("WARNING: ")]
    assert warnings == [line for line in again.splitlines() if line.startswith("WARNING: ")]
    assert warnings

    user.replace("food.toml", "answers = 5", "answers = 3")
    user.replace("food.toml", '"rule_violation"', '"random_sample"')
    shown = user.types("status food.toml")
    assert "rehearsal 1 of food.toml" in shown
    assert "next: piecework rehearse" in shown
    second = user.rehearses("food.toml")
    assert second["changes"] == ["answers", "decisions.rule"]
    assert second["accepted"] == 24
    assert int(str(second["rewards_cents"])) < int(str(first["rewards_cents"]))

    # It ends with what changed, and what that did.
    changed, money, quality, following = user.types("rehearse food.toml").splitlines()[-4:]
    assert changed == "Changed since 1: answers, decisions.rule"
    cents = [
        int(str(facts["rewards_cents"])) + int(str(facts["fees_cents"]))
        for facts in (first, second)
    ]
    assert f"cost ${cents[0] / 100:.2f} → ${cents[1] / 100:.2f}; hours" in money
    assert "bad answers kept" in quality
    assert following.startswith("next: piecework compare food.toml")

    # The rehearsal before is there, to compare.
    before = user.path("out/food/rehearsals/1/report.md").read_text()
    now = user.path("out/food/rehearsals/2/report.md").read_text()
    assert "40" in before
    assert hashlib.sha256(user.path("food.toml").read_bytes()).hexdigest() in now
    assert before != now
    # A comment is no new result, and still no other file's hash.
    user.replace("food.toml", "answers = 3", "answers = 3 # as before")
    third = user.rehearses("food.toml")
    assert third["changes"] == ["how the campaign file is written"]
    different = {"changes", "seconds", "is_same_as_before", "rehearsal", "before", "report"}
    assert {k: v for k, v in third.items() if k not in different} == {
        k: v for k, v in second.items() if k not in different
    }


def test_another_items_file_is_another_rehearsal(user: User) -> None:
    """A row more, and the table of items has it."""
    user.write("hit.html", PAGE)
    user.write("items.csv", ITEMS)
    user.types("init food.toml --task hit.html --items items.csv --answers 2 --json")
    user.rehearses("food.toml")
    user.write("items.csv", ITEMS + "s8,Sentence 8 is about bread\n")
    assert user.rehearses("food.toml")["changes"] == ["items.file: items.csv"]
    assert {row["item_id"] for row in user.answers("food")} >= {"s0", "s8"}
    manifest = json.loads((user.results("food") / "dataset/croissant.json").read_text())
    assert manifest["distribution"]
