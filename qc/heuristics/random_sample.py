"""A random sample of answers for people to look at.

Idea: rules find what they look for; only a random sample says what they miss. A
mechanism of VizWiz-Captions (Gurari et al. 2020, appendix A.1): "random sample from all
results"; the paper gives no size.

Naive reading: shuffling the table and taking the first hundred. Then every new answer
changes the whole sample, and what was reviewed yesterday is not in it today. Here an
answer is in the sample when the hash of the seed and its id says so; later answers
change nothing about it.

Edge cases: the sample's size is a matter of chance, `share` is its expectation; 0
takes none and 1 takes all. Suspicion is always 0, for being drawn is nothing against an
answer.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.domain.verdicts import RANDOM_SAMPLE, SubjectKind
from piecework.qc.facts import Facts
from piecework.qc.parameters import Share
from piecework.qc.scores import Scope, scored, sentences

NAME = RANDOM_SAMPLE
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS: tuple[str, ...] = ()
FACTS = Facts()

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many, and which.

    Attributes:
        share: the part of all answers to review (ours; the paper states none).
        seed: another seed draws another sample; the campaign's seed if it is not given.
    """

    share: Share = 0.02
    seed: int = 0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    draws = _draws(params.seed, table.index.tolist())
    flag = draws < params.share

    def sentence(_: float) -> str:
        return f"drawn by chance for review (a share of {params.share:g} of all)"

    return scored(
        table.index,
        suspicion=np.zeros(len(table)),
        flag=flag,
        evidence=sentences(flag, sentence, draws),
    )


def _draws(seed: int, answer_ids: list[str]) -> npt.NDArray[np.float64]:
    """By id, a number in [0, 1) that depends on the seed and the id alone."""
    digests = b"".join(
        [
            hashlib.sha256(f"{seed}:{answer_id}".encode()).digest()
            for answer_id in answer_ids
        ]
    )
    first_eight_bytes = np.frombuffer(digests, ">u8")[:: _DIGEST_BYTES // 8]
    return np.asarray((first_eight_bytes >> np.uint64(16)) / 2.0**48)
