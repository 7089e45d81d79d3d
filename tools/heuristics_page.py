"""Generate `docs/reference/heuristics.md` from the heuristics' docstrings.

`python -m tools.heuristics_page > docs/reference/heuristics.md` writes it, and a test
compares the two.
"""

import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.verdicts import JOINED, NOT_WRITTEN_HERE, SubjectKind
from piecework.qc import joined, written_here
from piecework.qc.parameters import Described
from piecework.qc.registry import Description, describe
from piecework.qc.truth import table_of

OPENING = """\
# Heuristics

This page is generated from `qc/heuristics/` by `python -m tools.heuristics_page >
docs/reference/heuristics.md`: edit the docstrings there, not this page.

A heuristic looks at all answers at once. For every subject (an answer, an assignment
or a worker) it returns a suspicion, a flag if the suspicion passes the limit, and
evidence: a sentence that a reviewer can check. All heuristics run, and none hides
another. A heuristic recommends; a person, or the policy in the campaign file, decides.

The last two sections describe [joined_suspicion](#joined_suspicion), which combines
many heuristics into one probability, and [not_written_here](#not_written_here), which
combines those about how a text was written.

Suspicion is from 0 to 1. For a measure with a limit, it is 0.5 at the limit, 0.75 at
twice the limit, and 0 up to three quarters of it. A random sample is flagged with a
suspicion of 0. A subject becomes a finding if it is flagged or its suspicion is at
least a quarter; if a subject has no finding, the heuristic looked and found little
against it.

Each section shows how accurate the heuristic is, with 95 % intervals, as measured by
`make truth`: on labelled work by real people, on real texts, some of them exchanged, in
a real browser that programs drive, and in rehearsals of the campaigns that come with
piecework, with planted simulated workers. A driven browser and a rehearsal only show
that a heuristic finds what it was written for. If no labelled set contains what a
heuristic looks at, its section says that it was never measured. Heuristics see a whole
set without its labels; but some of their limits were chosen on these sets, so they may
do worse on a new one.

In a campaign file, `[heuristics.capitals]` sets the parameters of `capitals`. A
heuristic that the file does not name runs with its defaults, unless it is marked as
off: those were useless on every labelled set, and run only if a task or a campaign file
names them. After each parameter's meaning stands its source: the paper, the original's
code, or ours.
"""


KINDS: tuple[SubjectKind, ...] = ("answer", "worker")

_WIDTH = 88
_FIGURES = ("held out", "text_off_item alone", "texts_off_items alone")


def heuristics_page() -> str:
    """Return the page, ending with a line feed."""
    descriptions = describe()
    lines = [OPENING, "| heuristic | name | looks at | finds |", "|---|---|---|---|"]
    lines += [
        f"| [{description.title}](#{description.name})"
        f"{'' if description.is_on else ' (off)'} | `{description.name}` "
        f"| {description.subject} | {_cell(description.idea)} |"
        for description in descriptions
    ]
    for description in descriptions:
        lines += _section(description)
    lines += _joined()
    lines += _written_here()
    return "\n".join(lines) + "\n"


def _joined() -> Iterator[str]:
    """Describe the joined suspicion: how it was fitted, and how good it is."""
    yield f"\n## {JOINED}\n"
    module = inspect.getdoc(joined) or ""
    _, *paragraphs = module.split("\n\n")
    yield (
        f"**{joined.TITLE}.** One probability that an answer, or a worker's work, is "
        "bad; for rules with `suspicion_above`. The evidence names the features that "
        "count most, in log odds. It is flagged from "
        f"{joined.FLAG_FROM:g} and becomes a finding from "
        f"{joined.SHOWN_PROBABILITY:g}. Version {joined.VERSION}.\n"
    )
    for paragraph in paragraphs:
        yield paragraph + "\n"
    yield "| ParaQuality, workers held out | AUC | recall (2 % honest flagged) | ECE |"
    yield "|---|---:|---:|---:|"
    for kind, weights in joined.shipped().items():
        for name, figures in weights.provenance.items():
            if name in _FIGURES:
                numbers = figures.values() if "ece" in figures else [*figures.values(), ""]
                cells = " | ".join(str(figure) for figure in numbers)
                label = "joined" if name == "held out" else name
                yield f"| {kind}s: {label} | {cells} |"
    fitted_to = joined.shipped()["answer"].provenance["fitted to"]
    yield "\n" + textwrap.fill(_verdict(), _WIDTH) + "\n"
    yield "Fitted to:\n"
    yield "\n".join(f"- {name}" for name in fitted_to) + "\n"
    yield "| feature | weight for answers | for workers |"
    yield "|---|---:|---:|"
    answers, workers = (joined.shipped()[kind].weights for kind in KINDS)
    for name in dict.fromkeys([*answers, *workers]):
        yield f"| {name} | {answers.get(name, '')} | {workers.get(name, '')} |"


