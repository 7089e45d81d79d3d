"""A word that only a program which reads the whole page was told to write.

Idea: the page holds a sentence that no eye sees and no screen reader speaks; it asks
automatic writers to use a certain word. Who copies the page into a text generator, or
lets a program fill it in, hands the sentence over, and some programs obey.

Naive reading: that who does not write the word wrote the text himself. Programs that
look at a picture of the page never meet the sentence, and others are told to ignore
such requests. So a missing word says nothing. And a person may use the word honestly:
it should be rare and have nothing to do with the items (`check` refuses one that stands
in them). No policy may reject by this alone.

Edge cases: without a word nothing is flagged; of results that another tool collected
only the campaign file can say whether their page asked for one. Whole words count, in
any case. The canned text and an empty text are no suspicion. A page that a person reads
without its styles shows the sentence, and says whom it is for.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from piecework.domain.verdicts import SubjectKind
from piecework.qc.facts import Facts
from piecework.qc.parameters import Word
from piecework.qc.scores import Scope, quoted, scored, sentences

NAME = "canary"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("text", "is_canned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What the page asks programs for.

    Attributes:
        word: a rare word that has nothing to do with the items; empty: none is asked
            for (ours).
    """

    word: Word = ""


def planted_word(settings: Mapping[str, Mapping[str, object] | None]) -> str:
    """The word that pages ask for by a campaign's settings; empty without one."""
    return str((settings.get(NAME) or {}).get("word", ""))


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    texts = table["text"].tolist()
    pattern = re.compile(rf"\b{re.escape(params.word)}\b", re.IGNORECASE)
    flag = np.array(
        [
            bool(params.word) and not is_canned and pattern.search(text) is not None
            for text, is_canned in zip(texts, table["is_canned"], strict=True)
        ],
        dtype="bool",
    )

    def sentence(text: str) -> str:
        return (
            f"has the word {params.word!r}, for which only programs were asked, as the "
            f"campaign says: {quoted(text)}"
        )

    return scored(
        table.index,
        suspicion=np.where(flag, 0.8, 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, texts),
    )


def _silence(_table: pd.DataFrame, params: Params) -> Iterator[str]:
    if not params.word:
        yield "no word is known for which only programs were asked"


FACTS = Facts(may_reject_alone=False, silence=_silence)
