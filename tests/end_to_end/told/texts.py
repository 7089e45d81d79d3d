"""Sentences about texts, each with what checks it."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from tests.end_to_end.told.raw_answers import RawAnswer, words
from tests.end_to_end.told.world import (
    Claim,
    Said,
    World,
    is_near,
    is_quote,
    is_share,
)

_A_WHOLE_HIT = 3
_ODDS = 25


def _one_sentence(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    texts = [world.text(one) for one in own]
    alike = {" ".join(words(text)) for text in texts}
    return (
        len(alike) == 1
        and len(own) == own[0].n_items == int(said[1])
        and any(is_quote(said[2], text) for text in texts)
    )


def _repeats(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    mine = [
        " ".join(words(world.text(one)))
        for one in world.firsts
        if one.worker_id == answer.worker_id and not world.is_canned(one)
    ]
    mine = [text for text in mine if text]
    times = Counter(mine)
    repeated = sum(times[text] for text in times if times[text] >= 3)
    return (
        times[" ".join(words(world.text(answer)))] == int(said[1])
        and is_share(said[2], repeated, len(mine))
        and is_quote(said[3], world.text(answer))
    )


def _capitals(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    text = world.text(own[0])
    capitals = sum(one.isupper() for one in text)
    return is_share(said[1], capitals, len(text)) and is_quote(said[2], text)


def _quality(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    text = world.text(own[0])
    told = said[1].split(", ")
    return (
        all(word in words(text) for word in told)
        and all(word == "quality" or word.startswith("blur") for word in told)
        and is_quote(said[2], text)
    )


def _canned(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    mine = [one for one in world.firsts if one.worker_id == own[0].worker_id]
    used = sum(world.is_canned(one) for one in mine)
    return (used, len(mine)) == (int(said[1]), int(said[2]))


def _alone(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    on_item = [one for one in world.firsts if one.item_id == own[0].item_id]
    uses = [one.answer_id for one in on_item if world.is_canned(one) == (not said[2])]
    return uses == [own[0].answer_id] and len(on_item) == int(said[1])


def _other_text(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    votes = Counter(
        one.sent[said[2]]
        for one in world.firsts
        if one.item_id == own[0].item_id and one.sent[said[2]]
    )
    return (
        own[0].sent[said[2]] == said[1] != said[5]
        and votes[said[5]] == int(said[3])
        and votes.total() == int(said[4])
    )


def _asked_of_programs(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    return (
        said[1] == world.param("canary", "word", "")
        and said[1].lower() in words(world.text(answer))
        and not world.is_canned(answer)
        and is_quote(said[2], world.text(answer))
    )


def _before(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    (earlier,) = [one for one in world.answers if one.answer_id == said[1]]
    return (
        earlier in world.firsts
        and answer not in world.firsts
        and (earlier.worker_id, earlier.item_id) == (answer.worker_id, answer.item_id)
        and earlier.submitted_at <= answer.submitted_at
    )


def _off_item(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    found = world.compared[own[0].answer_id]
    return (
        (found.shared, found.words, found.others)
        == (int(said[1]), int(said[2]), int(said[3]))
        and is_near(said[4], found.by_chance)
        and _are_odds(said[5], said[6], found.against)
    )


def _off_items(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    found = [
        world.compared[one.answer_id]
        for one in world.answers
        if one.worker_id == own[0].worker_id and one.answer_id in world.compared
    ]
    return (
        sum(one.shared for one in found) == int(said[1])
        and sum(one.words for one in found) == int(said[2])
        and len(found) == int(said[3])
        and is_near(said[4], sum(one.by_chance for one in found))
        and _are_odds(
            said[5], said[6], sum(min(max(one.against, -2), 5) for one in found)
        )
    )


def _are_odds(is_more: str | None, told: str, against: float) -> bool:
    if is_more:
        return against > math.log(float(told.replace(",", "")))
    return is_near(told, math.exp(against))


def _sentence_off(said: Said, own: Sequence[RawAnswer], world: World) -> bool:
    mine = words(world.text(own[0]))
    same = [
        one
        for one in world.answers
        if one.batch == own[0].batch
        and one.answer_id in world.compared
        and words(world.text(one)) == mine
    ]
    found = [world.compared[one.answer_id] for one in same]
    return (
        len({one.item_id for one in same}) == int(said[1])
        and is_near(said[2], fmean(one.shared for one in found))
        and is_near(said[3], fmean(one.by_chance for one in found))
        and is_quote(said[4], world.text(own[0]))
    )


def _is_unlikely(said: Said, _: World) -> bool:
    return bool(said[5]) or int(said[6].replace(",", "")) >= _ODDS


CLAIMS = (
    Claim(
        "same_sentence_in_hit",
        r"one sentence under all (\d+) items of the HIT: “(.*)”",
        _one_sentence,
        lambda said, _: int(said[1]) >= _A_WHOLE_HIT,
    ),
    Claim(
        "same_sentence",
        r"the same sentence on (\d+) items? of this worker, (.*) of whose texts "
        r"repeat: “(.*)”",
        _repeats,
    ),
    Claim("capitals", r"(.*) of the characters are capitals: “(.*)”", _capitals),
    Claim("quality_words", r"has words for quality \((.*)\): “(.*)”", _quality),
    Claim(
        "canned_share",
        r"used the canned text on (\d+) of (\d+) items?",
        _canned,
        lambda said, _: 2 * int(said[1]) > int(said[2]),
    ),
    Claim(
        "minority_canned",
        r"the only one of (\d+) (not )?to use the canned text on this item",
        _alone,
    ),
    Claim(
        "text_disagreement",
        r"says “(.*)” to (\w+); (\d+) of (\d+) say “(.*)”",
        _other_text,
    ),
    Claim(
        "canary",
        r"has the word '(.*)', for which only programs were asked, as the campaign "
        r"says: “(.*)”",
        _asked_of_programs,
    ),
    Claim(
        "answered_before",
        r"the same worker answered this item before, in answer (\S+)",
        _before,
    ),
    Claim(
        "text_off_item",
        r"(\d+) of (\d+) different words? are in (\d+) texts? of others about this "
        r"item, (\S+) would be in as many about another item; word by word, odds of "
        r"(more than )?(\S+) to 1 for another",
        _off_item,
        _is_unlikely,
    ),
    Claim(
        "texts_off_items",
        r"(\d+) of (\d+) different words? in (\d+) texts? are in others' texts about "
        r"the same items, (\S+) would be in as many about other items; word by word, "
        r"odds of (more than )?(\S+) to 1 for other items",
        _off_items,
        _is_unlikely,
    ),
    Claim(
        "sentence_off_items",
        r"stands on (\d+) items? that others wrote about; on average (\S+) of its words"
        r" are in their texts about the same item, (\S+) would be in those about any "
        r"other: “(.*)”",
        _sentence_off,
        lambda said, _: float(said[2]) < float(said[3]),
    ),
)
"""Each kind of sentence, and what checks it."""
