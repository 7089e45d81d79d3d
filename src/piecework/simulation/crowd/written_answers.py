"""How a simulated worker answers a page: what they write, and where they write it.

The form contains exactly what a browser would send: empty text boxes too, radio buttons
and checkboxes only if chosen, and one value for each ticked box.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from piecework.domain.assignment import TYPING
from piecework.domain.column_names import PLAYED
from piecework.domain.field import Field
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.own_html.controls import Controls
from piecework.hit_templates.own_html.fields_of_controls import as_page_sends, name_of
from piecework.simulation.crowd.browser import Page, played_in
from piecework.simulation.crowd.chosen_answers import Judging
from piecework.simulation.crowd.item_knowledge import DRAWN, ItemKnowledge, View
from piecework.simulation.crowd.people import Person
from piecework.simulation.crowd.regions import Size, regions
from piecework.simulation.crowd.typing_traces import Way, entered, mistype, repair
from piecework.simulation.seeded_rng import seeded_rng

Form = dict[str, list[str]]
"""Values by field name, as an HTML form sends them."""

_COMMENTS = (
    "thanks",
    "Nice task, thank you!",
    "Some of the photos were hard to make out.",
    "The pictures loaded slowly for me.",
    "I enjoyed this, please post more.",
)
_COMMENT_RATE = 0.05
_MISREADS_TEXT = 0.03
_SEES_GLARE = 0.25
_LOOKS_AWAY = 0.12

_PASTED = (
    "A picture of some things that are in a room.",
    "Several objects are placed together in front of the camera.",
    "An item that somebody has at home, seen from the front.",
    "A nice photo with different objects and colors in it.",
)
_ABOUT_QUALITY = (
    "Blurry photo of something, the quality of the shot is not good",
    "{sentence} but the picture quality is poor and blurry",
    "Low quality photo, somewhat blurry, of {sentence}",
    "The photo has bad quality and looks blurry, {sentence}",
)


class Answering(Protocol):
    """Fills in the pages of a task for a crowd."""

    def knows(self, item_id: ItemId) -> bool:
        """Return whether a worker can answer anything about this item."""
        ...

    def fill_in(
        self,
        page: Page,
        assignment_id: AssignmentId,
        *,
        person: Person,
        shown_ms: Sequence[int],
        seed: int,
    ) -> Form:
        """Return the form that this person submits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """What one worker writes about one item."""

    text: str
    has_text: bool
    flaws: tuple[str, ...]
    way: Way


class Describing:
    """Simulated answers to tasks that ask for descriptions."""

    def __init__(self, task: Task, knowledge: ItemKnowledge, others: Judging | None = None) -> None:
        """Store the knowledge about the items.

        Args:
            task: the task.
            knowledge: what can be known about the items.
            others: answers what else the task asks, from truths of the items; `None`
                for a task that asks nothing else and shuffles nothing.
        """
        self._task = task
        self._knowledge = knowledge
        self._others = others

    def knows(self, item_id: ItemId) -> bool:
        """Return whether anything can be written about this item."""
        return self._knowledge.knows(item_id)

    def fill_in(
        self,
        page: Page,
        assignment_id: AssignmentId,
        *,
        person: Person,
        shown_ms: Sequence[int],
        seed: int,
    ) -> Form:
        """Return the form that this person submits, without the assignment id."""

        def others(known: Form) -> Form:
            if self._others is None:
                return {}
            return self._others.fill_in(
                page, assignment_id, person=person, shown_ms=shown_ms, seed=seed, known=known
            )

        return fill_in(
            page,
            self._task,
            person=person,
            knowledge=self._knowledge,
            shown_ms=shown_ms,
            seed=seed,
            others=others,
        )


