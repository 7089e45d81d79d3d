"""Propose edits to every answer's text; the text itself is never touched."""

from collections.abc import Mapping

from domain.edit import Edit
from domain.ids import AnswerId
from flows.campaign_run import CampaignStore
from postprocess.apply import Text, clean_and_propose, protected_words
from store import edits


def clean(campaign_store: CampaignStore) -> int:
    """Clean all answers together and keep the edits; how many there are.

    What cleaning is not sure enough of is kept beside them, as proposals.

    Dropped answers are cleaned too: they are exported, and a word that workers wrote
    about many items is no typo, even if some of these answers were dropped. Texts of a
    page of somebody's own stay as they are: they may be in any language.
    """
    is_known = campaign_store.campaign.task.html_page is None
    cleaning = clean_and_propose(_texts(campaign_store) if is_known else [])
    made = _of_answers(cleaning.edits)
    edits.replace_all(campaign_store.store, made, _of_answers(cleaning.proposals))
    return sum(map(len, made.values()))


def _of_answers(
    edits_by_text: Mapping[str, tuple[Edit, ...]],
) -> dict[AnswerId, tuple[Edit, ...]]:
    return {AnswerId(text_id): made for text_id, made in edits_by_text.items() if made}


def _texts(campaign_store: CampaignStore) -> list[Text]:
    items = campaign_store.campaign.items
    protected = {str(item.item_id): protected_words(item) for item in items}
    table = campaign_store.answers()[["item_id", "text", "is_canned"]]
    return [
        Text(
            text_id=answer_id,
            item_id=item_id,
            text=text,
            protected=protected[item_id],
            is_canned=is_canned,
        )
        for answer_id, item_id, text, is_canned in table.itertuples(name=None)
    ]
