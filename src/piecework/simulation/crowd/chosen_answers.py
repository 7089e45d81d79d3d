"""Fill in the form of any task with truths in the items file.

A careful person answers with the item's column `truth.<field>` and errs at the rate of
their trait: with a neighbouring grade if options are numbers, with another option if
they are not, and by some distance on a scale. Others do not look: they give the same
answer to every item, tick the first option, or guess.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from piecework.domain.assignment import TYPING
from piecework.domain.column_names import PLAYED
from piecework.domain.field import Field, mirrored
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import TRUTH, Task
from piecework.hit_templates.answers import SEPARATOR, typed
from piecework.hit_templates.jinja_helpers import plain_number, steps_of, wire
from piecework.simulation.crowd.browser import Page, orders_sent, played_in
from piecework.simulation.crowd.item_knowledge import misheard
from piecework.simulation.crowd.people import Person, opinion_offset
from piecework.simulation.crowd.typing_traces import entered, mistype, repair
from piecework.simulation.seeded_rng import seeded_rng

Form = dict[str, list[str]]

_LOOKS_AWAY = 0.08
_OUTSIDE = 0.04
"""The probability that a worker does not avoid the options that screen them out."""

_SCALE_SPREAD = 0.05
"""Standard deviation of honest answers on a scale, as a part of it, at accuracy 1."""

_NOTHING_TO_SAY = "nothing to say about this one"


class Judging:
    """Simulated answers to judgement tasks."""

    def __init__(
        self,
        task: Task,
        items: Sequence[Item],
        practice: Sequence[Item] = (),
        *,
        people: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        """Store the campaign's items, its trials in order, and who the people are.

        Args:
            task: the task.
            items: the items.
            practice: the trials.
            people: as in `piecework.domain.campaign.RehearsalPlan`.
        """
        self._task = task
        self._people = people or {}
        self._items = {item.item_id: item for item in items}
        self._practice = tuple(practice)
        # A text that an option asks for is written after the options are chosen.
        called = {rule.field for rule in task.rules if "chosen_in" in rule.parameters}
        self._in_order = sorted(task.item_fields, key=lambda field: field.name in called)

    def knows(self, item_id: ItemId) -> bool:
        """Return whether the truth is known for all required fields."""
        item = self._items.get(item_id)
        return item is not None and all(
            item.columns.get(TRUTH + field.name)
            for field in self._task.item_fields
            if not field.optional
        )

    def fill_in(
        self,
        page: Page,
        assignment_id: AssignmentId,
        *,
        person: Person,
        shown_ms: Sequence[int],
        seed: int,
        known: Mapping[str, list[str]] | None = None,
    ) -> Form:
        """Return the form that this person submits, without the assignment id.

        `known` has the answers by wire name that are decided elsewhere, and measured there.
        """
        is_measured = known is None
        known = known or {}
        form: Form = {name: [value] for name, value in page.fixed.items()}
        form.pop("assignmentId", None)
        form |= {name: [""] for name in page.texts}
        form |= orders_sent(page, self._task, assignment_id, self._items)
        for field in self._task.hit_fields:
            rng = seeded_rng(seed, person.handle, field.name, "once")
            form[wire(field, "hit")] = self._once(field, page, rng)
        shown: list[tuple[int | str, Item]] = [
            (f"p{k}", item) for k, item in enumerate(self._practice, start=1)
        ]
        shown += [(n, self._items[item_id]) for n, item_id in enumerate(page.item_ids, 1)]
        for n, plain in shown:
            item = self._as_seen(plain, person, seed)
            rng = seeded_rng(seed, person.handle, item.item_id, "judgement")
            form |= {name: known[name] for name in known if page.has(name)}
            for field in self._in_order:
                if wire(field, n) not in known:
                    form[wire(field, n)] = self._answer(
                        field, item, person, page, n=n, form=form, rng=rng
                    )
            if isinstance(n, int) and is_measured:
                form |= self._measured(form, n, item, person, shown_ms=shown_ms[n - 1], rng=rng)
        return {name: form[name] for name in page.names if form.get(name)}

    def _answer(
        self,
        field: Field,
        item: Item,
        person: Person,
        page: Page,
        *,
        n: int | str,
        form: Form,
        rng: Random,
    ) -> list[str]:
        name = wire(field, n)
        if field.regions:
            return [item.columns.get(TRUTH + field.name, "")]
        values = _on_page(page, field, name, form, n)
        if field.kind == "text" and self._is_uncalled(field, form, n):
            return [""]
        manner = _MANNERS.get(person.trait.manner)
        must = self._must(field)
        if must and manner is None:
            return must
        if manner is not None and values:
            own = seeded_rng(0, person.handle, field.name)
            return [manner(values, own if person.trait.manner != "guess" else rng)]
        if manner is not None:
            text = self._text_by_rules(field, item, form, n, _NOTHING_TO_SAY, rng)
            return [text]
        sent = _honest(field, item, values, rng=rng, accuracy=person.trait.accuracy)
        if field.mirrored_by and self._is_turned(field, form, n):
            sent = [_turned(field, value) for value in sent]
        if field.kind == "text":
            text = sent[0] or _NOTHING_TO_SAY
            text = mistype(text, rng, rate=person.trait.typo_rate)
            sent = [self._text_by_rules(field, item, form, n, text, rng)]
        return self._kept(field, sent, item, values)

    def _as_seen(self, item: Item, person: Person, seed: int) -> Item:
        """Return the item with this person's opinions as its truth."""

        def seen(field: Field, truth: str) -> str:
            off = opinion_offset(self._task, field, item, person, seed=seed)
            return f"{float(truth) + off:.9f}"

        own = {
            TRUTH + field.name: seen(field, truth)
            for field in self._task.item_fields
            if field.is_opinion
            and field.kind == "number"
            and (truth := item.columns.get(TRUTH + field.name, ""))
        }
        return Item(item_id=item.item_id, columns={**item.columns, **own})

    def _text_by_rules(
        self, field: Field, item: Item, form: Form, n: int | str, text: str, rng: Random
    ) -> str:
        """Adapt a text to the page's rules, such as one that it must be edited."""
        for rule in self._task.rules:
            if rule.kind != "edited_with_option" or rule.field != field.name:
                continue
            before = item.columns[str(rule.parameters["column"])]
            chosen_in = self._field(str(rule.parameters["chosen_in"]))
            is_edited = form.get(wire(chosen_in, n)) == [rule.parameters["option"]]
            if not is_edited:
                return before
            if text == before:
                return f"{before} {_NOTHING_TO_SAY}"
            return text
        return repair(self._task, text, rng, field.name)

    def _measured(
        self, form: Form, n: int, item: Item, person: Person, *, shown_ms: int, rng: Random
    ) -> Mapping[str, list[str]]:
        """Return what the page measures, and how the texts were entered."""
        texts = {
            field.name: form.get(wire(field, n), [""])[0]
            for field in self._task.item_fields
            if field.kind == "text" and not field.regions
        }
        before = {
            rule.field: item.columns[str(rule.parameters["column"])]
            for rule in self._task.rules
            if rule.kind == "edited_with_option"
        }
        own = seeded_rng(0, person.handle, item.item_id, "typing")
        typing = entered(texts, person, own, before=before)
        counts = {
            "shown_ms": shown_ms,
            "pastes": 0,
            "keystrokes": typing.keys,
            "focus_losses": int(rng.random() < _LOOKS_AWAY),
            PLAYED: played_in(shown_ms, self._task),
        }
        measured = {f"{name}.{n}": [str(counts[name])] for name in self._task.measures}
        return {**measured, f"{TYPING}.{n}": [typing.sent]}

    def _field(self, name: str) -> Field:
        return next(field for field in self._task.fields if field.name == name)

    def _is_turned(self, field: Field, form: Form, n: int | str) -> bool:
        """Return whether this page shows the two sides swapped."""
        asked = next(
            arrangement.columns
            for arrangement in self._task.arrangements
            if arrangement.name == field.mirrored_by
        )
        return form.get(f"order.{field.mirrored_by}.{n}") == ["|".join(asked[::-1])]

    def _is_uncalled(self, field: Field, form: Form, n: int | str) -> bool:
        """Return whether a text can stay empty: optional and not required here."""
        by_name = {field.name: field for field in self._task.item_fields}
        asking = [
            str(rule.parameters["option"])
            in form.get(wire(by_name[str(rule.parameters["chosen_in"])], n), [])
            for rule in self._task.rules
            if rule.kind == "text_with_option" and rule.field == field.name
        ]
        return field.optional and not any(asking)

    def _must(self, field: Field) -> list[str]:
        """Return the option that the page insists on, if any."""
        return self._options_of("must_choose", field)

    def _options_of(self, kind: str, field: Field) -> list[str]:
        return [
            str(rule.parameters["option"])
            for rule in self._task.rules
            if rule.kind == kind and rule.field == field.name
        ]

    def _kept(self, field: Field, sent: list[str], item: Item, values: list[str]) -> list[str]:
        """Adapt ticked options to the page's rules: exclusive, one, not too many."""
        if field.kind != "choices":
            return sent
        alone = self._options_of("exclusive_option", field)
        kept = [value for value in sent if value not in alone]
        kept = kept or [value for value in sent if value in alone][:1] or alone[:1]
        rules = [rule for rule in self._task.rules if rule.field == field.name]
        if not kept and any(rule.kind == "required" for rule in rules):
            truth = item.columns.get(TRUTH + field.name, "").split(SEPARATOR)
            kept = [value for value in values if value in truth][:1] or values[:1]
        most = [
            int(str(rule.parameters["maximum"]))
            for rule in rules
            if rule.kind == "most_chosen" and not rule.is_question
        ]
        return kept[: min(most, default=len(kept))]

    def _once(self, field: Field, page: Page, rng: Random) -> list[str]:
        must = self._must(field)
        values = _values(page, field, wire(field, "hit"))
        weights = self._people.get(field.name)
        if weights and not must:
            return rng.choices(list(weights), list(weights.values()))
        outside = {option.value for option in field.options if option.excludes}
        if outside and rng.random() >= _OUTSIDE:
            values = [value for value in values if value not in outside]
        if must or values:
            return must or [rng.choice(values)]
        if field.optional:
            return [""]
        return [repair(self._task, _NOTHING_TO_SAY, rng, field.name)]


