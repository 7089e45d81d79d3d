"""Generate the two pages about heuristics from their docstrings and `qc/truth.json`.

`python -m tools.heuristics_page` writes `docs/reference/heuristics.md`, for requesters, and
`docs/internals/measurements/heuristics.md`, for people who change a heuristic; a test
compares both with the files.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from piecework.domain.verdicts import JOINED, NOT_WRITTEN_HERE, SubjectKind
from piecework.qc import joined, written_here
from piecework.qc.parameters import Described
from piecework.qc.registry import OFF_BY_DEFAULT, Description, describe_heuristics
from piecework.qc.truth import BY_PEOPLE, measured, percent, table_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/heuristics.md"
MEASURED_PAGE = ROOT / "docs/internals/measurements/heuristics.md"

OPENING = """\
# Heuristics

A heuristic looks at all answers at once. For every subject (an answer, an assignment or a
worker) it returns a suspicion from 0 to 1, a flag if the suspicion passes the limit, and
evidence: a sentence that a reviewer can check. Heuristics are independent of each other.
They recommend; a person, or the policy in the campaign file, decides.

For a measure with a limit, suspicion is 0.5 at the limit, 0.75 at twice the limit, and 0 up
to three quarters of it. A subject becomes a finding if it is flagged or its suspicion is at
least a quarter.

In a campaign file, `[heuristics.capitals]` sets the parameters of `capitals`. A heuristic
that the file does not name runs with its defaults, unless it is off. If a parameter is not
ours, its source follows: the paper on VizWiz-Captions (Gurari et al. 2020, appendix A.1),
its original code, or another paper.

A heuristic is silent where it cannot judge: if it reads words, about an empty or canned
text; if it reads times, where none is known. Its section lists other cases.

`tools/heuristics_page.py` generates this page from `qc/heuristics/`.
"""

ACCURACY = """
## How often they are right

Measured on labelled work by real people, with the defaults: the share of subjects that are
bad, of flagged subjects that are bad (precision), of bad subjects that are flagged (recall),
and of honest subjects that are flagged. Some limits were chosen on these sets. "Exchanged"
texts are captions of other pictures. Heuristics that are off were useless on every set; for
the others that are missing there was too little real work.
[Each heuristic, measured](../internals/measurements/heuristics.md) has intervals,
rehearsals, and what a naive reading gets wrong.
"""

MEASURED_OPENING = """\
# Each heuristic, measured

`tools/heuristics_page.py` generates this page from the docstrings in `qc/heuristics/` and
from `qc/truth.json`. [Heuristics](../../reference/heuristics.md) says what each looks at and
which parameters it has.