def _written_here() -> Iterator[str]:
    """Describe the probability that a text was not written on the page by a person."""
    yield f"\n## {NOT_WRITTEN_HERE}\n"
    _, *paragraphs = (inspect.getdoc(written_here) or "").split("\n\n")
    weights = written_here.WEIGHTS
    yield (
        f"**{written_here.TITLE}.** One probability from `not_typed`, `like_samples` "
        f"and `canary`. It is flagged from {written_here.FLAG_FROM:g} and becomes a "
        f"finding from {written_here.SHOWN_PROBABILITY:g}. Version "
        f"{written_here.VERSION}. [Measured]"
        "(../internals/measurements/typing.md#the-record-together-with-samples-and-the-planted-word)"
        f" on constructed combinations. Weights: record {weights.typing:g}, samples "
        f"{weights.samples:g}, word {weights.word:g}.\n"
    )
    yield "\n\n".join(paragraphs)


def _verdict() -> str:
    """Say whether joining beats the best single heuristic, a sentence per kind."""
    sentences = []
    for kind, weights in joined.shipped().items():
        held_out, single = (
            figures for name, figures in weights.provenance.items() if name in _FIGURES
        )
        better = all(held_out[name] > single[name] for name in single)
        sentences.append(
            f"On {kind}s of this set it {'beats' if better else 'does not beat'} the "
            f"best single heuristic: {_beyond(weights.provenance['beyond it'])}. "
            f"{_intervals(weights.provenance['beyond it']['intervals'])}"
        )
    return " ".join(sentences)


def _intervals(figures: Mapping[str, Sequence[float]]) -> str:
    """Say how sure the joined figures are: 95 % intervals, workers drawn again."""
    auc, recall = (f"{low:.2f} to {high:.2f}" for low, high in figures.values())
    return f"If workers are drawn again, its AUC is {auc} and its recall {recall}."


def _beyond(figures: Mapping[str, float]) -> str:
    least, most = figures["least"], figures["most"]
    interval = f"its AUC differs by {least:+.2f} to {most:+.2f} (95 % interval; "
    cases = f"{figures['bad']} of {figures['cases']} cases are bad)"
    if least <= 0 <= most:
        return f"{interval}{cases}, so it is not clear which is better"
    return f"{interval}{cases}"


def _section(description: Description) -> Iterator[str]:
    yield f"\n## {description.name}\n"
    off = "" if description.is_on else " Off unless a campaign file names it."
    yield (
        f"**{description.title}.** {description.idea} Looks at each "
        f"{description.subject}. Version {description.version}.{off}\n"
    )
    for paragraph in description.sections:
        title, _, words = paragraph.partition(": ")
        yield f"**{title}.** {words[0].upper()}{words[1:]}\n"
    yield from table_of(description.name)
    if not description.parameters:
        yield "It has no parameters."
        return
    yield "| parameter | default | allowed | meaning |"
    yield "|---|---|---|---|"
    for parameter in description.parameters:
        yield _parameter(parameter)


def _parameter(parameter: Described) -> str:
    return (
        f"| `{parameter.name}` | {_cell(_toml(parameter.default))} "
        f"| {_cell(parameter.allowed)} | {_cell(parameter.meaning)} |"
    )


def _toml(value: object) -> str:
    """Format a default as in a campaign file."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(f'`"{entry}"`' for entry in value) or "`[]`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(heuristics_page())
