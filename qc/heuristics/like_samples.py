"""Text that reads like the campaign's samples of programs, and not like its people's.

Idea: a program that describes pictures has habits: favourite beginnings, endings of
words, short function words in a fixed order. A campaign can name texts by programs
about its items, or items like them (`[machine] texts`). They are compared with what the
campaign's people wrote, by runs of two to four characters. The suspicion is the
probability that a text is one like the samples. If at least twenty texts have a record
of typing that shows keys, these are the people's side; otherwise all texts are, and
samples among them are allowed for.

Silent: if there are fewer than twenty samples or texts, too few items, or one worker
only; or the text has fewer than `min_words` words.

Naive reading: a suspected text is a machine's. But it only reads like these samples. An
honest person may write like a program, above all in one short sentence, and a person
who pastes a machine's text with changes may not. Programs that wrote no samples are not
recognised: with samples of one caption program, texts of another were told apart no
better than by chance (docs/internals/measurements/machine-texts.md). A policy must not reject for
this alone.

Edge cases: words used about few items do not count, as both sides describe the same
things. A text and all about its item are left out of the model that judges it. In
languages written without spaces little remains to compare. The probability holds where
one text in six is like the samples, and for workers who use the programs of the
samples.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Samples, Share
from piecework.qc.plain_text import word_counts_of
from piecework.qc.sample_model import LEAST_TEXTS, MOST_TEXTS, PRIOR, SampleModel
from piecework.qc.sample_model import fitted as fitted_model
from piecework.qc.scores import (
    SHOWN_FROM,
    Facts,
    Scope,
    Tallied,
    Tally,
    merged,
    scored,
    sentences,
    tally,
)
from piecework.qc.typing_evidence import typing_of

NAME = "like_samples"
TITLE = "Text that reads like machine samples"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "campaign"
COLUMNS = ("worker_id", "item_id", "text", "is_canned", "typing")

_KEYED = 0.1
"""Below this probability of not being typed, a record shows keys (ours)."""

Flags: TypeAlias = "npt.NDArray[np.bool_]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The samples, and the limits.

    Attributes:
        samples: texts of programs; `[machine] texts` names a file of them.
        flag_from: flag from this probability on (ours).
        min_words: shorter texts are not judged (ours).
    """

    samples: Samples = ()
    flag_from: Share = 0.9
    min_words: Count = 4


def learnt_from(table: pd.DataFrame, params: Params) -> Tally:
    """The texts that the model may learn from: by `is_keyed`, those of least hash.

    Of each side at most as many as the model takes, so all parts together have them.
    """
    # Most campaigns name no samples, and their texts need not be kept.
    table = table if params.samples else table.iloc[:0]
    chosen = table[_is_judged(table, params)]
    texts = chosen["text"].tolist()
    rows = pd.DataFrame(
        {
            "is_keyed": _is_keyed(chosen),
            "hash": [zlib.crc32(text.encode()) for text in texts],
            "text": texts,
            "item_id": chosen["item_id"].to_numpy(),
            "worker_id": chosen["worker_id"].to_numpy(),
        }
    )
    return _least(tally(rows))


def model_of(counts: Tally, params: Params) -> pd.DataFrame:
    """The model, as a table with one cell; empty if there can be none."""
    rows = _least(counts)
    keyed = rows[rows["is_keyed"]]
    if _reason(keyed, params):
        keyed = rows
    if _reason(keyed, params):
        return pd.DataFrame({"model": []})
    samples = params.samples[:MOST_TEXTS]
    model = fitted_model(
        keyed["text"].tolist()[:MOST_TEXTS],
        keyed["item_id"].tolist()[:MOST_TEXTS],
        [text for _, _, text in samples],
        [item for item, _, _ in samples],
    )
    return pd.DataFrame({"model": [] if model is None else [model]}, dtype="object")


def score(table: pd.DataFrame, params: Params, models: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per answer.

    Args:
        table: all answers, or any if `models` was made from all.
        params: samples and limits.
        models: of `model_of`, of all answers.
    """
    if models is None:
        models = model_of(learnt_from(table, params), params)
    suspicion = np.zeros(len(table))
    model: SampleModel | None = next(iter(models["model"]), None)
    if model is not None:
        places = np.flatnonzero(_is_judged(table, params))
        suspicion[places] = model.probability(
            table["text"].take(places).tolist(), table["item_id"].take(places).tolist()
        )

    def sentence(probability: float) -> str:
        assert model is not None  # noqa: S101 - there is a suspicion
        return (
            f"reads like a sample of a program with a probability of "
            f"{probability:.0%}, if one text in {1 / PRIOR:.0f} does (compared with "
            f"{plural(model.samples, 'sample')} and "
            f"{plural(model.texts, 'text')} about all items); this does not show who "
            "wrote it"
        )

    return scored(
        table.index,
        suspicion=suspicion,
        flag=suspicion >= params.flag_from,
        evidence=sentences(suspicion >= SHOWN_FROM, sentence, suspicion),
    )


def _least(counts: Tally) -> Tally:
    """Keep the rows that a model of all parts may take."""
    in_order = counts.sort_values(["hash", "text", "item_id", "worker_id"])
    return merged([in_order.groupby("is_keyed").head(MOST_TEXTS)])


def _is_judged(table: pd.DataFrame, params: Params) -> Flags:
    words = word_counts_of(table)
    return np.asarray(~table["is_canned"].to_numpy() & (words >= params.min_words))


def _is_keyed(table: pd.DataFrame) -> Flags:
    """Whether a text has a record of typing that shows keys."""
    cells = table["typing"] if "typing" in table else [""] * len(table)
    typings = (
        typing_of(cell, text) if cell else None
        for cell, text in zip(cells, table["text"], strict=True)
    )
    is_keyed = [t is not None and t.probability < _KEYED for t in typings]
    return np.array(is_keyed, dtype="bool")


def _reason(rows: pd.DataFrame, params: Params) -> str:
    """Why the rows and the samples make no model; empty if they do."""
    if not params.samples:
        return "the campaign names no samples of programs"
    if len(params.samples) < LEAST_TEXTS:
        return f"it needs {LEAST_TEXTS} samples of programs; there are {len(params.samples)}"
    if len(rows) < LEAST_TEXTS:
        return f"it needs {LEAST_TEXTS} texts of people; there are {len(rows)}"
    if len(rows["item_id"].unique()) == 1:
        return "all texts are about one item"
    workers = rows["worker_id"].unique()
    if len(workers) == 1 and workers[0]:
        return "one worker wrote all texts"
    return ""


def _silence(table: pd.DataFrame, params: Params) -> Iterator[str]:
    rows = learnt_from(table, params)
    if why := _reason(rows, params):
        yield why
    elif model_of(rows, params).empty:
        yield "the texts or the samples are about too few items to hold some out"


FACTS = Facts(
    may_reject_alone=False,
    is_of_writing=True,
    silence=_silence,
    tallied=Tallied(learnt_from, model_of, score),
)
