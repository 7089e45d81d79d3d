"""A sentence is repeated under many items and fits none of them in particular.

Idea: spam that passes every rule of a page is a sentence that fits anything. Its author
need not be known: what others wrote about the same items shows whether the sentence is
about them. In half of VizWiz-Captions val, "a very wonderful view and worth seeing at
all times my friend" appears on 47 pictures. It shares no more words with their other
captions than with the captions of any picture.

Naive reading: count how often a sentence appears. But "A picture of the food is on the
packaging" appears on 18 pictures, "A computer screen is displaying a window with a
message" on 13, and both are true of their pictures. On some pictures they share more
words with other captions than chance gives, and on the rest about as many. So the mean
evidence (`qc/text_fit.py`) against a sentence has to be at least `min_errors` standard
errors.

Edge cases: a sentence needs `min_items` items of its batch that others wrote about; if
it is flagged, it is flagged under all items of the batch. Case, punctuation and spacing
do not count. The canned text and an empty text raise no suspicion. A sentence with the
same evidence everywhere has a standard error of at least `LEAST_SD` of one text.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.domain.counts import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.facts import Facts
from piecework.qc.parameters import Amount, Count, Counted
from piecework.qc.plain_text import plain_texts
from piecework.qc.scores import Scope, coded, grade, quoted, scored, sentences, summed
from piecework.qc.text_fit import COLUMNS as COMPARED
from piecework.qc.text_fit import text_fit

NAME = "sentence_off_items"
TITLE = "Repeated sentence that fits no item"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "batch"
COLUMNS = COMPARED

LEAST_SD = 0.25
"""The least standard deviation of the log odds: five equal texts are not certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many items, and how clear the evidence must be.

    Attributes:
        min_items: different items of a batch that have the sentence (ours).
        min_errors: standard errors by which it fits less than chance (ours: 3).
    """

    min_items: Annotated[Count, Counted.OF_BATCH] = 10
    min_errors: Amount = 3.0


def together(table: pd.DataFrame, params: Params) -> npt.NDArray[np.bool_]:
    """The rows that have to be scored together; no other row can be flagged.

    A sentence has one set of words, so these are the texts with enough copies.

    Args:
        table: of `piecework.qc.text_fit.with_text_fit`.
        params: how many copies are enough.
    """
    return (text_fit(table)["copies"] >= params.min_items).to_numpy()


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    ordered = table.sort_index()
    fits = text_fit(ordered)
    codes = _sentence_codes(ordered)
    repeated = _repeated(codes, fits["log_odds"], params).loc[table.index]
    items = repeated["items"].to_numpy()
    enough = items >= params.min_items
    errors = np.where(enough, repeated["errors"].to_numpy(), 0.0)
    flag = enough & (errors >= params.min_errors)

    def sentence(items: int, shared: float, chance: float, text: str) -> str:
        return (
            f"fits none of its {plural(items, 'item')} better than another item: on "
            f"average shares {shared:.1f} words with others' texts about the same "
            f"item, where chance gives {chance:.1f}: {quoted(text)}"
        )

    return scored(
        table.index,
        suspicion=grade(errors, params.min_errors, flag=flag),
        flag=flag,
        evidence=sentences(
            flag, sentence, items, *_means(codes, fits, table, flag), table["text"]
        ),
    )


def _sentence_codes(table: pd.DataFrame) -> pd.DataFrame:
    """By row, the code of its sentence in its batch, and of its item there."""
    places, different = pd.factorize(table["text"])
    sentences_, _ = coded(pd.Series(plain_texts(different.tolist())))
    batches, _ = coded(table["batch"])
    codes = pd.DataFrame({"sentence": sentences_[places], "batch": batches})
    codes["item"], _ = coded(table["item_id"])
    return codes.set_index(table.index)


def _repeated(
    codes: pd.DataFrame, log_odds: "pd.Series[float]", params: Params
) -> pd.DataFrame:
    """By row, the number of `items` with its sentence, and the `errors` against it."""
    codes = codes.assign(against=-log_odds)
    compared = codes[log_odds.notna()]
    rows = _spreads(compared)
    often = rows["size"] >= params.min_items
    keys = ["batch", "sentence"]
    several = compared.set_index(keys).loc[rows.index[often]]
    rows["items"] = several.groupby(keys)["item"].nunique()
    rows["items"] = rows["items"].fillna(0).astype("int64")
    sd = rows["std"].fillna(0.0).clip(lower=LEAST_SD)
    rows["errors"] = rows["mean"] / (sd / np.sqrt(rows["size"]))
    sentence_rows = rows.reindex(pd.MultiIndex.from_frame(codes[keys]))
    sentence_rows = sentence_rows.set_axis(codes.index, axis=0)
    items = sentence_rows["items"].fillna(0).astype("int64")
    return pd.DataFrame({"items": items, "errors": sentence_rows["errors"].fillna(0.0)})


def _spreads(compared: pd.DataFrame) -> pd.DataFrame:
    """By batch and sentence, `size`, `mean` and sample `std` of `against`."""
    keys = ["batch", "sentence"]
    by_sentence = compared.groupby(keys, sort=False)
    codes = by_sentence.ngroup().to_numpy().astype("intp")
    sizes = by_sentence.size()
    n = sizes.to_numpy()
    against = compared[["against"]]
    means = summed(against, codes, len(sizes))["against"].to_numpy() / n
    apart = (against["against"].to_numpy() - means[codes]) ** 2
    squares = summed(against.assign(against=apart), codes, len(sizes))["against"]
    variance = squares.to_numpy() / np.where(n > 1, n - 1, np.nan)
    return pd.DataFrame({"size": sizes, "mean": means, "std": np.sqrt(variance)})


def _means(
    codes: pd.DataFrame,
    fits: pd.DataFrame,
    table: pd.DataFrame,
    flag: npt.NDArray[np.bool_],
) -> tuple["pd.Series[float]", "pd.Series[float]"]:
    """Return, for each flagged row, its sentence's mean `shared` and `by_chance`."""
    flagged = codes.loc[table.index[flag]].sort_index()
    groups = [flagged["batch"], flagged["sentence"]]
    means = fits.loc[flagged.index].groupby(groups)[["shared", "by_chance"]]
    whole = means.transform("mean").reindex(table.index)
    return whole["shared"], whole["by_chance"]


FACTS = Facts(together=together)
