"""Draw a random truth for items that have none.

This makes it possible to rehearse a task before any answer is known: careful workers
agree with each other because they see the same truth, and the others can be found.
"""

from collections.abc import Mapping
from random import Random

from piecework.domain.hit import Item
from piecework.domain.task import GOLD, TRUTH, Field, Rule, Task, is_unlimited
from piecework.hit_templates.answers import SEPARATOR, offered
from piecework.hit_templates.jinja_helpers import plain_number
from piecework.simulation.seeded_rng import seeded_rng

_THINGS = (
    *("a lamp", "two chairs", "an old bridge", "the harbour", "a green door", "snow"),
    *("a crowded street", "my neighbour", "the last train", "a paper boat", "rain"),
    *("three bottles", "the kitchen table", "a quiet garden", "a brown dog", "bread"),
)
_DOINGS = (
    *("stands beside", "is in front of", "reminds me of", "comes after", "is near"),
    *("belongs to", "looks like", "is older than", "has more light than", "follows"),
)
_ENDS = ("in the morning", "at the back", "as far as one sees", "once more", "today")
_TICKED = 0.35


_WORDS = ("lamp", "bridge", "harbour", "garden", "kitchen", "bread", "train", "boat")


def with_truth(task: Task, item: Item, *, seed: int) -> Item:
    """Return the item with a truth for every field; truths in columns are kept.

    The truth of a correction is the text to correct with one word replaced, or the text
    itself if it needs no correction.
    """
    drawn = {
        TRUTH + field.name: item.columns.get(GOLD + field.name)
        or _truth(field, item, seeded_rng(seed, item.item_id, field.name, "truth"))
        for field in task.item_fields
        if not item.columns.get(TRUTH + field.name)
    }
    columns = {**item.columns, **drawn}
    for rule in task.rules:
        name = f"{TRUTH}{rule.field}"
        if rule.kind == "edited_with_option" and name in drawn:
            rng = seeded_rng(seed, item.item_id, rule.field, "edit")
            columns[name] = _edited(rule, columns, rng)
    return Item(item_id=item.item_id, columns=columns)


def _edited(rule: Rule, columns: Mapping[str, str], rng: Random) -> str:
    """Return the text with one word replaced, if that is the truth."""
    before = columns.get(str(rule.parameters["column"]), "")
    if columns[f"{TRUTH}{rule.parameters['chosen_in']}"] != rule.parameters["option"]:
        return before
    words = before.split(" ")
    place = rng.randrange(len(words))
    words[place] = rng.choice([word for word in _WORDS if word != words[place]])
    return " ".join(words)


def _truth(field: Field, item: Item, rng: Random) -> str:
    if field.kind == "text":
        parts = (_THINGS, _DOINGS, _THINGS, _ENDS)
        return " ".join(rng.choice(words) for words in parts)
    if field.kind == "number":
        if is_unlimited(field):
            return str(rng.randrange(101))
        steps = round((field.maximum - field.minimum) / field.step)
        return plain_number(field.minimum + rng.randint(0, steps) * field.step)
    options = offered(field, item.columns)
    if field.kind == "choice":
        return rng.choice(options)
    ticked = [option for option in options if rng.random() < _TICKED]
    return SEPARATOR.join(ticked or [rng.choice(options)])
