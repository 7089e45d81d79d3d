"""Propose edits to every answer's text; the text itself is never touched."""

from domain.ids import AnswerId
from domain.tables import is_canned
from flows.campaign_run import CampaignStore
from flows.results.old_state import State, read_state
from postprocess.apply import Text, protected_words
from postprocess.apply import clean as apply_rules
from store import edits


def clean(run: CampaignStore) -> int:
    """Clean all answers together and keep the edits; how many there are.

    Dropped answers are cleaned too: they are exported, and a word that many people
    wrote is no slip, whoever wrote it.
    """
    proposed = apply_rules(_texts(run, read_state(run)))
    kept = {AnswerId(text_id): many for text_id, many in proposed.items() if many}
    edits.replace_all(run.store, kept)
    return sum(len(many) for many in kept.values())


def _texts(run: CampaignStore, state: State) -> list[Text]:
    task = run.campaign.task
    protected = {item.item_id: protected_words(item) for item in run.campaign.items}
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
