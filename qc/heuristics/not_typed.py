"""Text that was hardly typed on the page: pasted, dictated or written by a program.

Idea: the page counts pastes, keystrokes and losses of focus per item. A description of
a picture that has never been described cannot be copied from anywhere; a text that
appears with a paste, or in no time, or after the page lost focus, and almost without
keystrokes, was written somewhere else. In 2023 a third to a half of crowd workers were
found to use text generators for a summarisation task (Veselovsky et al. 2023).

Naive reading: such texts are fraud. But dictation and a phone's suggestions send few
keystrokes too, people write elsewhere and move text around, and the page cannot know
who wrote the text or whether it is good. So few keystrokes alone flag nothing; the
report shows the share of such texts. A policy must not reject for this alone.

Edge cases: missing counts raise no suspicion. The canned text and an empty text raise
none either: there was nothing to type. Without a paste, nothing is flagged where most
texts of the batch have fewer than `usual_keystrokes` per character, because there the
page starts with a text to edit, or does not count keys. The counts come from the
worker's own browser; a program that sends false ones is not detected.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.domain.counts import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.facts import Facts, Tallied
from piecework.qc.parameters import Amount, Count, Share
from piecework.qc.plain_text import lengths, word_counts
from piecework.qc.scores import Scope, scored, sentences
from piecework.qc.tallies import Tally, rows_of
from piecework.qc.tallies import tally as tally_of

NAME = "not_typed"
TITLE = "Text not typed on the page"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "batch"
COLUMNS = (
    "batch",
    "text",
    "is_canned",
    "pastes",
    "keystrokes",
    "focus_losses",
    "shown_seconds",
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What counts as hardly typed, and what else must be true.

    Attributes:
        less_keystrokes_per_character: flag below this many per character (ours).
        min_pastes: and from this many pastes on this item (ours),
        min_focus_losses: or this many losses of focus (ours),
        max_words_per_second: or above this speed (Dhakal et al. 2018).
        usual_keystrokes: keystrokes per character that half of the batch must have
            (ours).
    """

    less_keystrokes_per_character: Share = 0.2
    min_pastes: Count = 1
    min_focus_losses: Count = 1
    max_words_per_second: Amount = 2.0
    usual_keystrokes: Share = 0.5


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """How often each `rate` of keystrokes per character occurs in a `batch`."""
    return tally_of(
        {
            "batch": table["batch"].to_numpy(),
            "rate": _rates(table, lengths(table["text"])),
        }
    )


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """By batch, the median `rate`."""
    return rows_of(counts).groupby("batch")[["rate"]].median()


def score(
    table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None
) -> pd.DataFrame:
    """One row per answer.

    Args:
        table: all answers of each batch, or any if `usual` is of all answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    length = lengths(table["text"])
    words = word_counts(table["text"])
    pastes = table["pastes"].to_numpy()
    keystrokes = table["keystrokes"].to_numpy()
    losses = table["focus_losses"].to_numpy()
    seconds = table["shown_seconds"].to_numpy()
    rate = _rates(table, length)
    usual_rates = usual["rate"].reindex(table["batch"]).to_numpy(dtype="float64")
    with np.errstate(over="ignore"):  # a time of almost nothing: infinitely fast
        speed = words / np.where(seconds > 0, seconds, np.nan)
    elsewhere = (losses >= params.min_focus_losses) | (
        speed > params.max_words_per_second
    )
    typing_counts = usual_rates >= params.usual_keystrokes
    flag = (rate < params.less_keystrokes_per_character) & (
        (pastes >= params.min_pastes) | (elsewhere & typing_counts)
    )
    part = rate / (params.less_keystrokes_per_character or np.nan)

    def sentence(
        pastes: float, keystrokes: float, losses: float, seconds: float, length: float
    ) -> str:
        clauses = [
            f"has {plural(length, 'character')} but {plural(keystrokes, 'keystroke')}"
        ]
        clauses += [plural(pastes, "paste")] if pastes >= 0 else []
        clauses += [f"focus lost {plural(losses, 'time')}"] if losses > 0 else []
        clauses += [f"{seconds:.1f} seconds"] if seconds > 0 else []
        return ", ".join(clauses)

    return scored(
        table.index,
        suspicion=np.where(flag, 1.0 - 0.5 * np.nan_to_num(part), 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, pastes, keystrokes, losses, seconds, length),
    )


def _rates(table: pd.DataFrame, length: Floats) -> Floats:
    """Keystrokes per character; NaN if they are not known or there is no text."""
    written = (length > 0) & ~table["is_canned"].to_numpy()
    keystrokes = table["keystrokes"].to_numpy()
    return np.asarray(
        np.where(written, keystrokes, np.nan) / np.where(written, length, np.nan)
    )


FACTS = Facts(may_reject_alone=False, tallied=Tallied(tally, usual_of, score))
