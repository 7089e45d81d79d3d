"""What a reader must know first: the key figures, and what speaks for and against."""

from domain.money import dollars
from report.components import KeyFigure, Level, Note
from report.formatting import count, part_of, plural, share, wage
from report.model import Reading
from report.sections import money, planted, provenance


def key_figures(reading: Reading) -> tuple[KeyFigure, ...]:
    """Images, captions, workers, money and wage."""
    facts = reading.facts
    hours = float(facts.workers["seconds_worked"].sum()) / 3600
    excluded = int(facts.workers["is_excluded"].sum())
    return (
        KeyFigure(
            label=f"{reading.thing.capitalize()}s",
            value=count(facts.items),
            beside=f"{count(reading.complete_items)} with all "
            f"{count(facts.wanted_per_item)} accepted answers",
        ),
        _accepted(reading),
        KeyFigure(
            label="Workers",
            value=count(len(facts.workers)),
            beside=f"{hours:,.1f} person-hours; {count(excluded)} excluded",
        ),
        KeyFigure(
            label="Would have cost" if facts.is_rehearsal else "Spent",
            value=dollars(facts.spent_cents),
            beside=f"of a budget of {dollars(facts.cents('budget'))}, fees included",
        ),
        _wage_figure(reading),
    )


def _accepted(reading: Reading) -> KeyFigure:
    wanted = f"{count(reading.wanted)} wanted"
    if reading.facts.dataset == "answers":
        return KeyFigure(
            label="Accepted answers",
            value=count(reading.count("novel")),
            beside=f"{count(reading.submitted)} submitted; {wanted}",
        )
    return KeyFigure(
        label="Accepted captions",
        value=count(reading.count("novel", "canned")),
        beside=f"{count(reading.count('novel'))} novel, "
        f"{count(reading.count('canned'))} canned; {wanted}",
    )


def _wage_figure(reading: Reading) -> KeyFigure:
    floor = wage(reading.facts.wage_floor_cents_per_hour)
    if reading.wages.empty:
        return KeyFigure(
            label="Median wage",
            value="unknown",
            beside=f"floor {floor}",
            level="watch",
        )
    is_below = reading.is_median_below_floor
    return KeyFigure(
        label="Median wage",
        value=wage(float(reading.wages.median())),
        beside=f"{'BELOW the' if is_below else 'meets the'} floor of {floor}",
        level="problem" if is_below else "fine",
    )


def notes(reading: Reading) -> tuple[Note, ...]:
    """What bears on trust, the gravest first."""
    found = (
        *_progress(reading),
        *_books(reading),
        *money.wage_notes(reading),
        *_losses(reading),
        *_rejections(reading),
    )
    if reading.facts.is_rehearsal:
        found += planted.notes(reading, planted.score(reading))
    gravity: tuple[Level, ...] = ("problem", "watch", "fact", "fine")
    return tuple(sorted(found, key=lambda note: gravity.index(note.level)))


def _progress(reading: Reading) -> tuple[Note, ...]:
    facts = reading.facts
    lacking = facts.items - reading.complete_items
    said = f"{part_of(lacking, facts.items, reading.thing)} lack accepted answers."
    if not facts.is_finished:
        return (Note("problem", f"The campaign is not finished: {said}"),)
    if lacking:
        return (Note("watch", f"Finished, but {said}"),)
    return (
        Note(
            "fine",
            f"Finished, and each of {plural(facts.items, reading.thing)} has all "
            f"{count(facts.wanted_per_item)} accepted answers.",
        ),
    )


def _books(reading: Reading) -> tuple[Note, ...]:
    differ = [check for check in provenance.checks(reading) if not check.agrees]
    if not differ:
        return (Note("fine", "All books agree: answers, assignments, pay, budget."),)
    return tuple(
        Note(
            "problem",
            f"Books differ. {check.what}: {check.one} against {check.other}.",
        )
        for check in differ
    )


def _losses(reading: Reading) -> tuple[Note, ...]:
    out = reading.count("dropped", "rejected")
    novel = reading.count("novel")
    if not reading.submitted:
        return ()
    return (
        Note(
            "fact",
            f"{part_of(out, reading.submitted, 'answer')} were dropped or "
            f"rejected; {share(novel, reading.submitted)} became {reading.kept}s.",
        ),
    )


def _rejections(reading: Reading) -> tuple[Note, ...]:
    verdicts = reading.verdicts
    harsh = verdicts[verdicts["verdict"].isin(["reject", "block"])]
    if harsh.empty:
        return (Note("fine", "No assignment was rejected and no worker blocked."),)
    by_policy = int(harsh["decided_by"].str.startswith("policy:").sum())
    rejected = int((harsh["verdict"] == "reject").sum())
    return (
        Note(
            "watch",
            f"{plural(rejected, 'assignment')} rejected without pay, "
            f"{plural(len(harsh) - rejected, 'worker')} blocked: {count(by_policy)} by "
            f"the stated policy, {count(len(harsh) - by_policy)} by a person.",
        ),
    )
