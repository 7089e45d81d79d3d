"""Clean the texts of a campaign, and give back the memory that it took.

The text itself never changes. A word that cleaning would change is accepted, kept or
replaced for the whole campaign. Later cleaning leaves alone the words that a person
called right; for others, the person's word replaces what cleaning would have written.
"""

import gc
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.edit import Edit
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AnswerId
from piecework.domain.tables import give_back
from piecework.domain.verdicts import WordVerdict
from piecework.postprocess.apply import (
    Text,
    clean_and_propose,
    forget_language,
    forget_texts,
    protected_words,
)
from piecework.postprocess.language.tokens import key_of
from piecework.postprocess.rules.real_words import NAME as REAL_WORDS
from piecework.postprocess.rules.spelling import NAME as SPELLING
from piecework.store import results, reviews
from piecework.store.database import writing
from piecework.store.reviews import Identity

_AROUND = 40
"""Characters of a text that are shown on each side of a word."""
_MOST_SHOWN = 3
_LONGEST = 60
_MANY = 20_000
"""From this number on, the next cleaning has to read again what it knows of English."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordShown:
    """A word with what cleaning proposes and where it occurs.

    Attributes:
        word: by `key_of`.
        after: what cleaning proposes most often, without the capitals of the words it
            replaces; "" if it no longer proposes anything.
        times: how often it would be changed.
        contexts: text before, the word as written, text after; a few different ones.
        verdict: a person's decision about it; `None` if there is none yet.
    """

    word: str
    after: str
    times: int
    contexts: Sequence[tuple[str, str, str]] = ()
    verdict: WordVerdict | None = None


def words_shown(opened: OpenedCampaign) -> list[WordShown]:
    """All words that cleaning changes or proposes to change, or that people decided.

    Undecided words come first, the most frequent first. Proposals are those of the last
    cleaning.
    """
    verdicts = results.load_words(opened.store)
    table = opened.answers()["text"]
    contexts: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    meant: dict[str, Counter[str]] = defaultdict(Counter)
    unsure = results.load_proposed_edits(opened.store)
    for answer_id, made in (*results.load_edits(opened.store).items(), *unsure.items()):
        for edit in filter(is_of_a_word, made):
            word = key_of(edit.before)
            meant[word][without_capitals_of(edit.before, edit.after)] += 1
            if len(contexts[word]) < _MOST_SHOWN:
                around = _context(str(table[answer_id]), edit)
                if around not in contexts[word]:
                    contexts[word].append(around)
    shown = [
        WordShown(
            word=word,
            after=meant[word].most_common(1)[0][0] if word in meant else "",
            times=meant[word].total() if word in meant else 0,
            contexts=contexts.get(word, ()),
            verdict=verdicts.get(word),
        )
        for word in sorted({*meant, *verdicts})
    ]
    return sorted(shown, key=lambda entry: (entry.verdict is not None, -entry.times))


def decide_word(
    opened: OpenedCampaign,
    word: str,
    *,
    meant: str | None,
    by: str,
    seen: str = results.OPEN,
    is_requester: bool = False,
) -> None:
    """Store a person's decision about a word.

    Args:
        opened: the campaign.
        word: as cleaning found it.
        meant: the replacement; `None`: the word is right.
        by: the person.
        seen: `mark_of` the earlier decision that the person saw.
        is_requester: whether the person may replace what others decided.

    Raises:
        ConfigError: the replacement is not a word, the word is unknown, or another person
            decided it.
        DecidedSince: it is not what the person saw.
    """
    if meant is not None:
        meant = " ".join(meant.split())
        if not meant or len(meant) > _LONGEST or not meant.isprintable():
            raise ConfigError([f"type a word of 1 to {_LONGEST} characters"])
    word = key_of(word)
    if word not in {entry.word for entry in words_shown(opened)}:
        raise ConfigError([f"cleaning proposes nothing for {word!r}"])
    with writing(opened.store):
        stored = results.load_words(opened.store).get(word)
        results.refuse_overwriting(stored, by=by, seen=seen, is_requester=is_requester)
        results.keep_word(
            opened.store,
            WordVerdict(word=word, meant=meant, reviewer=by, reviewed_at=opened.clock.now()),
        )
        reviews.add_event(
            opened.store,
            "word decided",
            Identity(name=by),
            at=opened.clock.now(),
            about=word if meant is None else f"{word} means {meant}",
        )


def reopen_word(
    opened: OpenedCampaign, word: str, *, by: str, seen: str, is_requester: bool
) -> None:
    """Remove the decision, so that cleaning proposes for the word again.

    Args:
        opened: the campaign.
        word: the word.
        by: the person who asks for it.
        seen: `mark_of` the decision that the person saw.
        is_requester: whether the person may remove what others decided.

    Raises:
        ConfigError: another person decided it.
        DecidedSince: it is not what the person saw.
    """
    word = key_of(word)
    with writing(opened.store):
        stored = results.load_words(opened.store).get(word)
        results.refuse_overwriting(stored, by=by, seen=seen, is_requester=is_requester)
        results.forget_word(opened.store, word)
        reviews.add_event(
            opened.store, "word reopened", Identity(name=by), at=opened.clock.now(), about=word
        )


def right_here(verdicts: Mapping[str, WordVerdict]) -> frozenset[str]:
    """Words that cleaning must not change, by `key_of`."""
    return frozenset(word for word, verdict in verdicts.items() if verdict.meant is None)


def spoken_of(edit: Edit, verdicts: Mapping[str, WordVerdict]) -> bool:
    """Whether a person gave a replacement for the word that an edit changes."""
    verdict = verdicts.get(key_of(edit.before)) if is_of_a_word(edit) else None
    return verdict is not None and verdict.meant is not None


def as_people_say(made: Iterable[Edit], verdicts: Mapping[str, WordVerdict]) -> tuple[Edit, ...]:
    """Edits with people's replacements instead of those that cleaning proposed."""
    return tuple(
        edited
        for edit in made
        if (edited := _edit_by_verdict(edit, verdicts)).before != edited.after
    )


