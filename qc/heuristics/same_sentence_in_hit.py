"""One sentence under every item of a HIT.

Idea: one sentence under every picture of a HIT hardly describes each of them.
`same_sentence` judges everything that a worker sent, this one a single HIT.

Silent: if one item of the HIT has another sentence, the canned text or none.

Naive reading: two equal sentences are enough. But two pictures of a HIT may show the
same thing. So the HIT needs `min_items` items, and the sentence `min_words` words: a
worker who is asked for a colour may truthfully write "red" three times.

Edge cases: case, punctuation and spacing do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, pd
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted
from piecework.qc.plain_text import plain_column
from piecework.qc.scores import Facts, Scope, quoted, scored, sentences

NAME = "same_sentence_in_hit"
TITLE = "One sentence for a whole HIT"
VERSION = 1
SUBJECT: SubjectKind = "assignment"
SCOPE: Scope = "batch"
COLUMNS = ("assignment_id", "text", "is_canned")
FACTS = Facts(amounts=frozenset({"every", "all", "each", "hit"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The least items of a HIT, and the least words of a sentence.

    Attributes:
        min_items: items of the assignment (ours).
        min_words: words of the sentence (ours).
    """

    min_items: Annotated[Count, Counted.OF_HIT] = 3
    min_words: Count = 3


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per assignment, in the order of their ids."""
    codes, different = pd.factorize(plain_column(table))
    lengths = np.array([len(text.split()) for text in different.tolist()], dtype="int64")
    counts = (lengths[codes] >= params.min_words) & ~table["is_canned"].to_numpy()
    answers = pd.DataFrame(
        {
            "assignment_id": table["assignment_id"].to_numpy(),
            "sentence": np.where(counts, codes, -1),
            "text": table["text"].to_numpy(),
        }
    )
    by_assignment = answers.groupby("assignment_id")
    code_ranges = by_assignment["sentence"].agg(["min", "max", "size"])
    flag = (
        (code_ranges["min"] == code_ranges["max"])
        & (code_ranges["min"] >= 0)
        & (code_ranges["size"] >= params.min_items)
    ).to_numpy()

    def sentence(size: int, text: str) -> str:
        return f"repeats one sentence on all {plural(size, 'item')} of the HIT: {text}"

    # The same words may be spelled differently; always quote the same spelling.
    flagged = answers[answers["assignment_id"].isin(code_ranges.index[flag])]
    quotes = flagged.groupby("assignment_id")["text"].min().map(quoted)
    return scored(
        code_ranges.index.astype("str"),
        suspicion=flag.astype("float64"),
        flag=flag,
        evidence=sentences(flag, sentence, code_ranges["size"], quotes.reindex(code_ranges.index)),
    )
