"""Generate `docs/heuristics.md` from the heuristics' docstrings.

Write it with `python -m tools.heuristics_page > docs/heuristics.md`; a test compares
them.
"""

import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping

from piecework.domain.verdicts import JOINED, SubjectKind
from piecework.qc import joined
from piecework.qc.parameters import Described
from piecework.qc.registry import Description, describe
from piecework.qc.truth import table_of

OPENING = """\
# Heuristics

A heuristic looks for one kind of bad work. This page says what each heuristic looks at,
how often it was right, and which parameters it has.

`python -m tools.heuristics_page > docs/reference/heuristics.md` writes this page from
`qc/heuristics/`. Edit the docstrings there, not this page.

## How heuristics work

A heuristic looks at all answers together. For each subject (an answer, an assignment or
a worker) it states:

- the suspicion, a number from 0 to 1,
- the flag: whether the suspicion passes the heuristic's limit,
- the evidence: a sentence that a reviewer can check.

All heuristics run independently of each other. They only recommend; a person or the
policy of the campaign file decides. [joined_suspicion](#joined_suspicion), at the end
of the page, combines them into one probability.

If a measure has a limit, the suspicion is 0.5 at the limit, 0.75 at twice the limit,
and 0 up to three quarters of it. A random sample is flagged with a suspicion of 0. A
subject becomes a finding if it is flagged, or from a suspicion of a quarter on. A
subject without a finding was looked at, and there is little evidence against it.

## How they were measured

The section of each heuristic shows its results with 95 % intervals. `make truth`
measured them on

- work by real people with labels,
- real texts, some of them exchanged with others,
- rehearsals of the campaigns that come with piecework, with planted bad workers. A
  rehearsal only shows that a heuristic finds what it was written for.

If no labelled set has what a heuristic looks at, it was never measured, and its section
says so. Heuristics see a whole set without its labels. Some of their limits were chosen
with these sets in sight, so results on a new set may be worse.

## How to set them

`[heuristics.capitals]` in a campaign file sets the parameters of `capitals`. A
heuristic that the file does not name runs with its defaults. Those marked as off were
of no use on any labelled set; they run only if the file names them. After the meaning
of each parameter comes its source: the paper, the original's code, or ours.

## All heuristics
"""


KINDS: tuple[SubjectKind, ...] = ("answer", "worker")

_WIDTH = 88
_FIGURES = ("held out", "text_off_item alone", "texts_off_items alone")


def heuristics_page() -> str:
    """Return the page, with a newline at its end."""
    descriptions = describe()
    lines = [OPENING, "| heuristic | version | looks at | finds |", "|---|---|---|---|"]
    lines += [
        f"| [{description.name}](#{description.name})"
        f"{'' if description.is_on else ' (off)'} | {description.version} "
        f"| {description.subject} | {_cell(description.idea)} |"
        for description in descriptions
    ]
    for description in descriptions:
        lines += _section(description)
    lines += _joined()
    return "\n".join(lines) + "\n"


def _joined() -> Iterator[str]:
    """Yield what the joined suspicion was fitted to, and how well it performs."""
    yield f"\n## {JOINED}\n"
    module = inspect.getdoc(joined) or ""
    _, *paragraphs = module.split("\n\n")
    yield (
        "One probability that an answer, or a worker's work, is bad, for rules with\n"
        "`suspicion_above`. A finding lists the features that count most, in log odds. "
        f"It is\nkept from {joined.TOLD_PROBABILITY:g} on and flagged from "
        f"{joined.FLAG_FROM:g} on. Version {joined.VERSION}.\n"
    )
    for paragraph in paragraphs:
        yield paragraph + "\n"
    yield "| ParaQuality, workers held out | AUC | recall (2 % honest flagged) | ECE |"
    yield "|---|---:|---:|---:|"
    for kind, weights in joined.shipped().items():
        for name, figures in weights.provenance.items():
            if name in _FIGURES:
                numbers = (
                    figures.values() if "ece" in figures else [*figures.values(), ""]
                )
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


def _verdict() -> str:
    """Say for each kind whether joining beats the best single heuristic."""
    sentences = []
    for kind, weights in joined.shipped().items():
        held_out, single = (
            figures for name, figures in weights.provenance.items() if name in _FIGURES
        )
        better = all(held_out[name] > single[name] for name in single)
        sentences.append(
            f"On {kind}s of this set it {'beats' if better else 'does NOT beat'} the "
            "best single heuristic: its AUC is "
            f"{_beyond(weights.provenance['beyond it'])}."
        )
    return " ".join(sentences)


def _beyond(figures: Mapping[str, float]) -> str:
    least, most = figures["least"], figures["most"]
    interval = f"{least:+.2f} to {most:+.2f} above that one's"
    cases = f"(95 %; {figures['bad']} of {figures['cases']} cases are bad)"
    if least <= 0 <= most:
        return f"{interval} {cases}, so the data do not show which of them is better"
    return f"{interval} {cases}"


def _section(description: Description) -> Iterator[str]:
    yield f"\n## {description.name}\n"
    yield (
        f"{description.idea} Looks at one {description.subject}; "
        f"version {description.version}"
        f"{'' if description.is_on else '; off unless a campaign file names it'}.\n"
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
    """Return a default as written in a campaign file."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(f'`"{entry}"`' for entry in value) or "`[]`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(heuristics_page())