def _edit_by_verdict(edit: Edit, verdicts: Mapping[str, WordVerdict]) -> Edit:
    verdict = verdicts.get(key_of(edit.before)) if is_of_a_word(edit) else None
    if verdict is None or verdict.meant is None:
        return edit
    meant = verdict.meant
    if len(edit.before) > 1 and edit.before.isupper():
        meant = meant.upper()
    elif edit.before[:1].isupper():
        meant = meant[:1].upper() + meant[1:]
    reason = "a person gave the replacement"
    return replace(edit, after=meant, reason=reason, probability=1.0)


def without_capitals_of(written: str, meant: str) -> str:
    """Return a replacement without the capitals that it has because the word had them.

    A decision about a word also holds where the word has no capital.

    >>> without_capitals_of("Skatebaord", "Skateboard"), without_capitals_of("Mcdonld", "McDonald")
    ('skateboard', 'McDonald')
    """
    is_shouted = written.isupper() and meant.isupper()
    is_begun = written[:1].isupper() and meant[1:] == meant[1:].lower()
    return meant.lower() if is_shouted or is_begun else meant


def is_of_a_word(edit: Edit) -> bool:
    """Whether an edit changes exactly one word."""
    return edit.rule in {SPELLING, REAL_WORDS}


def _context(text: str, edit: Edit) -> tuple[str, str, str]:
    begin = max(0, edit.start - _AROUND)
    return (
        ("…" if begin else "") + text[begin : edit.start],
        edit.before,
        text[edit.end : edit.end + _AROUND],
    )


def clean_answers(opened: OpenedCampaign) -> int:
    """Clean all answers together and store the edits; return how many there are.

    Edits that cleaning is not certain of are stored as proposals.

    Dropped answers are cleaned too: they are exported, and a word that workers wrote
    about many items is not a typo, even if some of these answers were dropped. Texts
    from custom pages are not cleaned: they may be in any language; nor are transcripts, which
    are word for word. People's decisions about words override the rules.
    """
    give_back()  # what judging took: Arrow keeps memory that nothing else can use
    number = _clean_and_store(opened)
    if len(opened.answers()) >= _MANY:
        gc.collect()
    give_back()  # two hundred megabytes for 195,905 captions
    return number


def _clean_and_store(opened: OpenedCampaign) -> int:
    verdicts = results.load_words(opened.store)
    is_cleaned = opened.campaign.task.is_cleaned
    texts = _texts_to_clean(opened, right_here(verdicts)) if is_cleaned else []
    cleaning = clean_and_propose(texts)
    if len(texts) < _MANY:
        forget_texts()  # a process may clean many small campaigns
    else:
        forget_language()
    made, unsure = {}, {}
    for text_id, proposals in cleaning.proposals.items():
        accepted = [edit for edit in proposals if spoken_of(edit, verdicts)]
        both = sorted([*cleaning.edits[text_id], *accepted], key=lambda edit: edit.start)
        if edited := as_people_say(both, verdicts):
            made[AnswerId(text_id)] = edited
        if left := tuple(edit for edit in proposals if edit not in accepted):
            unsure[AnswerId(text_id)] = left
    results.replace_edits(opened.store, made, unsure)
    return sum(map(len, made.values()))


def _texts_to_clean(opened: OpenedCampaign, right: frozenset[str]) -> list[Text]:
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