def fill_in(
    page: Page,
    task: Task,
    *,
    person: Person,
    knowledge: ItemKnowledge,
    shown_ms: Sequence[int],
    seed: int,
    others: Callable[[Form], Form] = dict,
) -> Form:
    """Return the form that this person submits, without the assignment id.

    Args:
        page: the page with the form.
        task: the task with the page's rules, which the answers must meet.
        person: the person who fills it in.
        knowledge: what can be known about the items.
        shown_ms: how long each item was looked at, in the page's order.
        seed: the random seed, combined with the person and the item.
        others: the form with what is not described, from what is.
    """
    form: Form = {name: [value] for name, value in page.fixed.items()}
    form.pop("assignmentId", None)
    form |= {name: [""] for name in page.texts}
    works: list[tuple[_Written, Random]] = []
    known: Form = {}
    for n, item_id in enumerate(page.item_ids, start=1):
        rng = seeded_rng(seed, person.handle, item_id, "answer")
        written = _write(item_id, task, person=person, knowledge=knowledge, rng=rng)
        if written.way == "pasted" and not page.pastes:
            written = replace(written, way="typed")  # they retype the same text
        works.append((written, rng))
        known |= _described(written, task, page, n, rng=rng)
    form |= others(known) | known
    for n, (written, rng) in enumerate(works, start=1):
        texts = {
            field.name: form[f"{field.name}.{n}"][0]
            for field in task.item_fields
            if field.kind == "text" and page.has(f"{field.name}.{n}")
        }
        sent = _measured(written, texts, person, task, shown_ms=shown_ms[n - 1], rng=rng)
        form |= {f"{name}.{n}": [value] for name, value in sent.items()}
    rng = seeded_rng(seed, person.handle, *page.item_ids, "comment")
    if page.has("comment") and rng.random() < _COMMENT_RATE:
        form["comment"] = [rng.choice(_COMMENTS)]
    return {name: form[name] for name in page.names if form.get(name)}


def _described(written: _Written, task: Task, page: Page, n: int, *, rng: Random) -> Form:
    """Return what the page asks and a description holds, by wire name."""
    flaws = list(written.flaws) or ["none"]
    # Only a worker who ticks "something else" must describe it.
    has_glare = "bright" in flaws and rng.random() < _SEES_GLARE
    offered = page.options.get(f"flaws.{n}", [])
    ticked = [flaw for flaw in flaws if flaw in offered]
    sent = {
        task.main_text: [written.text],
        task.text_present_field: ["yes" if written.has_text else "no"],
    }
    if ticked and {"other", "none"} <= set(offered) and page.has(f"flaw_other.{n}"):
        sent["flaws"] = [*ticked, "other"] if has_glare else ticked
        sent["flaw_other"] = ["glare of a lamp" if has_glare else ""]
    elif ticked:
        sent["flaws"] = ticked
    return {f"{name}.{n}": values for name, values in sent.items() if page.has(f"{name}.{n}")}


def _measured(
    written: _Written,
    texts: Mapping[str, str],
    person: Person,
    task: Task,
    *,
    shown_ms: int,
    rng: Random,
) -> dict[str, str]:
    """Return what the page measures about an item, by the name of the measure."""
    own = seeded_rng(0, person.handle, written.text, "typing")
    typing = entered(texts, person, own, way=written.way)
    measured = {
        "shown_ms": shown_ms,
        "pastes": 1 if written.way == "pasted" else 0,
        "keystrokes": typing.keys,
        "focus_losses": int(rng.random() < _LOOKS_AWAY) + (written.way == "pasted"),
        PLAYED: played_in(shown_ms, task),
    }
    return {TYPING: typing.sent} | {name: str(measured[name]) for name in task.measures}


def _write(
    item_id: ItemId, task: Task, *, person: Person, knowledge: ItemKnowledge, rng: Random
) -> _Written:
    if person.trait.manner == "pasted":
        # Such a worker looks at neither the picture nor the questions below it.
        text = _PASTED[int(person.handle.rpartition("-")[2]) % len(_PASTED)]
        return _Written(text=text, has_text=False, flaws=(), way="pasted")
    view = knowledge.look(item_id, rng, accuracy=person.trait.accuracy)
    if task.canned_text and _presses_button(view, person, rng):
        return _Written(
            text=task.canned_text, has_text=False, flaws=view.flaws or ("blur",), way="button"
        )
    text = _MANNERS.get(person.trait.manner, _unchanged)(view.sentence, rng)
    if not view.is_verbatim or person.trait_name == "careless_speller":
        text = mistype(text, rng, rate=person.trait.typo_rate)
    return _Written(
        text=repair(task, text, rng),
        has_text=view.has_text != (rng.random() < _MISREADS_TEXT),
        flaws=view.flaws,
        way="typed",
    )


def _presses_button(view: View, person: Person, rng: Random) -> bool:
    return view.gives_up or view.is_hopeless or rng.random() < person.trait.button_rate


def _unchanged(sentence: str, _rng: Random) -> str:
    return sentence


def _capitals(sentence: str, _rng: Random) -> str:
    return sentence.upper()


def _about_quality(sentence: str, rng: Random) -> str:
    inner = sentence.rstrip(".! ")
    form = rng.choice(_ABOUT_QUALITY)
    if not form.startswith("{"):
        inner = inner[:1].lower() + inner[1:]
    return form.format(sentence=inner)