The tables have 95 % intervals. `make truth` measured them on labelled work by real people,
on real texts, some of them exchanged, in a real browser that programs drive, and in
rehearsals of the campaigns that come with piecework, with planted simulated workers. A
driven browser and a rehearsal only show that a heuristic finds what it was written for.
Heuristics see a whole set without its labels; but some of their limits were chosen on these
sets, so they may do worse on a new one. A heuristic that is off was useless on every
labelled set.
"""

KINDS: tuple[SubjectKind, ...] = ("answer", "worker")
SHORT_NAMES = {
    "ParaQuality, half: an expert says cheating": "ParaQuality",
    "half of VizWiz-Captions val, no worker ids: four sentences of spam": "VizWiz spam",
    "Flickr8k, workers of ten, 5 % with captions of other pictures": "Flickr8k, exchanged",
    "half of VizWiz-Captions val, workers of ten, 5 % with captions of other pictures": (
        "VizWiz, exchanged"
    ),
    "long descriptions: one in six is by the program of the samples": "long descriptions",
    "captions of COCO: one in six is by the program of the samples": "COCO captions",
    "explanations of three MTurk batches, 45 % of assignments without theirs": "MTurk batches",
    "RTE votes: workers right on less than 60 %": "RTE votes",
}
"""Of the sets in the short table; a set that is not here is only on the long page."""

_WIDTH = 88
_OURS = re.compile(r" \(ours(?:; see above|: half|: none|: 3)?\)|; ours(?=\))")
_FIGURES = ("held out", "text_off_item alone", "texts_off_items alone")


def heuristics_page() -> str:
    """Return the page for requesters, ending with a line feed."""
    descriptions = describe_heuristics()
    lines = [OPENING, "| heuristic | looks at | finds |", "|---|---|---|"]
    lines += [
        f"| [`{description.name}`](#{description.name})"
        f"{'' if description.is_on else ' (off)'} "
        f"| {description.subject} | {_cell(description.idea)} |"
        for description in descriptions
    ]
    lines += [ACCURACY, *_accuracy()]
    for description in descriptions:
        lines += _section(description)
    lines += _joined()
    lines += _written_here()
    return "\n".join(lines) + "\n"


def measured_page() -> str:
    """Return the page for developers, ending with a line feed."""
    lines = [MEASURED_OPENING]
    for description in describe_heuristics():
        lines += [f"## {description.name}\n", f"Version {description.version}.\n"]
        by_title = _by_title(description)
        for title in ("Naive reading", "Edge cases"):
            lines += [f"**{title}.** {by_title[title]}\n"]
        lines += table_of(description.name)
    lines += [*_joined_measured(), *_written_here_measured()]
    return "\n".join(lines) + "\n"


def _accuracy() -> Iterator[str]:
    """The short table: every measurement on work by people, without intervals."""
    yield "| heuristic | set | bad | precision | recall | honest flagged |"
    yield "|---|---|---:|---:|---:|---:|"
    for name, (_, rows) in measured().items():
        for row in rows:
            is_in_table = row.kind in BY_PEOPLE and row.set_name in SHORT_NAMES
            if is_in_table and name not in OFF_BY_DEFAULT:
                shares = (row.precision, row.recall, row.honest_flagged)
                bad = f"{100 * row.bad / row.units:.0f} %"
                yield (
                    f"| `{name}` | {SHORT_NAMES[row.set_name]} | {bad} | "
                    + " | ".join(percent(share, has_interval=False) for share in shares)
                    + " |"
                )


def _joined() -> Iterator[str]:
    """Describe the joined suspicion: what it joins, and when it is silent."""
    yield f"\n## {JOINED}\n"
    yield (
        f"**{joined.TITLE}.** One probability that an answer, or a worker's work, is "
        "bad; for rules with `suspicion_above`. The evidence names the features that "
        "count most, in log odds. It is flagged from "
        f"{joined.FLAG_FROM:g} and becomes a finding from "
        f"{joined.SHOWN_PROBABILITY:g}. Version {joined.VERSION}.\n"
    )
    *_, silent, holds = (inspect.getdoc(joined) or "").split("\n\n")
    yield f"{silent}\n\n{holds}"


def _joined_measured() -> Iterator[str]:
    """How the joined suspicion was fitted, and how good it is."""
    yield f"## {JOINED}\n"
    _, *paragraphs = (inspect.getdoc(joined) or "").split("\n\n")
    for paragraph in paragraphs[:-2]:
        yield paragraph + "\n"
    yield "95 % intervals: workers are drawn again.\n"
    yield "| ParaQuality, workers held out | AUC | recall (2 % honest flagged) | ECE |"
    yield "|---|---:|---:|---:|"
    for kind, weights in joined.shipped().items():
        for name, figures in weights.provenance.items():
            if name in _FIGURES:
                cells = " | ".join("{} ({} to {})".format(*figure) for figure in figures.values())
                cells += "" if "ece" in figures else " | "
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
    yield (
        f"**{written_here.TITLE}.** One probability from `not_typed`, `like_samples` "
        f"and `canary`. It is flagged from {written_here.FLAG_FROM:g} and becomes a "
        f"finding from {written_here.SHOWN_PROBABILITY:g}. Version "
        f"{written_here.VERSION}. [Measured]"
        "(../internals/measurements/typing.md#the-record-together-with-samples-and-the-planted-word)"
        " on constructed combinations.\n"
    )
    yield (inspect.getdoc(written_here) or "").split("\n\n")[-1]


def _written_here_measured() -> Iterator[str]:
    """How that probability is computed and fitted."""
    yield f"\n## {NOT_WRITTEN_HERE}\n"
    yield "\n\n".join((inspect.getdoc(written_here) or "").split("\n\n")[1:-1])
    weights = written_here.WEIGHTS
    yield (
        f"\nWeights: record {weights.typing:g}, samples {weights.samples:g}, word {weights.word:g}."
    )


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
            f"best single heuristic: {_beyond(weights.provenance['beyond it'])}."
        )
    return " ".join(sentences)


def _beyond(figures: Mapping[str, float]) -> str:
    least, most = figures["least"], figures["most"]
    interval = f"its AUC differs by {least:+.2f} to {most:+.2f} (95 % interval; "
    cases = f"{figures['bad']} of {figures['cases']} cases are bad)"
    if least <= 0 <= most:
        return f"{interval}{cases}, so it is not clear which is better"
    return f"{interval}{cases}"


def _section(description: Description) -> Iterator[str]:
    by_title = _by_title(description)
    yield f"\n## {description.name}\n"
    off = "" if description.is_on else " (off)"
    yield f"**{description.title}**{off}. {by_title['Idea']}\n"
    yield f"**Silent** {by_title['Silent']}"
    if description.parameters:
        yield ""
    yield from map(_parameter, description.parameters)


def _by_title(description: Description) -> dict[str, str]:
    """The paragraphs of a docstring by their first words, each a sentence's beginning."""
    paragraphs = (section.split(": ", 1) for section in description.sections)
    return {
        title: words if title == "Silent" else words[0].upper() + words[1:]
        for title, words in paragraphs
    }


def _parameter(parameter: Described) -> str:
    """A line of the list; a source is stated only if it is another's."""
    meaning = _OURS.sub("", parameter.meaning).replace("(ours: ", "(")
    return f"- `{parameter.name}` ({_toml(parameter.default)}): {meaning}"


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
    PAGE.write_text(heuristics_page(), encoding="utf-8")
    MEASURED_PAGE.write_text(measured_page(), encoding="utf-8")
