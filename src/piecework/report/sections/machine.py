"""What models said about the items, and how many answers their labels saved."""

from collections.abc import Iterator

from piecework.analyses.machine_replay import Replay, Replays, saved
from piecework.domain.counts import count, plural, plural_of, share
from piecework.report.components import Section, Table, number, text
from piecework.report.facts import Machine
from piecework.report.formatting import excerpt, part_of
from piecework.report.model import ReportModel


def build(model: ReportModel) -> Section | None:
    """Show agreement by model, and the replays; None for a campaign without models."""
    machine = model.facts.machine
    if machine is None:
        return None
    replays = machine.replays
    return Section(
        key="machine",
        title="Labels of models",
        lead=(
            f"Labels of {plural(len(machine.models), 'model')} for {machine.field}.",
            *(_replayed(model, machine, replays) if replays else (_NO_REPLAY,)),
        ),
        tables=(
            _models(machine, model.item_noun),
            *([_replays(replays, model.item_noun)] if replays else []),
        ),
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


def _models(machine: Machine, noun: str) -> Table:
    return Table(
        caption="Labels of each model",
        columns=(
            text("Model"),
            number(f"Labelled {plural_of(noun)}"),
            number("Same as people"),
            number("Same as dataset"),
        ),
        rows=tuple(
            (
                excerpt(of_model.name, limit=_NAME_CHARACTERS),
                count(of_model.items),
                share(of_model.as_people, of_model.with_people),
                share(of_model.as_final, of_model.with_final),
            )
            for of_model in machine.models
        ),
        note="People: the likeliest label from all kept answers, without models. "
        "Dataset: with the models, or settled by a person; so a model also agrees with "
        "itself there. Shares are of labels that both have. A tie is no label.",
    )


def _replays(replays: Replays, noun: str) -> Table:
    named = {
        "People alone": replays.people,
        "With models": replays.models,
        "Shuffled": replays.shuffled,
    }
    return Table(
        caption=f"Answers asked for in the replay, per {noun}",
        columns=(
            text("Labels from"),
            number("Answers"),
            number("Certain enough"),
            number("Same label"),
        ),
        rows=tuple(
            (
                name,
                f"{replay.asked.mean():.2f}",
                share(int(replay.is_sure.sum()), len(replay.asked)),
                share(replay.same, replays.comparable),
            )
            for name, replay in named.items()
        ),
        note="Same label: as from all kept answers of people alone. One shuffle, of "
        "all models alike. The intervals resample items and take the workers' accuracy "
        "as estimated. A HIT of several items is posted whole, so real rounds may take "
        "more.",
    )
