"""Answers of other sources and of other rules, beside this campaign's.

The files of other tools and the decisions there beside ours; what models said about the
items, and how many answers their labels saved.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.answers_needed import Replay, Replays, saved
from piecework.domain.text import count, plural, plural_of, share
from piecework.report.components import Link, Question, Section, Table, number, table, text
from piecework.report.facts import ImportedFacts
from piecework.report.formatting import excerpt, part_of, wage
from piecework.report.model import ReportModel

_REJECTED = "rejected"
_MOST_OUTCOMES = 30
_MOST_FEEDBACK = 3
_FEEDBACK_CHARACTERS = 160


def imported_section(model: ReportModel) -> Section | None:
    """Show files and outcomes; None if answers were collected here."""
    imported = model.facts.imported
    if imported is None:
        return None
    return Section(
        key="imported",
        title="Where the answers come from",
        lead=(
            (
                "Another tool collected these answers; piecework posted and paid "
                "nothing. Approvals and rejections there are not evidence: the "
                "heuristics do not see them."
            ),
            *_of_workers(model, imported),
            *_of_pay(imported),
        ),
        tables=(_files(imported), *_outcomes(model, imported)),
    )


def decided_elsewhere(model: ReportModel) -> Question | None:
    """Say what the requester rejected elsewhere, and what they wrote about it.

    None if answers were collected here, or if nothing was rejected or written.
    """
    imported = model.facts.imported
    if imported is None:
        return None
    is_rejected = rejected_elsewhere(model)
    words = imported.feedback.reindex(model.came.index).fillna("").str.strip()
    about = words[is_rejected & (words != "")]
    if about.empty:
        about = words[words != ""]
    rejected = int(is_rejected.sum())
    if not rejected and about.empty:
        return None
    counts = sorted(about.value_counts().items(), key=lambda pair: (-pair[1], pair[0]))
    return Question(
        name="What was decided elsewhere",
        answer=_against_flags(model, is_rejected),
        points=tuple(
            f"{plural(times, 'answer')}: the requester wrote "
            f"“{excerpt(str(feedback), limit=_FEEDBACK_CHARACTERS)}”"
            for feedback, times in counts[:_MOST_FEEDBACK]
        ),
    )


def rejected_elsewhere(model: ReportModel) -> "pd.Series[bool]":
    """Whether another tool rejected an answer that came, by its id."""
    imported = model.facts.imported
    if imported is None:
        return pd.Series(data=False, index=model.came.index)
    outcomes = imported.outcomes.reindex(model.came.index).fillna("")
    return outcomes.str.strip().str.casefold() == _REJECTED


def _against_flags(model: ReportModel, is_rejected: "pd.Series[bool]") -> str:
    rejected, others = int(is_rejected.sum()), int((~is_rejected).sum())
    if not rejected:
        return "The requester rejected nothing there."
    flagged = model.is_flagged[model.came.index]
    both = part_of(int((flagged & is_rejected).sum()), rejected)
    beside = part_of(int((flagged & ~is_rejected).sum()), others)
    of_others = f", and of the others {beside}" * bool(others)
    return (
        f"The requester rejected {part_of(rejected, len(model.came), 'answer')} there. "
        f"The heuristics, which do not see that, flag {both} of these{of_others}."
    )


def _of_workers(model: ReportModel, imported: ImportedFacts) -> tuple[str, ...]:
    if not imported.unnamed_workers:
        return ()
    assignments = plural(imported.unnamed_workers, "assignment")
    if not model.named_workers:
        sentence = (
            f"The files name no workers. Each of {assignments} counts as a different "
            "person's, so nothing is known about single workers."
        )
        return (sentence,)
    sentence = (
        f"The files name no worker for {assignments}: each counts as a different "
        "person's, so nothing is known about that person's other answers."
    )
    return (sentence,)


def _of_pay(imported: ImportedFacts) -> tuple[str, ...]:
    wages = imported.wages_cents_per_hour
    if wages.empty:
        return ()
    sentence = (
        "According to the rewards and times in the files, half of "
        f"{plural(len(wages), 'worker')} earned {wage(wages.median(), 'USD')} or "
        "more, if everything was paid."
    )
    return (sentence,)


def _files(imported: ImportedFacts) -> Table:
    return table(
        "Files",
        imported.files,
        text("File", lambda file: excerpt(file.file)),
        text("Format", lambda file: file.format_name),
        number("Assignments", lambda file: file.assignments),
        number("Known before", lambda file: file.known),
        number("Never sent", lambda file: file.not_sent),
        number("Unreadable rows", lambda file: file.unreadable),
        note="Known before: already read from this or another file, and not counted "
        "twice. The store keeps unreadable rows.",
        is_wide=True,
    )


def _outcomes(model: ReportModel, imported: ImportedFacts) -> tuple[Table, ...]:
    elsewhere = imported.outcomes.reindex(model.came.index).fillna("")
    if not elsewhere.map(bool).any():
        return ()
    here = model.outcomes.reindex(elsewhere.index)
    answers = pd.DataFrame(
        {
            "elsewhere": elsewhere,
            "answers": 1,
            "flagged": model.is_flagged[model.came.index],
            "out": here.isin(["dropped", "rejected"]),
            "waits": here.isna(),
        }
    )
    counts = answers.groupby("elsewhere", as_index=False).sum()
    ranked = counts.sort_values("answers", ascending=False, kind="stable")
    rarer = len(ranked) - _MOST_OUTCOMES
    return (
        table(
            "What was decided elsewhere, and here",
            ranked.head(_MOST_OUTCOMES).to_dict("records"),
            text("Elsewhere", lambda row: excerpt(str(row["elsewhere"])) or "nothing"),
            number("Answers", "answers"),
            number("Flagged here", lambda row: part_of(row["flagged"], row["answers"])),
            number("Dropped here", lambda row: part_of(row["out"], row["answers"])),
            number("Not decided here", "waits"),
            note=f"{count(rarer)} rarer outcomes are not shown." if rarer > 0 else "",
            is_wide=True,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineModel:
    """How often the labels of a model agree with others.

    Attributes:
        items: items that it labels.
        with_people: of these, items with a label from people's answers alone.
        as_people: of these, items with the same label.
        with_final: of its items, those with a label in the dataset.
        as_final: of these, items with the same label.
    """

    name: str
    items: int
    with_people: int
    as_people: int
    with_final: int
    as_final: int


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Labels of models, which join people's votes.

    Attributes:
        field: the field that they label.
        models: a row for each model.
        replays: the answers asked for with and without models; `None` if they cannot
            be estimated.
        is_rule_its_own: whether the campaign itself asks by the rule of the replays.
        answered: items with answers that count; the replays may have fewer.
    """

    field: str
    models: tuple[MachineModel, ...]
    replays: Replays | None
    is_rule_its_own: bool
    answered: int


