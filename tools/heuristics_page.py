"""Generate `docs/heuristics.md` from the heuristics' docstrings.

Write it with `python -m tools.heuristics_page > docs/heuristics.md`; a test compares
them.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping

from piecework.domain.verdicts import JOINED, SubjectKind
from piecework.qc import joined
from piecework.qc.parameters import Described
from piecework.qc.registry import Description, describe
from piecework.qc.truth import table_of

OPENING = """\
# Heuristics

Made from `qc/heuristics/` by `python -m tools.heuristics_page > docs/heuristics.md`:
mend the docstrings there and not this page.

A heuristic looks at all answers at once and says for every subject (an answer, an
assignment or a worker) how much suspicion there is, whether that passes its limit (the
flag), and why, in a sentence that a reviewer can check. All of them run, and none hides
another. A heuristic recommends; a person, or the policy that the campaign file states,
decides.

At the end stands [joined_suspicion](#joined_suspicion), one probability from many.

Suspicion is from 0 to 1. Where a measure has a limit, it is 0.5 at the limit, 0.75 at
twice the limit, and 0 up to three quarters of it. A random sample is flagged with a
suspicion of 0. Flagged subjects become findings, and others from a suspicion of a
quarter on; a subject without a finding was looked at and little spoke against it.

Under each heuristic stands how true it was found to be, with 95 % intervals, by `make
truth`: on work by real people with labels, on real texts of which some were exchanged,
and in rehearsals of the campaigns that come with piecework, where simulated workers
were planted. A rehearsal only shows that a heuristic finds what it was written for. One
that no labelled set says anything about was never measured, and its page says so.
Heuristics see a set whole and know nothing of its labels; some of their lines were
chosen with these sets in sight, so a set that they have not seen may tell less.

In a campaign file, `[heuristics.capitals]` sets the parameters of `capitals`. A
heuristic that is not named runs with its defaults, unless it is marked as off: those
were worth nothing on every labelled set, and run where a campaign file names them.
After each parameter's meaning stands its source: the paper, the original's code, or
ours.
"""


KINDS: tuple[SubjectKind, ...] = ("answer", "worker")

_FIGURES = ("held out", "text_off_item alone", "texts_off_items alone")


def heuristics_page() -> str:
    """Return the page, with a newline at its end."""
    descriptions = describe()
    lines = [OPENING, "| heuristic | version | looks at | asks |", "|---|---|---|---|"]
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
        "One probability that an answer, or a worker's work, is bad; for rules with "
        "`suspicion_above`. A finding tells the features that count most, in log "
        f"odds; it flags from {joined.FLAG_FROM:g}, and is kept from "
        f"{joined.TOLD_PROBABILITY:g}. Version {joined.VERSION}.\n"
    )
    for paragraph in paragraphs:
        yield " ".join(paragraph.split()) + "\n"
    yield "| ParaQuality, workers held out | AUC | recall at 2 % of the honest | ECE |"
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
    yield "\n" + _verdict() + f" Fitted to: {'; '.join(fitted_to)}.\n"
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
            "best single heuristic; its AUC is "
            f"{_beyond(weights.provenance['beyond it'])}."
        )
    return " ".join(sentences)


def _beyond(figures: Mapping[str, float]) -> str:
    least, most = figures["least"], figures["most"]
    interval = f"{least:+.2f} to {most:+.2f} beyond that one's (95 %"
    cases = f"of {figures['cases']} cases {figures['bad']} are bad)"
    if least <= 0 <= most:
        return f"{interval}; {cases}, so which of them is better cannot be told"
    return f"{interval}; {cases}"


def _section(description: Description) -> Iterator[str]:
    yield f"\n## {description.name}\n"
    yield (
        f"{description.idea} Looks at one {description.subject}; "
        f"version {description.version}"
        f"{'' if description.is_on else '; off unless a campaign names it'}.\n"
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
