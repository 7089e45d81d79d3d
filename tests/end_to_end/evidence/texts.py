"""Sentences about texts, each with what checks it."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

from tests.end_to_end.evidence.raw_answers import RawAnswer, words
from tests.end_to_end.evidence.world import Claim, Match, World, is_near, is_quote, is_share

_A_WHOLE_HIT = 3
_ODDS = 25


def _one_sentence(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    texts = [world.text(answer) for answer in own]
    alike = {" ".join(words(text)) for text in texts}
    return (
        len(alike) == 1
        and len(own) == own[0].n_items == int(match[1])
        and any(is_quote(match[2], text) for text in texts)
    )


def _repeats(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    mine = [
        " ".join(words(world.text(raw_answer)))
        for raw_answer in world.firsts
        if raw_answer.worker_id == answer.worker_id and not world.is_canned(raw_answer)
    ]
    mine = [text for text in mine if text]
    times = Counter(mine)
    repeated = sum(times[text] for text in times if times[text] >= 3)
    return (
        times[" ".join(words(world.text(answer)))] == int(match[1])
        and is_share(match[2], repeated, len(mine))
        and is_quote(match[3], world.text(answer))
    )


def _capitals(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    text = world.text(own[0])
    capitals = sum(character.isupper() for character in text)
    return is_share(match[1], capitals, len(text)) and is_quote(match[2], text)


def _quality(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    text = world.text(own[0])
    quoted_words = match[1].split(", ")
    return (
        all(word in words(text) for word in quoted_words)
        and all(word == "quality" or word.startswith("blur") for word in quoted_words)
        and is_quote(match[2], text)
    )


def _canned(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    mine = [answer for answer in world.firsts if answer.worker_id == own[0].worker_id]
    used = sum(world.is_canned(answer) for answer in mine)
    return (used, len(mine)) == (int(match[1]), int(match[2]))


def _alone(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    on_item = [answer for answer in world.firsts if answer.item_id == own[0].item_id]
    uses = [answer.answer_id for answer in on_item if world.is_canned(answer) == (not match[2])]
    return uses == [own[0].answer_id] and len(on_item) == int(match[1])


def _other_text(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    votes = Counter(
        answer.sent[match[2]]
        for answer in world.firsts
        if answer.item_id == own[0].item_id and answer.sent[match[2]]
    )
    return (
        own[0].sent[match[2]] == match[1] != match[5]
        and votes[match[5]] == int(match[3])
        and votes.total() == int(match[4])
    )


def _asked_of_programs(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    return (
        match[1] == world.param("canary", "word", "")
        and match[1].lower() in words(world.text(answer))
        and not world.is_canned(answer)
        and is_quote(match[2], world.text(answer))
    )


def _before(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    (answer,) = own
    (earlier,) = [raw_answer for raw_answer in world.answers if raw_answer.answer_id == match[1]]
    return (
        earlier in world.firsts
        and answer not in world.firsts
        and (earlier.worker_id, earlier.item_id) == (answer.worker_id, answer.item_id)
        and earlier.submitted_at <= answer.submitted_at
    )


def _off_item(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    comparison = world.compared[own[0].answer_id]
    return (
        (comparison.shared, comparison.words, comparison.others)
        == (int(match[1]), int(match[2]), int(match[3]))
        and is_near(match[4], comparison.by_chance)
        and _are_odds(match[5], match[6], comparison.against)
    )


def _off_items(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    comparisons = [
        world.compared[answer.answer_id]
        for answer in world.answers
        if answer.worker_id == own[0].worker_id and answer.answer_id in world.compared
    ]
    # Texts with the same words are not independent: together they count as one.
    against: dict[frozenset[str], float] = defaultdict(float)
    for answer in world.answers:
        if answer.worker_id == own[0].worker_id and answer.answer_id in world.compared:
            wording = frozenset(words(world.text(answer)))
            against[wording] += world.compared[answer.answer_id].against
    return (
        sum(comparison.shared for comparison in comparisons) == int(match[1])
        and sum(comparison.words for comparison in comparisons) == int(match[2])
        and len(comparisons) == int(match[3])
        and is_near(match[4], sum(comparison.by_chance for comparison in comparisons))
        and _are_odds(
            match[5], match[6], sum(min(max(amount, -2), 5) for amount in against.values())
        )
    )


def _are_odds(is_more: str | None, odds: str, against: float) -> bool:
    if is_more:
        return against > math.log(float(odds.replace(",", "")))
    return is_near(odds, math.exp(against))


def _sentence_off(match: Match, own: Sequence[RawAnswer], world: World) -> bool:
    mine = words(world.text(own[0]))
    same = [
        answer
        for answer in world.answers
        if answer.answer_id in world.compared and words(world.text(answer)) == mine
    ]
    comparisons = [world.compared[answer.answer_id] for answer in same]
    return (
        len({answer.item_id for answer in same}) == int(match[1])
        and is_near(match[2], fmean(comparison.shared for comparison in comparisons))
        and is_near(match[3], fmean(comparison.by_chance for comparison in comparisons))
        and is_quote(match[4], world.text(own[0]))
    )


def _is_unlikely(match: Match, _: World) -> bool:
    return bool(match[5]) or int(match[6].replace(",", "")) >= _ODDS


CLAIMS = (
    Claim(
        "same_sentence_in_hit",
        r"repeats one sentence on all (\d+) items of the HIT: “(.*)”",
        _one_sentence,
        lambda match, _: int(match[1]) >= _A_WHOLE_HIT,
    ),
    Claim(
        "same_sentence",
        r"repeats one sentence on (\d+) items?; (.*) of this worker's texts are "
        r"repeated sentences: “(.*)”",
        _repeats,
    ),
    Claim("capitals", r"has (.*) of its characters in capitals: “(.*)”", _capitals),
    Claim("quality_words", r"mentions quality \((.*)\): “(.*)”", _quality),
    Claim(
        "canned_share",
        r"uses the canned text on (\d+) of (\d+) items?",
        _canned,
        lambda match, _: 2 * int(match[1]) > int(match[2]),
    ),
    Claim(
        "minority_canned",
        r"is the only one of (\d+) (not )?to use the canned text on this item",
        _alone,
    ),
    Claim(
        "text_disagreement",
        r"answers “(.*)” to (\w+); (\d+) of (\d+) answers say “(.*)”",
        _other_text,
    ),
    Claim(
        "canary",
        r"contains the word '(.*)', which the page asks only programs to write: "
        r"“(.*)”",
        _asked_of_programs,
    ),
    Claim(
        "answered_before", r"is the worker's second about this item, after answer (\S+)", _before
    ),
    Claim(
        "text_off_item",
        r"fits another item better: shares (\d+) of (\d+) different words? with (\d+) "
        r"other texts? about this item, where chance gives (\S+); word by word, "
        r"odds of (more than )?(\S+) to 1 for another item",
        _off_item,
        _is_unlikely,
    ),
    Claim(
        "texts_off_items",
        r"writes texts that fit other items (?:better than|as well as) their own: "
        r"shares (\d+) of (\d+) different words? in (\d+) texts? with others' texts "
        r"about the same items, where chance gives (\S+); word by word, "
        r"odds of (more than )?(\S+) to 1 for other items",
        _off_items,
        _is_unlikely,
    ),
    Claim(
        "sentence_off_items",
        r"fits none of its (\d+) items? better than another item: on average shares "
        r"(\S+) words with others' texts about the same item, where chance gives "
        r"(\S+): “(.*)”",
        _sentence_off,
        lambda match, _: float(match[2]) < float(match[3]),
    ),
)
"""Each kind of sentence, and what checks it."""