def machine_section(model: ReportModel) -> Section | None:
    """Show agreement by model, and the replays; None for a campaign without models."""
    machine = model.facts.of(Machine)
    if machine is None:
        return None
    replays = machine.replays
    by_model = table(
        "Labels of each model",
        machine.models,
        text("Model", lambda of: excerpt(of.name, limit=_NAME_CHARACTERS)),
        number(f"Labelled {plural_of(model.item_noun)}", lambda of: of.items),
        number("Same as people", lambda of: share(of.as_people, of.with_people)),
        number("Same as dataset", lambda of: share(of.as_final, of.with_final)),
        note="People: the likeliest label from all kept answers, without models. "
        "Dataset: with the models, or settled by a person; so a model also agrees with "
        "itself there. Shares are of labels that both have. A tie is no label.",
    )
    return Section(
        key="machine",
        title="Labels of models",
        lead=(
            f"Labels of {plural(len(machine.models), 'model')} for {machine.field}.",
            *(_replayed(model, machine, replays) if replays else (_NO_REPLAY,)),
        ),
        tables=(by_model, *([_asked_for(replays, model.item_noun)] if replays else [])),
    )


def _asked_for(replays: Replays, noun: str) -> Table:
    return table(
        f"Answers asked for in the replay, per {noun}",
        (
            ("People alone", replays.people),
            ("With models", replays.models),
            ("Shuffled", replays.shuffled),
        ),
        text("Labels from", lambda row: row[0]),
        number("Answers", lambda row: f"{row[1].asked.mean():.2f}"),
        number("Certain enough", lambda row: share(int(row[1].is_sure.sum()), len(row[1].asked))),
        number("Same label", lambda row: share(row[1].same, replays.comparable)),
        note="Same label: as from all kept answers of people alone. One shuffle, of "
        "all models alike. The intervals resample items and take the workers' accuracy "
        "as estimated. A HIT of several items is posted whole, so real rounds may take "
        "more.",
    )


_NAME_CHARACTERS = 40

_NO_REPLAY = (
    "What the models saved is not estimated: there are too few answers for an estimate "
    "of the workers' accuracy."
)


