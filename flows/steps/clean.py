"""Propose edits to every answer's text; the text itself is never touched."""

from domain.ids import AnswerId
from domain.tables import is_canned
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from postprocess.apply import Text, protected_words
from postprocess.apply import clean as apply_rules
from store import edits


def clean(place: Workplace) -> int:
    """Clean all answers together and keep the edits; how many there are.

    Dropped answers are cleaned too: they are exported, and a word that many people
    wrote is no slip, whoever wrote it.
    """
    proposed = apply_rules(_texts(place, read_state(place)))
    kept = {AnswerId(text_id): many for text_id, many in proposed.items() if many}
    edits.replace_all(place.store, kept)
    return sum(len(many) for many in kept.values())


def _texts(place: Workplace, state: State) -> list[Text]:
    task = place.campaign.task
    protected = {item.item_id: protected_words(item) for item in place.campaign.items}
    texts = []
    for answer in state.answers.values():
        written = str(answer.values.get(task.main_text, ""))
        texts.append(
            Text(
                text_id=answer.answer_id,
                item_id=answer.item_id,
                text=written,
                protected=protected[answer.item_id],
                is_canned=is_canned(written, task.canned_text),
            )
        )
    return texts
