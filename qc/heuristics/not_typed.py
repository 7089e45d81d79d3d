"""Text that was hardly typed on the page: pasted, or entered by a program.

Idea: a text that did not come by keys, a composition or speech was written somewhere
else. Where the page recorded how the text was entered
(docs/explanation/worker-pages.md), the suspicion is the probability that most of it was
not typed there. It follows from the share of characters that were pasted from outside
the page, made by a script, appeared without an event, or came in one burst faster than
speech; and from keys at even or impossibly short intervals. Without a record, the
page's counts decide: a text with almost no keystrokes is flagged if there was a paste,
or if it appeared in no time or after the page lost focus.

Silent: if the page counted and recorded nothing, or a record has fewer than ten new
characters.

Naive reading: such texts are fraud. But people write elsewhere and paste their own
words, and the page cannot know who wrote a text or whether it is good. And a text that
looks typed may be a machine's: a person who retypes it, and a program that sends keys
at a person's intervals, leave the record of a person who writes. Without a record,
dictation and a phone's suggestions send few keystrokes too, so few keystrokes alone
flag nothing. A policy must not reject for this alone.

Edge cases: the probability holds where one text in six was not typed; it was fitted to
sessions in a browser whose rhythms were made up
(docs/internals/measurements/typing.md), not to people's. Where nothing in a record
speaks against a text, the suspicion is 0, although one such text in forty was not typed
in the sessions. Without a record and a paste, nothing is flagged where most texts of
the batch have fewer than `usual_keystrokes` per character, because there the page
starts with a text to edit, or does not count keys. Records and counts come from the
worker's own browser; a program that sends false ones is not detected. In 2023 a
third to a half of crowd workers used text generators for a summarisation task
(Veselovsky et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Share
from piecework.qc.plain_text import lengths, word_counts_of
from piecework.qc.scores import Facts, Scope, Tallied, Tally, rows_of, scored, sentences
from piecework.qc.scores import tally as tally_of
from piecework.qc.typing_evidence import Typing, typing_of

NAME = "not_typed"
TITLE = "Text not typed on the page"
VERSION = 2
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "batch"
COLUMNS = (
    "batch",
    "text",
    "is_canned",
    "pastes",
    "keystrokes",
    "focus_losses",
    "shown_seconds",
    "typing",
)

_COUNTS = ("pastes", "keystrokes", "focus_losses", "shown_seconds")

Floats: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What counts as hardly typed, and what else must be true.

    Attributes:
        flag_from: with a record, flag from this probability on (ours).
        less_keystrokes_per_character: without a record, flag below this many per
            character (ours).
        min_pastes: and from this many pastes on this item (ours),
        min_focus_losses: or this many losses of focus (ours),
        max_words_per_second: or above this speed (Dhakal et al. 2018).
        usual_keystrokes: keystrokes per character that half of the batch must have
            (ours).
    """

    flag_from: Share = 0.8
    less_keystrokes_per_character: Share = 0.2
    min_pastes: Count = 1
    min_focus_losses: Count = 1
    max_words_per_second: Amount = 2.0
    usual_keystrokes: Share = 0.5


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """How often each `rate` of keystrokes per character occurs in a `batch`."""
    return tally_of(
        {"batch": table["batch"].to_numpy(), "rate": _rates(table, lengths(table["text"]))}
    )


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """By batch, the median `rate`."""
    return rows_of(counts).groupby("batch")[["rate"]].median()


def score(table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per answer.

    Args:
        table: all answers of each batch, or any if `usual` is of all answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    records = _records(table)
    is_counted = ~_is_recorded(table)
    probability = np.array([record.probability if record else 0.0 for record in records])
    by_counts, counted = _by_counts(table, params, usual)
    flag = np.where(is_counted, by_counts, probability >= params.flag_from)
    length = lengths(table["text"])
    columns = (table[name] for name in _COUNTS)
    return scored(
        table.index,
        suspicion=np.where(is_counted, counted, probability),
        flag=flag,
        evidence=sentences(flag, _evidence, records, length, *columns),
    )


def _by_counts(
    table: pd.DataFrame, params: Params, usual: pd.DataFrame
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Return flags and suspicions by the page's counts alone."""
    pastes, _, losses, seconds = (table[name].to_numpy() for name in _COUNTS)
    rate = _rates(table, lengths(table["text"]))
    usual_rates = usual["rate"].reindex(table["batch"]).to_numpy(dtype="float64")
    with np.errstate(over="ignore"):  # a time of almost nothing: infinitely fast
        speed = word_counts_of(table) / np.where(seconds > 0, seconds, np.nan)
    elsewhere = (losses >= params.min_focus_losses) | (speed > params.max_words_per_second)
    typing_counts = usual_rates >= params.usual_keystrokes
    flag = (rate < params.less_keystrokes_per_character) & (
        (pastes >= params.min_pastes) | (elsewhere & typing_counts)
    )
    part = rate / (params.less_keystrokes_per_character or np.nan)
    return flag, np.where(flag, 1.0 - 0.5 * np.nan_to_num(part), 0.0)


def _evidence(
    record: Typing | None,
    length: float,
    pastes: float,
    keystrokes: float,
    losses: float,
    seconds: float,
) -> str:
    if record is not None:
        return (
            f"was entered with {record}, {plural(record.characters, 'character')} in "
            f"all; most of it was not typed here with a probability of "
            f"{record.probability:.0%}; the page cannot know who wrote it"
        )
    clauses = [f"has {plural(length, 'character')} but {plural(keystrokes, 'keystroke')}"]
    clauses += [plural(pastes, "paste")] if pastes >= 0 else []
    clauses += [f"focus lost {plural(losses, 'time')}"] if losses > 0 else []
    clauses += [f"{seconds:.1f} seconds"] if seconds > 0 else []
    return ", ".join(clauses)


def _is_recorded(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which answers have a record; tables of earlier versions have none."""
    if "typing" not in table:
        return np.zeros(len(table), dtype=bool)
    return np.asarray(table["typing"] != "", dtype=bool)


def _records(table: pd.DataFrame) -> list[Typing | None]:
    """Return what the record of each written text says, if anything."""
    records: list[Typing | None] = [None] * len(table)
    is_read = _is_recorded(table) & ~table["is_canned"].to_numpy()
    texts, cells = table["text"].tolist(), table.get("typing", pd.Series()).tolist()
    for place in np.flatnonzero(is_read).tolist():
        if texts[place].strip():
            records[place] = typing_of(cells[place], texts[place])
    return records


def _rates(table: pd.DataFrame, length: Floats) -> Floats:
    """Keystrokes per character; NaN if they are not known or there is no text."""
    written = (length > 0) & ~table["is_canned"].to_numpy()
    keystrokes = table["keystrokes"].to_numpy()
    return np.asarray(np.where(written, keystrokes, np.nan) / np.where(written, length, np.nan))


FACTS = Facts(may_reject_alone=False, is_of_writing=True, tallied=Tallied(tally, usual_of, score))
