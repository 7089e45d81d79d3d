"""Propose edits to every answer's text; the text itself never changes."""

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.ids import AnswerId
from piecework.postprocess.apply import Text, clean_and_propose, forget_texts, protected_words
from piecework.results.unused_memory import give_back
from piecework.results.word_verdicts import as_people_say, right_here, spoken_of
from piecework.store import results


def clean(opened: OpenedCampaign) -> int:
    """Clean all answers together and store the edits; return how many there are.

    Edits that cleaning is not certain of are stored as proposals.

    Dropped answers are cleaned too: they are exported, and a word that workers wrote
    about many items is not a typo, even if some of these answers were dropped. Texts
    from custom pages are not cleaned: they may be in any language. People's decisions
    about words override the rules.
    """
    verdicts = results.load_words(opened.store)
    is_known = opened.campaign.task.html_page is None
    texts = _texts(opened, right_here(verdicts)) if is_known else []
    cleaning = clean_and_propose(texts)
    forget_texts()
    made, unsure = {}, {}
    for text_id, proposals in cleaning.proposals.items():
        accepted = [edit for edit in proposals if spoken_of(edit, verdicts)]
        both = sorted([*cleaning.edits[text_id], *accepted], key=lambda edit: edit.start)
        if edited := as_people_say(both, verdicts):
            made[AnswerId(text_id)] = edited
        if left := tuple(edit for edit in proposals if edit not in accepted):
            unsure[AnswerId(text_id)] = left
    results.replace_edits(opened.store, made, unsure)
    give_back()  # a hundred megabytes for 195,905 captions
    return sum(map(len, made.values()))


def _texts(opened: OpenedCampaign, right: frozenset[str]) -> list[Text]:
    items = opened.campaign.items
    protected = {str(item.item_id): protected_words(item) | right for item in items}
    table = opened.answers()[["item_id", "text", "is_canned"]]
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
