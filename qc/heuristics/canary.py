"""A word that only a program that reads the whole page was told to write.

Idea: the page holds a sentence that is invisible and that no screen reader speaks; it
asks automatic writers to use a certain word. A worker who copies the page into a text
generator, or lets a program fill it in, passes the sentence on, and some programs obey.

Silent: if the campaign has no planted word.

Naive reading: a worker who does not use the word wrote the text themselves. But
programs that look at a picture of the page never see the sentence, and others are told
to ignore such requests. So a missing word says nothing. And a person may use the word
honestly: it should be rare and have nothing to do with the items (`check` refuses one
that appears in them). A policy must not reject for this alone.

Edge cases: for results that another tool collected, the campaign file must state the
word, if their page asked for one. Whole words count, in any case. If a browser does not
load the styles, the page shows the sentence and says who it is meant for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Word
from piecework.qc.scores import Facts, Scope, quoted, scored, sentences

NAME = "canary"
TITLE = "Word planted for programs"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("text", "is_canned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The word that the page asks programs to write.

    Attributes:
        word: a rare word that has nothing to do with the items; if empty, the page asks
            for none (ours).
    """

    word: Word = ""


def planted_word(settings: Mapping[str, Mapping[str, object] | None]) -> str:
    """The word that pages ask for with a campaign's settings; empty if none."""
    return str((settings.get(NAME) or {}).get("word", ""))


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
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
            f"contains the word {params.word!r}, which the page asks only programs to "
            f"write: {quoted(text)}"
        )

    return scored(
        table.index,
        suspicion=np.where(flag, 0.8, 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, texts),
    )


def _silence(_table: pd.DataFrame, params: Params) -> Iterator[str]:
    if not params.word:
        yield "the campaign names no word for programs to write"


FACTS = Facts(may_reject_alone=False, is_of_writing=True, silence=_silence)
