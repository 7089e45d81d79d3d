"""What a reader must know first: the key figures, and the notes that bear on trust."""

from piecework.domain.column_names import SENT
from piecework.domain.text import NOTHING, count, plural, plural_of, share
from piecework.domain.verdicts import RANDOM_SAMPLE
from piecework.report.components import KeyFigure, Level, Note
from piecework.report.facts import Money
from piecework.report.formatting import duration, excerpt, listed, part_of
from piecework.report.model import BY_POLICY, ReportModel
from piecework.report.sections import known_answers, other_sources, provenance
from piecework.report.sections.money import rejected_words, wage_level, wage_notes

_MANY_FLAGGED = 1 / 3
"""With a larger part of the workers flagged, suspect the question first (ours)."""

_NAMES_SHOWN = 8
_LEAST_WORKERS = 6
"""A third of fewer workers is one worker."""


def key_figures(model: ReportModel) -> tuple[KeyFigure, ...]:
    """Return the key figures: items, answers, workers, money and wage."""
    facts = model.facts
    seconds = float(facts.workers["seconds_worked"].sum())
    worked = f"{duration(seconds)} of work" if seconds else "time not known"
    excluded = int(facts.workers["is_excluded"].sum())
    return (
        KeyFigure(plural_of(model.item_noun).capitalize(), count(facts.items), _complete(model)),
        _accepted(model),
        KeyFigure(
            "Workers",
            count(model.named_workers) if model.named_workers else NOTHING,
            f"{_whom(model)}{worked}; {count(excluded)} excluded",
        ),
        *(_money_figures(model, facts.money) if facts.money else ()),
    )


def _whom(model: ReportModel) -> str:
    """The remark beside a number of workers that leaves some out."""
    if model.named_workers == len(model.facts.workers):
        return ""
    return "and others not named; " if model.named_workers else "not named; "


def _complete(model: ReportModel) -> str:
    if model.facts.imported is not None:
        answered = len(model.accepted_per_item)
        return f"{count(answered)} with accepted answers"
    return f"{count(model.complete_items)} with all {_wanted(model)}accepted answers"


def _wanted(model: ReportModel) -> str:
    """How many answers an item should get, if that is the same for all."""
    is_fixed = model.facts.as_needed is None
    return f"{count(model.facts.wanted_per_item)} " if is_fixed else "wanted "


def _accepted(model: ReportModel) -> KeyFigure:
    is_imported = model.facts.imported is not None
    came = count(len(model.came))
    wanted = f"{came} imported" if is_imported else f"{count(model.wanted)} wanted"
    sent = f"{count(model.submitted)} decided" if is_imported else f"{came} submitted"
    noun = model.text_noun or "answer"
    if not model.facts.task.canned_text:
        return KeyFigure(
            f"Accepted {plural_of(noun)}", count(model.count("novel")), f"{sent}; {wanted}"
        )
    return KeyFigure(
        f"Accepted {plural_of(noun)}",
        count(model.count("novel", "canned")),
        f"{count(model.count('novel'))} free text, {count(model.count('canned'))} canned; {wanted}",
    )


def _money_figures(model: ReportModel, money: Money) -> tuple[KeyFigure, ...]:
    spent = KeyFigure(
        "Would have cost" if model.facts.is_rehearsal else "Spent",
        money.shown(money.spent_cents),
        f"of a budget of {money.shown(money.cents('budget'))}, fees included",
    )
    return spent, _wage_figure(model, money)


def _wage_figure(model: ReportModel, money: Money) -> KeyFigure:
    floor = money.wage(money.wage_floor_cents_per_hour)
    if model.wages.empty:
        return KeyFigure("Median wage", "unknown", f"hourly_wage {floor}", level="watch")
    is_below, level = model.is_median_below_floor, wage_level(model)
    below = "BELOW" if level == "problem" else "below"
    beside = f"{below if is_below else 'meets'} hourly_wage, {floor}"
    if level != "fine" and not is_below:
        workers = part_of(model.below_floor, len(model.wages), model.paid_worker)
        beside = f"but {workers} below hourly_wage, {floor}"
    return KeyFigure("Median wage", money.wage(float(model.wages.median())), beside, level=level)


def summary_notes(model: ReportModel) -> tuple[Note, ...]:
    """Return the notes that bear on trust, the most serious first."""
    unsorted = (
        *_changed(model),
        *_progress(model),
        *_books(model),
        *wage_notes(model),
        *_flagged_workers(model),
        *_losses(model),
        *_also_sent(model),
        *_rejections(model),
    )
    if model.facts.is_rehearsal:
        unsorted += known_answers.planted_notes(model, known_answers.score_planted(model))
    gravity: tuple[Level, ...] = ("problem", "watch", "fact", "fine")
    return tuple(sorted(unsorted, key=lambda note: gravity.index(note.level)))


def _changed(model: ReportModel) -> tuple[Note, ...]:
    facts = model.facts
    if not facts.changed:
        return ()
    names = listed(map(excerpt, facts.changed))
    changed = f"Changed since these answers were decided: {names}."
    if facts.imported is not None:
        return (Note("problem", f"{changed} Assess them again."),)
    if facts.is_rehearsal:
        return (Note("problem", f"{changed} Rehearse again."),)
    return (Note("watch", f"{changed} The next pass uses the new ones."),)