_MANNERS: Mapping[str, Callable[[str, Random], str]] = {
    "capitals": _capitals,
    "quality": _about_quality,
}


_MOST_STEPS = 200


def answerable(task: Task) -> Task:
    """Narrow a task's numbers to those a person would enter, not billions of steps."""
    return replace(task, fields=tuple(map(_narrowed, task.fields)))


def _narrowed(field: Field) -> Field:
    if field.kind != "number":
        return field
    if (field.maximum - field.minimum) / field.step <= _MOST_STEPS:
        return field
    low = max(field.minimum, 0.0) if field.maximum > 0 else field.minimum
    high = min(field.maximum, low + 100)
    return replace(field, minimum=low, maximum=high, step=(high - low) / 100)


class FillingPages:
    """Simulated answers on requesters' own HTML pages."""

    def __init__(
        self, task: Task, judging: Judging, sizes: Mapping[str, Size] | None = None
    ) -> None:
        """Answer as `judging` does, with the page's own names.

        Args:
            task: the task.
            judging: what they answer.
            sizes: width and height of pictures by item id, as far as they are known.
        """
        self._task = task
        self._judging = judging
        self._sizes = sizes or {}

    def knows(self, item_id: ItemId) -> bool:
        """Return whether a worker can answer anything about this item."""
        return self._judging.knows(item_id)

    def fill_in(
        self,
        page: Page,
        assignment_id: AssignmentId,
        *,
        person: Person,
        shown_ms: Sequence[int],
        seed: int,
    ) -> Form:
        """Return the form that this person submits, as the page would send it."""
        ours = self._judging.fill_in(
            self._named_as_ours(page), assignment_id, person=person, shown_ms=shown_ms, seed=seed
        )
        ours |= self._regions(page, ours, person=person, seed=seed)
        controls = page.controls or Controls()
        carried = {
            name: [page.fixed[name]]
            for name, control in controls.by_name.items()
            if control.kind == "carried" and name in page.fixed and name not in ours
        }  # fmt: skip
        return carried | as_page_sends(
            self._task.fields,
            ours,
            is_crowd=controls.has_crowd_form,
            is_flat=controls.is_flat,
            items=len(page.item_ids),
            parts={
                name: sent
                for each in controls.by_name.values()
                for name, sent in each.parts.items()
            },
        )

    def _regions(self, page: Page, ours: Form, *, person: Person, seed: int) -> Form:
        """Return the regions and spans that this person draws."""
        drawn: Form = {}
        accuracy = person.trait.accuracy if person.trait.manner == "plain" else 0.0
        asked = (
            (field, item_id, n, page.controls.by_name.get(field.names_sent[n - 1]))
            for field in self._task.item_fields
            if field.regions and page.controls is not None
            for n, item_id in enumerate(page.item_ids, start=1)
        )
        for field, item_id, n, control in asked:
            if not control:
                continue
            name = name_of(field, n)
            own = seeded_rng(seed, person.handle, item_id, field.name, "regions")
            if ours.get(name, [DRAWN]) == [DRAWN] or own.random() > accuracy:
                truth = seeded_rng(seed, item_id, field.name, "regions")
                if person.trait.manner == "same":
                    truth = own = seeded_rng(seed, person.handle, field.name, "regions")
                size = self._sizes.get(item_id)
                drawn[name] = [regions(control, truth, own, accuracy=accuracy, size=size)]
        return drawn

    def _named_as_ours(self, page: Page) -> Page:
        """Return the page's controls under the names of the task's fields.

        A field created only by a script is taken from the task.
        """
        controls = {} if page.controls is None else page.controls.by_name
        items = len(page.item_ids)
        measured = {
            f"{name}.{n + 1}" for n in range(items) for name in ("item", *self._task.measures)
        }
        made = Page(fixed={name: page.fixed[name] for name in measured if name in page.fixed})
        made.names = dict.fromkeys(sorted(made.fixed))
        asked = (
            (field, n, sent_as)
            for field in self._task.fields
            for n, sent_as in enumerate(field.names_sent[:items], start=1)
        )
        for field, n, sent_as in asked:
            name = name_of(field, n)
            made.names[name] = None
            control = controls.get(sent_as)
            if field.kind == "text":
                made.texts.append(name)
            elif field.options:
                known = [option.value for option in field.options]
                made.options[name] = known if not control or control.parts else [*control.options]
                made.options[name] = made.options[name] or known
        return made
