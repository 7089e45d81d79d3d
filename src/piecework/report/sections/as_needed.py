"""How many answers items took, if a campaign asks until their labels are certain."""

from collections import Counter
from collections.abc import Iterator

from piecework.domain.counts import count, plural, plural_of, share
from piecework.report.components import Section, Table, number
from piecework.report.facts import AsNeeded
from piecework.report.formatting import part_of
from piecework.report.model import ReportModel


def build(model: ReportModel) -> Section | None:
    """Show the answers per item, and what that saved; None if all get the same."""
    rule = model.facts.as_needed
    if rule is None:
        return None
    weighed = rule.sureness
    sure = [answers for answers, probability in weighed if probability >= rule.until]
    return Section(
        key="as-needed",
        title="As many answers as needed",
        lead=tuple(_lead(model, rule)) if weighed else ("No label is estimated yet.",),
        tables=(_answers(model, Counter(sure), Counter(a for a, _ in weighed)),),
    )


def _lead(model: ReportModel, rule: AsNeeded) -> Iterator[str]:
    noun, least, weighed = model.item_noun, model.facts.wanted_per_item, rule.sureness
    asked_out = [
        answers
        for answers, probability in weighed
        if probability >= rule.until or answers >= rule.most
    ]
    n_sure = sum(probability >= rule.until for _, probability in weighed)
    yield (
        f"Each {noun} gets {plural(least, 'answer')}, and more, up to {rule.most}, "
        f"while the probability of its label is below {rule.until:g}. "
        f"{part_of(n_sure, len(weighed), noun)} with an estimate reached that."
    )
    # A cap, the last round or a person stopped it, or it is still running.
    if early := len(weighed) - len(asked_out):
        yield (
            f"Not asked to the end: {plural(early, noun)}, below that probability and "
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


def _answers(model: ReportModel, sure: Counter[int], all_: Counter[int]) -> Table:
    noun = model.item_noun
    return Table(
        caption=f"Accepted answers per {noun}",
        columns=(
            number("Accepted answers"),
            number(plural_of(noun).capitalize()),
            number("Certain enough"),
            number("Share"),
        ),
        rows=tuple(
            (
                count(answers),
                count(all_[answers]),
                count(sure[answers]),
                share(sure[answers], all_[answers]),
            )
            for answers in sorted(all_)
        ),
        empty="No label is estimated yet.",
        note="Estimated from what was known at the time; the probabilities in the "
        "dataset also use what later answers showed about workers.",
    )
