"""A random sample of answers for people to look at.

Idea: rules find what they look for; only a random sample shows what they miss.
VizWiz-Captions used this check.

Silent: never.

Naive reading: shuffle the table and take the first hundred answers. Then every new
answer changes the whole sample, and an answer reviewed yesterday may not be in it
today. Here a hash of the seed and the answer's id decides whether an answer is in the
sample; later answers do not change that.

Edge cases: the size of the sample varies; on average it is `share` of all answers. With
0 the sample is empty, with 1 it has all answers. Suspicion is always 0, because being
drawn says nothing against an answer. The paper (Gurari et al. 2020, appendix A.1):
"random sample from all results".
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.verdicts import RANDOM_SAMPLE, SubjectKind
from piecework.qc.parameters import Share
from piecework.qc.scores import Facts, Scope, scored, sentences

NAME = RANDOM_SAMPLE
TITLE = "Random sample"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS: tuple[str, ...] = ()
FACTS = Facts()

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many to draw, and which.

    Attributes:
        share: the share of all answers to review (ours; the paper states none).
        seed: another seed draws another sample; the default is the campaign's seed.
    """

    share: Share = 0.02
    seed: int = 0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    draws = _draws(params.seed, table.index.tolist())
    flag = draws < params.share

    def sentence(_: float) -> str:
        return f"drawn at random for review (a share of {params.share:g} of all)"

    return scored(
        table.index,
        suspicion=np.zeros(len(table)),
        flag=flag,
        evidence=sentences(flag, sentence, draws),
    )


def _draws(seed: int, answer_ids: list[str]) -> npt.NDArray[np.float64]:
    """By id, a number in [0, 1) that depends only on the seed and the id."""
    digests = b"".join(
        [hashlib.sha256(f"{seed}:{answer_id}".encode()).digest() for answer_id in answer_ids]
    )
    first_eight_bytes = np.frombuffer(digests, ">u8")[:: _DIGEST_BYTES // 8]
    return np.asarray((first_eight_bytes >> np.uint64(16)) / 2.0**48)
