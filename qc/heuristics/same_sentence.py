"""One sentence on many items, or the instructions themselves.

Idea: spam that passes every check of the page is a sentence that fits anything. In half
of VizWiz-Captions val, "a very wonderful view and worth seeing at all times my friend"
appears on 47 images, and a sentence of the instructions on 30.

Silent: about unknown workers, except for copied instructions.

Naive reading: count a sentence over all workers. But "A picture of the food is on the
packaging" appears on 18 images and is true of them; different people may well write the
same sentence. So a sentence counts within one worker, and only if repeated sentences
make up `min_share` of that worker's texts, all together: spammers rotate a few.
Sentences are compared without case, punctuation and spacing.

Edge cases: the canned text (which `canned_share` judges) and empty texts are left out
of counts and shares. If the worker answered an item twice, the first answer counts. A
value exactly at a limit is flagged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Phrases, Share
from piecework.qc.plain_text import plain_column, plain_texts
from piecework.qc.scores import (
    FIRST_ANSWER,
    Codes,
    Facts,
    Scope,
    coded,
    grade,
    is_first,
    quoted,
    scored,
    sentences,
)

NAME = "same_sentence"
TITLE = "Repeated sentence or copied instructions"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "worker"
COLUMNS = (*FIRST_ANSWER, "text", "is_canned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What counts as a repetition, and phrases that can only come from the page.

    Attributes:
        min_images: items of one worker from which a sentence is repeated (ours).
        min_share: flag if repeated sentences are this share of the worker's texts
            (ours).
        instructions: phrases of the task's page; a text that contains one is flagged
            (VizWiz).
    """

    min_images: Annotated[Count, Counted.OF_WORKER] = 3
    min_share: Share = 0.3
    instructions: Phrases = (
        "imagine how you would describe this image on the phone to a friend",
        "parts of the image that may be important to a person who is blind",
    )


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    texts = table["text"].tolist()
    places, different = pd.factorize(plain_column(table))
    plain = different.tolist()
    copies = np.zeros(len(plain), dtype="bool")
    for phrase in plain_texts(params.instructions):
        copies |= np.array([phrase in text for text in plain], dtype="bool")
    copied = copies[places]
    items, shares = _repetitions(table, plain, places, params)
    repeated = items >= params.min_images
    too_often = repeated & (shares >= params.min_share)
    flag = too_often | copied
    suspicion = grade(np.where(repeated, shares, 0.0), params.min_share, flag=flag)
    suspicion[copied] = 1.0

    def sentence(copied: object, items: int, repeating: float, text: str) -> str:
        if copied:
            return f"copies the instructions: {quoted(text)}"
        return (
            f"repeats one sentence on {plural(items, 'item')}; {share(repeating, 1)} "
            f"of this worker's texts are repeated sentences: {quoted(text)}"
        )

    return scored(
        table.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(flag | (suspicion > 0), sentence, copied, items, shares, texts),
    )


def _repetitions(
    table: pd.DataFrame, plain: list[str], places: Codes, params: Params
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Per answer: its worker's items with its sentence, and the worker's share.

    The share is that of the worker's texts that are repeated sentences.

    Args:
        table: the answers.
        plain: different sentences, as words.
        places: by answer, where its sentence is among those.
        params: what is a repetition.
    """
    workers, n_workers = coded(table["worker_id"])
    pairs, different = pd.factorize(workers * len(plain) + places)
    is_text = np.array([text != "" for text in plain], dtype="bool")[places]
    own = (
        is_text
        & (table["worker_id"] != "").to_numpy()
        & ~table["is_canned"].to_numpy()
        & is_first(table).to_numpy()
    )
    items = np.bincount(pairs[own], minlength=len(different))[pairs]
    texts = np.bincount(workers[own], minlength=n_workers)
    is_repeated = own & (items >= params.min_images)
    repeats = np.bincount(workers[is_repeated], minlength=n_workers)
    share = np.divide(repeats, texts, out=np.zeros(n_workers), where=texts > 0)
    return items, share[workers]


def _has_instructions(params: Params) -> bool:
    """Whether there are phrases that a single text can copy."""
    return bool(params.instructions)


FACTS = Facts(flags_below_counts=_has_instructions)
