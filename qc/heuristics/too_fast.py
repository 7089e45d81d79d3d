"""An answer that was sent faster than a person can think of it and type it.

Idea: limits for the seconds per item and the words typed per second. Rules that compare
workers miss fast ones if most are fast. The fastest of 168,000 typists reach about two
words a second (Dhakal et al., CHI 2018: 120 words a minute; mean 52), and they only
copied a text.

Silent: if no time is known.

Naive reading: fast work is bad. But on 3,387 paraphrases labelled by an expert, time
tells cheaters from others no better than a coin (AUC 0.51). Only below five seconds per
text were all flagged texts cheating, and these three are 0.5 % of all cheating. So the
limits are set where honest work is hardly possible, and the few answers they flag are
almost certainly bad.

Edge cases: the canned text takes one click: it has a limit of its own and no typing
speed. So has every answer of a batch in which most answers have no text, because there
is nothing to type. `best` takes the first known of shown, page and market time. Zero or
negative is below any limit. A value exactly at a limit is not beyond it. An empty text
has no typing speed. Pasted text is judged too: it was not typed in that time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount
from piecework.qc.plain_text import word_counts_of
from piecework.qc.scores import Facts, Scope, Tallied, Tally, grade, measure_text, scored, sentences
from piecework.qc.scores import tally as tally_of

NAME = "too_fast"
TITLE = "Impossibly fast"
VERSION = 2
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "batch"
BEST_FIRST = ("shown_seconds", "page_seconds", "market_seconds")
COLUMNS = ("batch", "text", "is_canned", *BEST_FIRST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limits; 0 seconds, or a very large speed, is a limit that nothing passes.

    Attributes:
        min_seconds: flag an item that took fewer seconds (ours; see above).
        min_seconds_canned: the same for the canned text, and where there is nothing to
            type (ours: three clicks).
        max_words_per_second: flag above this typing speed (Dhakal et al. 2018).
        time: which definition; `best` takes the most precise one that is known.
    """

    min_seconds: Amount = 5.0
    min_seconds_canned: Amount = 2.0
    max_words_per_second: Amount = 2.0
    time: Literal["best", "shown_seconds", "page_seconds", "market_seconds"] = "best"


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """By batch: answers (`n_answers`), and those with a text (`n_texts`)."""
    has_text = word_counts_of(table) > 0
    return tally_of(
        table[["batch"]],
        n_answers=np.ones(len(table), dtype="int64"),
        n_texts=has_text.astype("int64"),
    )


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """By batch, whether at least half of its answers have a text (`asks_for_text`)."""
    asks = 2 * counts["n_texts"] >= counts["n_answers"]
    return counts[["batch"]].assign(asks_for_text=asks).set_index("batch")


def score(table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per answer.

    Args:
        table: all answers of each batch, or any if `usual` is of all answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    seconds = _seconds(table, params).to_numpy(dtype="float64")
    canned = table["is_canned"].to_numpy()
    words = np.where(canned, 0.0, word_counts_of(table))
    asks_for_text = usual["asks_for_text"].reindex(table["batch"]).to_numpy("bool")
    is_click = canned | ~asks_for_text
    least = np.where(is_click, params.min_seconds_canned, params.min_seconds)
    possible = np.where(seconds > 0, seconds, np.nan)
    with np.errstate(over="ignore"):  # a time of almost nothing: infinitely fast
        speed = words / possible
        shortness = least / possible
        haste = speed / (params.max_words_per_second or np.nan)
    never = seconds <= 0
    flag = never | (seconds < least) | (speed > params.max_words_per_second)
    beyond = np.where(never, np.inf, np.fmax(shortness, haste))
    suspicion = grade(beyond, 1.0, flag=flag)

    def sentence(seconds: float, speed: float, least: float) -> str:
        most = params.max_words_per_second
        is_short, is_hasty = seconds < max(least, 0.0), speed > most
        took = f"takes {measure_text(seconds, least)} seconds"
        typed = f"types {measure_text(speed, most)} words a second"
        if is_short or not is_hasty:
            took += f" (expected at least {least:g})"
        if is_hasty:
            typed += f" (expected at most {most:g})"
            return f"{took} and {typed}" if is_short else f"{typed}, in {took[6:]}"
        return took

    return scored(
        table.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(flag | (suspicion > 0), sentence, seconds, speed, least),
    )


def _seconds(table: pd.DataFrame, params: Params) -> pd.Series[float]:
    if params.time != "best":
        return table[params.time]
    best = table[BEST_FIRST[0]]
    for column in BEST_FIRST[1:]:
        best = best.fillna(table[column])
    return best


FACTS = Facts(tallied=Tallied(tally, usual_of, score))
