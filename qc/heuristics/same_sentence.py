"""One sentence on many images, or the instructions themselves.

Idea: spam that passes every check of the page is a sentence that fits anything. In half
of VizWiz-Captions val "a very wonderful view and worth seeing at all times my friend"
stands on 47 images, and a sentence of the instructions on 30.

Naive reading: counting a sentence over all workers. "A picture of the food is on the
packaging" stands on 18 images and is true of them; different people may well write the
same. So a sentence counts within one worker, and only if sentences that he repeats make
up `least_share` of his texts, all together: spammers rotate a few. Sentences are
compared without case, punctuation and spacing.

Edge cases: the canned text is left out of counts and shares (`canned_share` has it), an
empty text too. Of an image that he answered twice, the first answer counts. Unknown
workers (empty id) have no repetitions, but copied instructions are found all the same.
Exactly at a limit is flagged.
"""

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Phrases, Share
from qc.scores import grade, is_first, quoted, sentences, table

NAME = "same_sentence"
VERSION = 1
SUBJECT: SubjectKind = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What is a repetition, and which phrases nobody would write himself.

    Attributes:
        least_images: images of one worker from which a sentence is repeated (ours).
        least_share: share of his texts that are repeated sentences, to flag (ours).
        instructions: phrases of the task's page; a text with one is flagged (VizWiz).
    """

    least_images: Count = 3
    least_share: Share = 0.3
    instructions: Phrases = (
        "imagine how you would describe this image on the phone to a friend",
        "parts of the image that may be important to a person who is blind",
    )


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    plain = pd.Series(
        [_plain(text) for text in frame["text"]], index=frame.index, dtype="str"
    )
    phrases = [_plain(phrase) for phrase in params.instructions]
    copied = np.array([any(p in text for p in phrases) for text in plain], dtype="bool")
    counts = _repetitions(frame, plain, params)
    repeated = (counts["images"] >= params.least_images).to_numpy()
    share = counts["share"].to_numpy()
    too_often = repeated & (share >= params.least_share)
    flag = too_often | copied
    suspicion = grade(np.where(repeated, share, 0.0), params.least_share, flag=flag)
    suspicion[copied] = 1.0

    def sentence(copied: object, images: float, share: float, text: str) -> str:
        if copied:
            return f"copies the instructions: {quoted(text)}"
        return (
            f"the same sentence on {images:.0f} images of this worker, "
            f"{share:.0%} of whose texts repeat: {quoted(text)}"
        )

    return table(
        frame.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(
            flag | (suspicion > 0),
            sentence,
            copied,
            counts["images"],
            share,
            frame["text"],
        ),
    )


def _repetitions(
    frame: pd.DataFrame, plain: "pd.Series[str]", params: Params
) -> pd.DataFrame:
    """Per answer: `images` of its worker with its sentence, `share` of repetitions."""
    said = pd.DataFrame({"worker": frame["worker_id"], "plain": plain})
    counts = (plain != "") & (said["worker"] != "") & ~frame["is_canned"]
    own = said[counts & is_first(frame)]
    images = own.groupby(["worker", "plain"]).size().rename("images").reset_index()
    repeats = images["images"].where(images["images"] >= params.least_images, 0)
    by_worker = images.assign(repeats=repeats).groupby("worker")
    share = by_worker["repeats"].sum() / by_worker["images"].sum()
    counted = said.merge(images, how="left", on=["worker", "plain"]).fillna(
        {"images": 0}
    )
    counted["share"] = counted["worker"].map(share).astype("float64").fillna(0.0)
    counted.index = frame.index
    return counted[["images", "share"]]


def _plain(text: str) -> str:
    """Words only: no case, no punctuation, single spaces.

    >>> _plain("  A very wonderful view,my friend. ")
    'a very wonderful view my friend'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+", folded))