def _replayed(model: ReportModel, machine: Machine, replays: Replays) -> Iterator[str]:
    noun, rule = model.item_noun, replays.rule
    items = len(replays.people.asked)
    part = "" if items == machine.answered else f"the first {count(items)} of "
    own = "" if machine.is_rule_its_own else "This campaign asks all items alike. "
    yield (
        f"{own}The kept answers about {part}{plural(machine.answered, noun)} were "
        f"asked for again in their order: from {replays.least} to {rule.most} for each "
        f"{noun}, until the probability of its label is {rule.until:g}."
    )
    seed = model.facts.drawing_seed
    yield f"With the models, {_saving(replays, replays.models, seed)}"
    yield (
        f"With the models' labels shuffled among the {plural_of(noun)}, as a wrong "
        f"model has them, {_saving(replays, replays.shuffled, seed)}"
    )
    if lacking := replays.people.lacking:
        yield (
            f"People alone would ask for more answers than were kept about "
            f"{part_of(lacking, items, noun)}, with the models about "
            f"{count(replays.models.lacking)}. What is not exact has bounds: these "
            "take no further answers, or all that may be asked for."
        )


def _saving(replays: Replays, replay: Replay, seed: int) -> str:
    lowest, highest, low, high = saved(replays, replay, seed=seed)
    most = replays.rule.most
    after = _bounds(replay.asked.sum(), replay.at_most(most).sum())
    before = _bounds(replays.people.asked.sum(), replays.people.at_most(most).sum())
    answers = f"{after} answers instead of {before}"
    if lowest < 0 < highest:
        return f"{answers}: too few answers were kept to say which is less."
    if highest <= 0 and low < 0:
        lowest, highest, low, high = -highest, -lowest, -high, -low
        change = "more"
    else:
        change = "saved"
    shares = _bounds_of_percent(lowest, highest)
    return f"{answers}: {shares} {change} (95 % interval {_percent(low)} to {_percent(high)})."


def _bounds(few: float, many: float) -> str:
    return count(few) if few == many else f"{count(few)} to {count(many)}"


def _bounds_of_percent(few: float, many: float) -> str:
    first, last = _percent(few), _percent(many)
    return first if first == last else f"{first} to {last}"


def _percent(part: float) -> str:
    shown = f"{100 * part:.1f} %"
    return "0.0 %" if shown == "-0.0 %" else shown.replace("-", "\N{MINUS SIGN}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOutcome:
    """What one set of rules does with all answers.

    Attributes:
        name: of the rules, in a few words.
        page: where its page is, from the report's folder; "" for the campaign's own rules.
        kept: answers kept; `dropped`: set aside; `absent`: not asked for.
        excluded: workers.
        rejected: assignments.
        paid: rewards and fees of approved work, for people; "" if nothing was paid here.
        labels: labels that differ from those by the campaign's own rules.
        bad_out: answers set aside of those known to be bad, such as "5 of 6"; "" if nothing
            is known.
        good_out: the same of good ones.
    """

    name: str
    page: str
    kept: int
    dropped: int
    absent: int
    excluded: int
    rejected: int
    paid: str
    labels: int
    bad_out: str
    good_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRules:
    """The campaign's own rules and others.

    Attributes:
        outcomes: the campaign's own first; empty if they were not computed.
        has_labels: whether the task has labels.
        truth: from what it is known which answers are bad; "" if nothing is known.
        sentence: how to read them, or how to compute them.
    """

    outcomes: tuple[RulesOutcome, ...]
    has_labels: bool = False
    truth: str = ""
    sentence: str = ""


def other_rules_section(model: ReportModel) -> Section | None:
    """Show what other rules would have done; None if there is nothing to compare."""
    others = model.facts.of(OtherRules)
    if others is None:
        return None
    rows = others.outcomes
    compared = table(
        "The same answers under other rules",
        rows,
        text("Rules", lambda each: Link(each.name, each.page) if each.page else each.name),
        number("Answers kept", "kept"),
        number("Set aside", "dropped"),
        number("Not asked for", "absent"),
        number("Workers excluded", "excluded"),
        number("Rejected", "rejected", spoken="Assignments rejected"),
        number("Paid", "paid", spoken="Rewards and fees", is_shown=any(each.paid for each in rows)),
        number("Labels that flip", "labels", is_shown=others.has_labels),
        number("Bad set aside", "bad_out", is_shown=bool(others.truth)),
        number("Good set aside", "good_out", is_shown=bool(others.truth)),
        note="Not asked for: the worker would have been excluded before."
        + (f" Bad, good: known from {others.truth.partition(':')[0]}." if others.truth else "")
        + " Each name leads to a page beside this report, with the answers that change.",
        is_wide=True,
    )
    return Section(
        key="other-rules",
        title="What other rules would have done",
        lead=(others.sentence,),
        tables=(compared,) if rows else (),
    )
