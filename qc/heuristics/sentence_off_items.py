"""A sentence is repeated under many items and fits none of them in particular.

Idea: as for `same_sentence`, but the author need not be known: what others wrote about
the same items shows whether the sentence is about them.

Silent: if others wrote about fewer than `min_items` of its items.

Naive reading: count how often a sentence appears. But "A picture of the food is on the
packaging" appears on 18 pictures, "A computer screen is displaying a window with a
message" on 13, and both are true of their pictures. On some pictures they share more
words with other captions than chance gives, and on the rest about as many. So the mean
evidence (`qc/text_fit.py`) against a sentence has to be at least `min_errors` standard
errors. Judging each batch alone misses a sentence that has too few items in each. Each
text is compared with its own batch, but the evidence is added up over the campaign.

Edge cases: a sentence needs `min_items` items that others wrote about; if it is
flagged, it is flagged under all items of the campaign, but answers of earlier batches
keep their decision. Case, punctuation and spacing do not count. A sentence with the
same evidence everywhere has a standard error of at least `LEAST_SD` of one text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted
from piecework.qc.plain_text import plain_of
from piecework.qc.scores import Codes, Facts, Scope, grade, quoted, scored, sentences, summed
from piecework.qc.text_fit import COLUMNS as COMPARED
from piecework.qc.text_fit import text_fit

NAME = "sentence_off_items"
TITLE = "Repeated sentence that fits no item"
VERSION = 2
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "campaign"
COLUMNS = COMPARED

LEAST_SD = 0.25
"""The least standard deviation of the log odds: five equal texts are not certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many items, and how clear the evidence must be.

    Attributes:
        min_items: different items that have the sentence (ours).
        min_errors: standard errors by which it fits less than chance (ours: 3).
    """

    min_items: Annotated[Count, Counted.ITEMS] = 10
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
    fits = text_fit(table)
    often = np.flatnonzero(_is_often(fits, params))
    if not table.index.is_monotonic_increasing:
        # Sums of floats depend on their order; sorting removes the order of rows.
        often = often[table.index.take(often).argsort()]
    sentences_, worded = pd.factorize(np.array(plain_of(table.take(often)), dtype="object"))
    items, _ = pd.factorize(table["item_id"].take(often))
    known = _sentences(fits.take(often), sentences_, len(worded), items, params)
    rows = pd.DataFrame(np.nan, index=table.index, columns=known.columns)
    rows.iloc[often] = known.to_numpy()[sentences_]
    errors = rows["errors"].fillna(0.0).to_numpy()
    flag = rows["items"].notna().to_numpy() & (errors >= params.min_errors)

    def sentence(items: float, shared: float, chance: float, text: str) -> str:
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
            flag, sentence, rows["items"], rows["shared"], rows["chance"], table["text"]
        ),
    )


def _is_often(fits: pd.DataFrame, params: Params) -> npt.NDArray[np.bool_]:
    """Whether each text has as many copies as a sentence needs; most texts have none.

    They are counted here, because a campaign's batches are compared separately.
    """
    codes, different = pd.factorize(fits["wording"])
    counts = np.bincount(codes[codes >= 0], minlength=len(different))
    return np.asarray((codes >= 0) & (np.append(counts, 0)[codes] >= params.min_items))


def _sentences(
    fits: pd.DataFrame, sentences_: Codes, size: int, items: Codes, params: Params
) -> pd.DataFrame:
    """By code of a sentence: `items`, `errors`, mean `shared` and `chance`; NaN with few items.

    Args:
        fits: of `text_fit`, in the order of the answers' ids.
        sentences_: the code of each answer's sentence.
        size: how many codes there are.
        items: the code of each answer's item.
        params: how many items are enough.
    """
    is_judged = fits["log_odds"].notna().to_numpy()
    n_items = max(items.max(initial=0) + 1, 1)
    pairs = pd.unique((sentences_ * n_items + items)[is_judged])
    about = np.bincount(pairs // n_items, minlength=size)
    is_judged = is_judged & (about >= params.min_items)[sentences_]
    judged, codes = fits[is_judged], sentences_[is_judged]
    amounts = pd.DataFrame(
        {
            "texts": 1.0,
            "against": -judged["log_odds"],
            "shared": judged["shared"],
            "chance": judged["by_chance"],
        }
    )
    sums = summed(amounts, codes, size)
    n = sums["texts"].where(sums["texts"] > 0).to_numpy()
    means = sums.div(n, axis=0)
    apart = (amounts[["against"]] - means[["against"]].to_numpy()[codes]) ** 2
    squares = summed(apart, codes, size)["against"].to_numpy()
    sd = np.sqrt(squares / np.maximum(n - 1, 1)).clip(min=LEAST_SD)
    return pd.DataFrame(
        {
            "items": np.where(n > 0, about, np.nan),
            "errors": means["against"].to_numpy() / (sd / np.sqrt(n)),
            "shared": means["shared"].to_numpy(),
            "chance": means["chance"].to_numpy(),
        }
    )


FACTS = Facts(together=together)