def _progress(model: ReportModel) -> tuple[Note, ...]:
    facts = model.facts
    if facts.imported is not None:
        return _decided(model)
    lacking = facts.items - model.complete_items
    lack = f"{part_of(lacking, facts.items, model.item_noun)} lack accepted answers."
    if not facts.is_finished:
        return (Note("problem", f"The campaign is not finished: {lack}"),)
    if lacking:
        return (Note("watch", f"Finished, but {lack}"),)
    if facts.beyond_cap:
        return (Note("watch", f"A cap is reached: {facts.beyond_cap} are missing."),)
    return (
        Note(
            "fine",
            f"Finished, and all {plural(facts.items, model.item_noun)} have "
            f"{_wanted(model)}accepted answers.",
        ),
    )


def _decided(model: ReportModel) -> tuple[Note, ...]:
    if model.facts.is_finished:
        return (Note("fine", "Every imported answer is decided."),)
    return (Note("problem", "Not all imported answers are decided yet."),)


def _books(model: ReportModel) -> tuple[Note, ...]:
    checks = provenance.checks(model)
    if not checks:
        return ()
    differ = [check for check in checks if not check.agrees]
    if not differ:
        of_money = ", pay, budget" * bool(model.facts.money)
        return (Note("fine", f"All counts agree: answers, assignments{of_money}."),)
    return tuple(
        Note("problem", f"Counts differ. {check.quantity}: {check.first} and {check.second}.")
        for check in differ
    )


def _flagged_workers(model: ReportModel) -> tuple[Note, ...]:
    """If many workers are flagged, the question is a likelier cause than they are."""
    findings = model.facts.findings
    is_flagged = (findings["subject_kind"] == "worker") & findings["flag"]
    flagged = findings[is_flagged & (findings["heuristic"] != RANDOM_SAMPLE)]
    workers = set(flagged["subject_id"]) & set(map(str, model.facts.workers.index))
    if model.named_workers < _LEAST_WORKERS or len(workers) <= model.named_workers * _MANY_FLAGGED:
        return ()
    names = flagged["heuristic"].value_counts().index.tolist()
    return (
        Note(
            "watch",
            f"{part_of(len(workers), model.named_workers, 'worker')} were flagged "
            f"(mostly by {names[0]}). When so large a part is flagged, check the "
            "question, its options and its instructions before you exclude anyone.",
        ),
    )


def _losses(model: ReportModel) -> tuple[Note, ...]:
    out = model.count("dropped", "rejected")
    novel = model.count("novel")
    noun = "decided answer" if model.waiting else "answer"
    if not model.submitted:
        return ()
    return (
        Note(
            "fact",
            f"{part_of(out, model.submitted, noun)} were dropped or "
            f"rejected; {share(novel, model.submitted)} became "
            f"{plural_of(model.accepted_noun)}.",
        ),
    )


def _also_sent(model: ReportModel) -> tuple[Note, ...]:
    """What workers sent and the task has no field for."""
    names = model.also_sent
    if not names:
        return ()
    number = int((model.came["also_sent"] != "").sum())
    shown = [
        f"{excerpt(name, limit=40)} ({count(names[name])})" for name in list(names)[:_NAMES_SHOWN]
    ]
    more = len(names) - len(shown)
    shown += [f"{count(more)} more"] * bool(more)
    return (
        Note(
            "watch",
            f"{part_of(number, len(model.came), 'answer')} came with more than the "
            f"task's fields: {listed(shown)}. The dataset has all of it, in columns "
            f"that begin with {SENT}.",
        ),
    )


def _rejections(model: ReportModel) -> tuple[Note, ...]:
    verdicts = model.verdicts
    harsh = verdicts[verdicts["verdict"].isin(["reject", "block"])]
    if harsh.empty:
        return (_nothing_rejected(model),)
    by_policy = int(harsh["decided_by"].str.startswith(BY_POLICY).sum())
    rejected = int((harsh["verdict"] == "reject").sum())
    blocked = len(harsh) - rejected
    done = [
        *([f"{plural(rejected, 'assignment')} {rejected_words(model)}"] * bool(rejected)),
        *([f"{plural(blocked, 'worker')} blocked"] * bool(blocked)),
    ]
    by_person = len(harsh) - by_policy
    deciders = [
        *([f"{count(by_policy)} by the stated policy"] * bool(by_policy)),
        *([f"{count(by_person)} by a person"] * bool(by_person)),
    ]
    return (Note("watch", f"{listed(done)}: {listed(deciders)}."),)


def _nothing_rejected(model: ReportModel) -> Note:
    rejected = int(other_sources.rejected_elsewhere(model).sum())
    if not rejected:
        return Note("fine", "No assignment was rejected and no worker blocked.")
    return Note(
        "watch",
        f"Nothing was rejected here, but the requester had rejected "
        f"{part_of(rejected, len(model.came), 'answer')} elsewhere.",
    )
