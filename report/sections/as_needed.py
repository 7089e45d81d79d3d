"""How many answers items took, of a campaign that asks until their labels are sure."""

from collections import Counter

from domain.counts import count, plural_of, share
from report.components import Section, Table, number
from report.formatting import part_of
from report.model import ReportModel


def build(model: ReportModel) -> Section | None:
    """Answers of each item, and what that saved; nothing where all get the same."""
    rule, least = model.facts.as_needed, model.facts.wanted_per_item
    if rule is None:
        return None
    weighed = rule.sureness
    sure = [answers for answers, probability in weighed if probability >= rule.until]
    taken, most = sum(answers for answers, _ in weighed), rule.most * len(weighed)
    lead = (
        f"Each {model.item_noun} got {least} answers, and one more as long as the "
        f"probability of its label was below {rule.until:g}, up to {rule.most}. "
        f"{part_of(len(sure), len(weighed), model.item_noun)} reached that."
        if weighed
        else "Nothing was weighed yet."
    )
    saved = (
        f"They took {count(taken)} accepted answers; {rule.most} for each would have "
        f"been {count(most)}: {share(most - taken, most)} saved. An answer more about "
        "some items of a HIT costs as much as a whole HIT."
    )
    return Section(
        key="as-needed",
        title="As many answers as needed",
        lead=(lead, saved) if weighed else (lead,),
        tables=(_answers(model, Counter(sure), Counter(a for a, _ in weighed)),),
    )


def _answers(model: ReportModel, sure: Counter[int], all_: Counter[int]) -> Table:
    noun = model.item_noun
    return Table(
        caption=f"Accepted answers that each {noun} took",
        columns=(
            number("Accepted answers"),
            number(plural_of(noun).capitalize()),
            number("Sure enough"),
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
        empty="No label was weighed yet.",
        note="Weighed by all that was known when it was decided; what later answers "
        "showed of workers is in the probabilities of the dataset.",
    )
