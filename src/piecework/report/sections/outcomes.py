"""From the answers asked for to the answers that enter the dataset, and who decided.

How many answers items took, if a campaign asks until their labels are certain; and what
was decided about answers, assignments and workers, by whom and why.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from piecework.domain.text import NOTHING, count, plural, plural_of, share
from piecework.qc.reasons import GAP
from piecework.report import plots
from piecework.report.components import Figure, Quote, Section, Table, number, table, text
from piecework.report.facts import AsNeeded
from piecework.report.formatting import excerpt, part_of, with_share
from piecework.report.model import BY_POLICY, Outcome, ReportModel, tally

_MEANINGS: Mapping[Outcome, str] = {
    "rejected": "Rejected: the assignment was rejected and not paid",
    "dropped": "Dropped: paid, but kept out of the dataset",
    "surplus": "Surplus: good, but more than the number wanted",
    "canned": "Canned: accepted, with the page's sentence for unrecognisable images",
    "novel": "Free text: accepted, in the worker's own words",
}

_MIXED_IN = "Mixed in to check workers: not in the dataset"

_COLOURS: Mapping[Outcome, str] = {
    "rejected": plots.RED,
    "dropped": plots.RED,
    "surplus": plots.GREY,
    "canned": plots.GREY,
    "novel": plots.GREEN,
}


_ALL_LEVELS = 12
"""If more answers are wanted than this, levels without any item are left out."""


def funnel_section(model: ReportModel) -> Section:
    """Count the answers by outcome."""
    return Section(
        key="funnel",
        title="What became of the answers",
        lead=(
            _lead(model),
            f"Every {_those(model)} answer has exactly one outcome and is exported with it.",
        ),
        # Otherwise the first page shows the plot.
        figures=(funnel_figure(model),) if model.agreement else (),
        tables=(_coverage(model), _outcomes(model)),
    )


def _outcomes(model: ReportModel) -> Table:
    is_flagged = model.is_flagged[model.outcomes.index]
    answers = model.outcomes.value_counts()
    flagged = model.outcomes[is_flagged].value_counts()
    rows = [
        (_meaning(model, outcome), answers.get(outcome, 0), flagged.get(outcome, 0))
        for outcome in model.possible_outcomes
    ]
    mixed_in = model.facts.mixed_in.index
    of_known = (_MIXED_IN, len(mixed_in), int(model.is_flagged[mixed_in].sum()))
    return table(
        f"Outcomes of the {_those(model)} answers",
        (
            *rows,
            (f"All {_those(model)}", model.submitted, _flagged(model)),
            *([of_known] if len(mixed_in) else []),
        ),
        text("Outcome"),
        number("Answers"),
        number(
            "Share",
            lambda row: NOTHING if row[0] == _MIXED_IN else share(row[1], model.submitted),
        ),
        number("Flagged", lambda row: part_of(row[2], row[1])),
        is_middle=True,
        note="Flagged: a heuristic flagged the answer, its assignment or its worker. "
        "A flag is a suspicion, not a verdict.",
    )


_IMPORTED: dict[Outcome, str] = {
    **_MEANINGS,
    "rejected": "Rejected: set aside here, with all of its assignment",
    "dropped": "Dropped: kept out of the dataset",
    "surplus": "Surplus: good, but its worker's second answer about the item",
}
"""For answers that another tool collected."""


def _lead(model: ReportModel) -> str:
    facts = model.facts
    accepted = count(model.count("canned", "novel"))
    of_these = (
        f", among them {plural(model.count('novel'), model.accepted_noun)}"
        if _has_kinds(model)
        else ""
    )
    if facts.imported is not None:
        return (
            f"{part_of(model.submitted, len(model.came), 'imported answer')} "
            f"about {plural(facts.items, model.item_noun)} are decided; {accepted} "
            f"were accepted{of_these}."
        )
    waits = f" ({count(model.waiting)} not decided yet)" * bool(model.waiting)
    return (
        f"The campaign asks for {model.answers_each} about each "
        f"of {plural(facts.items, model.item_noun)}: {count(model.wanted)} in all. "
        f"{plural(len(model.came), 'answer')} came back{waits}; {accepted} were "
        f"accepted{of_these}."
    )


def _those(model: ReportModel) -> str:
    """The adjective for answers that have an outcome."""
    is_whole = model.facts.imported is None and not model.waiting
    return "submitted" if is_whole else "decided"


def _name(model: ReportModel, outcome: Outcome) -> str:
    """The name of an outcome; without canned texts, "novel" answers are called "kept"."""
    if outcome != "novel":
        return outcome
    return "free text" if _has_kinds(model) else "kept"


def _has_kinds(model: ReportModel) -> bool:
    """Whether an accepted answer is either a free text or a canned one."""
    return bool(model.text_noun and model.facts.task.canned_text)


def _meaning(model: ReportModel, outcome: Outcome) -> str:
    if _name(model, outcome) == "kept":
        is_ours = model.facts.imported is None
        return "Kept: accepted" + ", up to the number wanted" * is_ours
    meanings = _MEANINGS if model.facts.imported is None else _IMPORTED
    return meanings[outcome]


def _flagged(model: ReportModel) -> int:
    return int(model.is_flagged[model.outcomes.index].sum())


def funnel_figure(model: ReportModel) -> Figure:
    """Show the answers by outcome as bars."""
    submitted = model.submitted
    flagged = _flagged(model)
    # How many answers another tool wanted is unknown.
    first, whole = "wanted", model.wanted
    if model.facts.imported is not None:
        first, whole = "imported", len(model.came)
    rows = [
        plots.Bar(first, whole, count(whole)),
        plots.Bar(_those(model), submitted, count(submitted)),
        plots.Bar("of these flagged", flagged, with_share(flagged, submitted), plots.AMBER),
        *(
            plots.Bar(
                _name(model, outcome),
                model.count(outcome),
                with_share(model.count(outcome), submitted),
                _COLOURS[outcome],
            )
            for outcome in model.possible_outcomes
            if model.count(outcome)
        ),
    ]
    title = f"Answers from {first} to {_name(model, 'novel')}"
    return plots.bar_figure(rows, key="funnel", title=title)


def _coverage(model: ReportModel) -> Table:
    rule, is_ours, items = model.facts.as_needed, model.facts.imported is None, model.facts.items
    wanted = model.facts.wanted_per_item if rule is None else rule.most
    levels = tally(model.accepted_per_item, at_least=wanted)
    levels[0] = items - int(levels.sum())
    shows_all = is_ours and wanted <= _ALL_LEVELS
    return table(
        f"Accepted answers per {model.item_noun}",
        [
            (level, of_level)
            for level, of_level in enumerate(levels)
            if items and (of_level or shows_all)
        ],
        # How many answers another tool wanted is unknown.
        text("Accepted answers", lambda row: f"{row[0]} of {wanted}" if is_ours else row[0]),
        number(plural_of(model.item_noun).capitalize()),
        number("Share", lambda row: share(row[1], items)),
        empty=f"The campaign has no {plural_of(model.item_noun)}.",
    )


def _asked(model: ReportModel, sure: Counter[int], all_: Counter[int]) -> Table:
    noun = model.item_noun
    return table(
        f"Accepted answers per {noun}",
        sorted(all_.items()),
        number("Accepted answers"),
        number(plural_of(noun).capitalize()),
        number("Certain enough", lambda row: sure[row[0]]),
        number("Share", lambda row: share(sure[row[0]], row[1])),
        empty=_NO_ESTIMATE,
        note="Estimated from what was known at the time; the probabilities of labels in the "
        "dataset also use what later answers showed about workers.",
    )


def _verdicts(verdicts: pd.DataFrame, by_policy: pd.Series, *, is_paid: bool) -> Table:
    kind = ["subject_kind", "verdict"]
    decided = verdicts.groupby(kind).size().to_dict()
    of_policy = Counter(verdicts[by_policy].groupby(kind).size().to_dict())
    return table(
        "Verdicts",
        [kind for kind in _ORDER if kind in decided],
        text("Verdict", lambda kind: f"{kind[1]} {kind[0]}"),
        number("By policy", lambda kind: of_policy[kind]),
        number("By a person", lambda kind: decided[kind] - of_policy[kind]),
        number("All", lambda kind: decided[kind]),
        note="Dropped answers are paid for; rejected assignments are not. Excluded "
        "workers get no more HITs of this campaign; their accounts are not affected."
        if is_paid
        else "These verdicts do not affect pay: the work was done elsewhere.",
        empty="Nothing has been decided.",
    )


_NO_ESTIMATE = "Nothing is estimated yet."


def as_needed_section(model: ReportModel) -> Section | None:
    """Show the answers per item, and what that saved; None if all get the same."""
    rule = model.facts.as_needed
    if rule is None:
        return None
    weighed = rule.sureness
    sure = [answers for answers, probability in weighed if probability >= rule.until]
    return Section(
        key="as-needed",
        title="As many answers as needed",
        lead=tuple(_as_needed_lead(model, rule)) if weighed else (_NO_ESTIMATE,),
        tables=(_asked(model, Counter(sure), Counter(a for a, _ in weighed)),),
    )


def _as_needed_lead(model: ReportModel, rule: AsNeeded) -> Iterator[str]:
    noun, least, weighed = model.item_noun, model.facts.wanted_per_item, rule.sureness
    asked_out = [
        answers
        for answers, probability in weighed
        if probability >= rule.until or answers >= rule.most
    ]
    n_sure = sum(probability >= rule.until for _, probability in weighed)
    yield (
        f"Each {noun} gets {plural(least, 'answer')}, and more, up to {rule.most}, "
        f"while {_certainty(model)} is below {rule.until:g}. "
        f"{part_of(n_sure, len(weighed), noun)} with an estimate reached that."
    )
    # A cap, the last round or a person stopped it, or it is still running.
    if early := len(weighed) - len(asked_out):
        yield (
            f"Not asked to the end: {plural(early, noun)}, below that and "
            f"with fewer than {rule.most} answers."
        )
    if asked_out:
        taken, most = sum(asked_out), rule.most * len(asked_out)
        yield (
            f"{plural(len(asked_out), noun)} asked to the end took "
            f"{plural(taken, 'accepted answer')}; {rule.most} for each would have been "
            f"{count(most)}: {share(most - taken, most)} saved. One more answer about "
            f"some {plural_of(noun)} of a HIT costs as much as a whole HIT."
        )


def _certainty(model: ReportModel) -> str:
    task, label = model.facts.task, "the probability of its label"
    merged = "the agreement that its merged answer would have with another such answer"
    if not task.merged_fields:
        return label
    return f"{label}, or {merged}," if task.label_fields else merged


_MOST_REASONS = 25
_REASON_CHARACTERS = 300

_ORDER = (
    ("answer", "keep"),
    ("answer", "drop"),
    ("assignment", "approve"),
    ("assignment", "reject"),
    ("worker", "exclude"),
    ("worker", "block"),
    ("worker", "include"),
)


def decisions_section(model: ReportModel) -> Section:
    """Show the verdicts by who decided, and their reasons."""
    verdicts = model.verdicts
    by_policy = verdicts["decided_by"].str.startswith(BY_POLICY)
    return Section(
        key="decisions",
        title="What was decided, and why",
        lead=(_decisions_lead(model, by_policy),),
        tables=(
            _verdicts(verdicts, by_policy, is_paid=model.facts.imported is None),
            _reasons(verdicts.assign(because=model.as_stated(verdicts)), by_policy),
        ),
    )


def _decisions_lead(model: ReportModel, by_policy: pd.Series) -> str:
    verdicts = model.verdicts
    people = verdicts.loc[~by_policy, "decided_by"].nunique()
    by_people = (
        f"{count((~by_policy).sum())} by {plural(people, 'person')}"
        if people
        else "none by a person"
    )
    overruled = len(model.facts.decisions) - len(verdicts)
    return (
        f"{plural(len(verdicts), 'decision')} in force: {count(by_policy.sum())} by "
        f"the policy in the campaign file, {by_people}. "
        + f"{plural(overruled, 'earlier decision')} about the same subjects overruled, "
        f"but kept on record." * bool(overruled)
    )


def _reasons(verdicts: pd.DataFrame, by_policy: pd.Series) -> Table:
    decider = by_policy.map({True: "policy", False: "person"})
    sizes = (
        verdicts.assign(decider=decider)
        .groupby(["subject_kind", "verdict", "because", "decider"])
        .size()
        .reset_index(name="times")
        .sort_values(
            ["times", "subject_kind", "verdict", "because"], ascending=[False, True, True, True]
        )
    )
    return table(
        "Reasons, the most frequent first",
        sizes.head(_MOST_REASONS).to_dict("records"),
        text("Verdict", lambda row: f"{row['verdict']} {row['subject_kind']}"),
        text("Because", lambda row: Quote(_without_stop(row["because"]))),
        text("Decided by", "decider"),
        number("Times", "times"),
        note=_note(verdicts["because"], sizes.iloc[_MOST_REASONS:]),
        is_middle=True,
        empty="Nothing has been decided.",
    )


def _without_stop(reason: str) -> str:
    """A reason whose last word is evidence, without the full stop after the dots."""
    shown = reason.removesuffix(".") if reason.endswith(f"{GAP}.") else reason
    return excerpt(shown, limit=_REASON_CHARACTERS)


def _note(reasons: "pd.Series[str]", hidden: pd.DataFrame) -> str:
    """What `…` stands for, and what is not shown."""
    has_gaps = bool(reasons.str.contains(GAP, regex=False).any())
    gaps = f"“{GAP}” stands for the evidence, which differs from case to case."
    rest = (
        f"{plural(len(hidden), 'rarer reason')} not shown, given "
        f"{plural(int(hidden['times'].sum()), 'time')}."
    )
    return " ".join([gaps] * has_gaps + [rest] * bool(len(hidden)))
