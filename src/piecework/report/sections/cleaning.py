"""What cleaning changed in the texts of the dataset."""

from collections import Counter
from collections.abc import Iterable

from piecework.domain.counts import count, plural, plural_of
from piecework.domain.edit import Edit
from piecework.report.components import Code, Quote, Section, Table, number, text
from piecework.report.formatting import excerpt, part_of, with_marks
from piecework.report.model import ReportModel

_MOST_PAIRS = 8
_PAIR_CHARACTERS = 60


def build(model: ReportModel) -> Section | None:
    """Show the edits by rule, and the most frequent changes."""
    if not model.facts.task.main_text:
        return None
    lists: list[tuple[Edit, ...]] = model.column("edits", "novel").tolist()
    edits = [edit for edits in lists for edit in edits]
    lead = (
        f"Cleaning changed "
        f"{part_of(sum(map(bool, lists)), len(lists), model.accepted_noun)} with "
        f"{plural(len(edits), 'edit')}. The dataset keeps each original "
        f"{model.text_noun}, and every edit can be replayed and undone."
    )
    return Section(
        key="cleaning",
        title="What cleaning changed",
        lead=(lead,),
        tables=(_rules(model, lists), _pairs(edits)),
    )


def _rules(model: ReportModel, lists: Iterable[tuple[Edit, ...]]) -> Table:
    times: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    for edits in lists:
        times.update(edit.rule for edit in edits)
        changed.update({edit.rule for edit in edits})
    versions = model.facts.rules
    rows = tuple(
        (
            Code(excerpt(rule, limit=_PAIR_CHARACTERS)),
            str(versions.get(rule, "–")),  # noqa: RUF001 - a dash stands for "unknown"
            count(times[rule]),
            count(changed[rule]),
        )
        for rule in sorted({*versions, *times}, key=lambda rule: (-times[rule], rule))
    )
    return Table(
        caption="Edits by rule",
        columns=(
            text("Rule"),
            number("Version"),
            number("Edits"),
            number(f"{plural_of(model.text_noun).capitalize()} changed"),
        ),
        rows=rows,
        note="Names joined by + mean that several rules edited the same place.",
        empty="Nothing was changed.",
    )


def _pairs(edits: list[Edit]) -> Table:
    pairs = Counter((edit.before, edit.after, edit.rule) for edit in edits)
    frequent = sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))
    return Table(
        caption="The most frequent edits",
        columns=(text("Before"), text("After"), text("Rule"), number("Times")),
        rows=tuple(
            (
                Quote(_shown(before)),
                Quote(_shown(after)),
                Code(excerpt(rule, limit=_PAIR_CHARACTERS)),
                count(times),
            )
            for (before, after, rule), times in frequent[:_MOST_PAIRS]
        ),
        note=f"{plural(len(pairs), 'different edit')} in all. ␣ marks a space.",
        empty="Nothing was changed.",
    )


def _shown(piece: str) -> str:
    """Format a piece of a text with visible blanks, which may be all that changed."""
    if not piece:
        return "(nothing)"
    return excerpt(with_marks(piece), limit=_PAIR_CHARACTERS)