def _on_page(page: Page, field: Field, name: str, form: Form, n: int | str) -> list[str]:
    """Return the available values in the order in which the worker sees them."""
    values = _values(page, field, name)
    order = form.get(f"order.{field.name}.{n}")
    if not order or not order[0]:
        return values
    shown = order[0].split("|")
    return [*shown, *(value for value in values if value not in shown)]


def _values(page: Page, field: Field, name: str) -> list[str]:
    if field.kind == "number" and page.has(name):
        return list(steps_of(field))
    return page.options.get(name, [])


def _honest(
    field: Field, item: Item, values: list[str], *, rng: Random, accuracy: float
) -> list[str]:
    truth = item.columns.get(TRUTH + field.name, "")
    if field.kind == "text":
        return [misheard(truth, rng, accuracy=accuracy) if field.is_transcript else truth]
    if field.kind == "number":
        return [_near(field, truth, rng, accuracy)] if truth else []
    if field.kind == "choices":
        right = set(truth.split(SEPARATOR))
        # An error misses a correct option or ticks an extra one: one error in total,
        # not one for each option of a long list.
        false = (1 - accuracy) / max(len(values), 1)
        error_rates = {value: 1 - accuracy if value in right else false for value in values}
        return [
            value for value in values if (value in right) != (rng.random() < error_rates[value])
        ]
    if not truth or rng.random() < accuracy:
        return [truth] if truth else []
    return [_neighbour(field, truth, rng)]


