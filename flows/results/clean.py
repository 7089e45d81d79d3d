"""Propose edits to every answer's text; the text itself is never touched."""

from domain.ids import AnswerId
from flows.results.table import answers_table
from flows.steps.state import read_state
from flows.workplace import Workplace
from postprocess.apply import Text, protected_words
from postprocess.apply import clean as apply_rules
from store import edits


def clean(place: Workplace) -> int:
    """Clean all answers together and keep the edits; how many there are.

    Dropped answers are cleaned too: they are exported, and a word that workers wrote
    about many items is no typo, even if some of these answers were dropped.
    """
    proposed = apply_rules(_texts(place))
    kept = {AnswerId(text_id): made for text_id, made in proposed.items() if made}
    edits.replace_all(place.store, kept)
    return sum(map(len, kept.values()))


def _texts(place: Workplace) -> list[Text]:
    table = answers_table(place, read_state(place))
    protected = {
        str(item.item_id): protected_words(item) for item in place.campaign.items
    }
    return [
        Text(
            text_id=answer_id,
            item_id=item_id,
            text=text,
            protected=protected[item_id],
            is_canned=is_canned,
        )
        for answer_id, item_id, text, is_canned in table[
            ["item_id", "text", "is_canned"]
        ].itertuples(name=None)
    ]
