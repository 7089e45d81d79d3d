"""Propose edits to every answer's text; the text itself is never touched."""

from domain.ids import AnswerId
from flows.campaign_run import CampaignStore
from postprocess.apply import Text, protected_words
from postprocess.apply import clean as apply_rules
from store import edits


def clean(campaign_store: CampaignStore) -> int:
    """Clean all answers together and keep the edits; how many there are.

    Dropped answers are cleaned too: they are exported, and a word that workers wrote
    about many items is no typo, even if some of these answers were dropped. Texts of a
    page of somebody's own stay as they are: they may be in any language.
    """
    is_known = campaign_store.campaign.task.html_page is None
    proposed = apply_rules(_texts(campaign_store)) if is_known else {}
    made = {AnswerId(text_id): edits_ for text_id, edits_ in proposed.items() if edits_}
    edits.replace_all(campaign_store.store, made)
    return sum(map(len, made.values()))


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