def _turned(field: Field, sent: str) -> str:
    value = typed(field, sent)
    shown = sent if value is None else mirrored(field, value)
    return plain_number(shown) if isinstance(shown, float) else "".join(shown)


def _near(field: Field, truth: str, rng: Random, accuracy: float) -> str:
    width = field.maximum - field.minimum
    spread = width * (_SCALE_SPREAD + (1 - accuracy) / 2)
    meant = rng.gauss(float(truth), spread)
    meant = min(max(meant, field.minimum), field.maximum)
    steps = round((meant - field.minimum) / field.step)
    return plain_number(field.minimum + steps * field.step)


def _neighbour(field: Field, truth: str, rng: Random) -> str:
    """Return a wrong value: the next grade for grades, else any other one."""
    values = [option.value for option in field.options]
    others = [value for value in values if value != truth]
    if all(value.isdigit() for value in values):
        at = values.index(truth)
        others = [values[i] for i in (at - 1, at + 1) if 0 <= i < len(values)]
    return rng.choice(others or [truth])


def _same(values: list[str], rng: Random) -> str:
    return rng.choice(sorted(values))


def _first(values: list[str], _rng: Random) -> str:
    return values[0]


_MANNERS: Mapping[str, Callable[[list[str], Random], str]] = {
    "same": _same,
    "pasted": _same,
    "canned": _same,
    "first": _first,
    "guess": _same,
}
"""How workers who do not look answer. `guess` draws again for each item."""
