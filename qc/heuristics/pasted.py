"""Text that was pasted and not typed.

Idea: a description of a picture that nobody has described before cannot be copied from
anywhere; what is pasted comes from another answer or from a program that writes. The
page counts pastes and keystrokes per item.

Naive reading: flagging every paste. People write elsewhere, correct, and move text
around, so a paste counts only if there were almost no keystrokes for the text's length.
Few keystrokes alone count for nothing: dictation and phone keyboards send none.

Edge cases: missing counts are no suspicion. The canned text and an empty text are no
suspicion: nothing was to be typed. Both counts come from the worker's own browser; a
program that sends false ones is not found.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from domain.counts import plural
from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.scores import Scope, scored, sentences

NAME = "pasted"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("text", "is_canned", "pastes", "keystrokes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What is pasted.

    Attributes:
        min_pastes: pastes on this item (ours).
        less_keystrokes_per_character: flag below this many per character (ours).
    """

    min_pastes: Count = 1
    less_keystrokes_per_character: Share = 0.2


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    length = np.array(
        [len(text.strip()) for text in table["text"].tolist()], dtype="float64"
    )
    pastes = table["pastes"].to_numpy()
    keystrokes = table["keystrokes"].to_numpy()
    rate = keystrokes / np.where(length > 0, length, np.nan)
    typed = ~table["is_canned"].to_numpy()
    flag = (
        typed
        & (pastes >= params.min_pastes)
        & (rate < params.less_keystrokes_per_character)
    )
    part = rate / (params.less_keystrokes_per_character or np.nan)

    def sentence(pastes: float, keystrokes: float, length: float) -> str:
        return (
            f"{plural(pastes, 'paste')} and {plural(keystrokes, 'keystroke')} "
            f"for a text of {plural(length, 'character')}"
        )

    return scored(
        table.index,
        suspicion=np.where(flag, 1.0 - 0.5 * np.nan_to_num(part), 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, pastes, keystrokes, length),
    )
