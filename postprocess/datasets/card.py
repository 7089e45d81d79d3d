"""The data card: what a stranger needs to know before trusting the files beside it.

Headings follow Gebru et al., "Datasheets for Datasets" (CACM 2021), as far as a program
can answer; what only the requester can say is left open and named as open.
"""

from collections.abc import Iterable, Sequence
from importlib.resources import files

import pandas as pd
from jinja2 import Environment, StrictUndefined
from jinja2.environment import Template

from postprocess.datasets.facts import DatasetFacts
from postprocess.frame import novel, set_aside
from postprocess.splits import SPLITS

_TEMPLATE = "card.md.j2"
_ANSWERS_TEMPLATE = "answers_card.md.j2"


def card(
    frame: pd.DataFrame,
    facts: DatasetFacts,
    *,
    summary: pd.DataFrame,
    splits: Sequence[str],
    names: Iterable[str],
) -> str:
    """The card of a dataset, Markdown.

    `summary` has a row an item (`postprocess.aggregate`), `splits` says where each of
    them lies, `names` are the files that the card describes.
    """
    template = _template(_TEMPLATE)
    captions = novel(frame)
    aside = set_aside(frame)
    return template.render(
        facts=facts,
        names=frozenset(names),
        counts=_counts(frame, captions, summary),
        reasons=aside["set_aside"].value_counts().sort_index().to_dict(),
        difficulties=summary["difficulty"].value_counts().sort_index().to_dict(),
        splits=_split_rows(captions, splits),
        period=_period(frame),
    )


def answers_card(
    frame: pd.DataFrame, facts: DatasetFacts, *, items: int, names: Iterable[str]
) -> str:
    """The card of a dataset of answers (`postprocess.datasets.answers`), Markdown."""
    aside = set_aside(frame)
    return _template(_ANSWERS_TEMPLATE).render(
        facts=facts,
        names=frozenset(names),
        counts={
            "of_items": items,
            "answers": len(frame),
            "kept": len(frame) - len(aside),
            "set_aside": len(aside),
            "workers": frame["worker"].nunique(),
        },
        reasons=aside["set_aside"].value_counts().sort_index().to_dict(),
        period=_period(frame),
    )


def _template(name: str) -> Template:
    source = (files(__package__ or "") / name).read_text(encoding="utf-8")
    # Markdown, not HTML; the only strange words in it are the requester's own.
    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = _cell
    return environment.from_string(source)


def _counts(
    frame: pd.DataFrame,
    captions: pd.DataFrame,
    summary: pd.DataFrame,
) -> dict[str, int]:
    return {
        "images": len(summary),
        "answers": len(frame),
        "captions": len(captions),
        "set_aside": len(frame) - len(captions),
        "images_with_captions": int((summary["captions"] > 0).sum()),
        "workers": frame["worker"].nunique(),
        "changed": int(captions["edits"].map(bool).sum()),
        "edits": int(captions["edits"].map(len).sum()),
    }


def _split_rows(
    captions: pd.DataFrame,
    splits: Sequence[str],
) -> list[tuple[str, int, int]]:
    return [
        (split, splits.count(split), int((captions["split"] == split).sum()))
        for split in SPLITS
    ]


def _period(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "nothing was submitted"
    first, last = frame["submitted_at"].min(), frame["submitted_at"].max()
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
