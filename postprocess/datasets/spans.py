"""Merged spans of texts as CoNLL's columns, and as standoff files of brat.

CoNLL: a token and its tag in BIO on each line, with a tab between them; an empty line after
each item; before it, `# item_id = ...`. No token begins a line with `# `. A token is the
longest run of letters, marks, digits and underscores, a sign by itself, or one Chinese or
Japanese letter; spaces and control characters stand between tokens. A span has each token
that it touches. Tags cannot overlap: the longest span stays, of equal ones the first, and a
comment counts the others.

brat: a zip with a text and an `.ann` for each item, and `annotation.conf`. Offsets count
characters of the text. A span over several lines is written in pieces, as brat wants it.

Neither holds every label as it is. Labels that would get one name are numbered, and comments
at the beginning of the file, or in `annotation.conf`, say which label each of them is.
"""

import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, count, pairwise
from typing import BinaryIO, NamedTuple

import pandas as pd

from piecework.analyses.regions import merged_extents
from piecework.domain.dataset import SPLITS
from piecework.domain.text import one_line, spans_in_characters
from piecework.postprocess.datasets.file_table import Write

_JOINERS = "_\u200c\u200d"
"""They are no letters, but belong to the word around them."""
_ALONE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LONGEST_NAME = 60
_MADE_AT = (1980, 1, 1, 0, 0, 0)
"""The oldest time that a zip can hold, so that the same answers give the same bytes."""


class Span(NamedTuple):
    """A marked part of a text, in characters."""

    start: int
    end: int
    label: str


class MarkedText(NamedTuple):
    """An item's text with its merged spans, in their order.

    Attributes:
        position: of the item in the items file, from 1.
        lost: how many spans lie beyond the text.
    """

    position: int
    item_id: str
    split: str
    text: str
    spans: Sequence[Span]
    lost: int


def marked_texts(
    merged: "pd.Series[str]", texts: Sequence[str | None], items: pd.DataFrame
) -> list[MarkedText]:
    """Return the items that have an answer and whose text is known.

    Args:
        merged: the spans of each item, in the order of the items file
            (`piecework.analyses.regions`); "" without an answer.
        texts: of each item; `None` if it is not known.
        items: a row per item, in the same order: `item_id`, `split`.
    """
    marked = []
    named = zip(items["item_id"].tolist(), items["split"].tolist(), strict=True)
    for position, (cell, text, (item_id, split)) in enumerate(
        zip(merged.tolist(), texts, named, strict=True), start=1
    ):
        marks = merged_extents(cell, "entities")
        if marks is None or text is None:
            continue
        places = spans_in_characters(text, ((low, high) for low, high in marks.ends[:, 0].tolist()))
        spans = sorted(
            Span(start, end, str(label))
            for (start, end), label in zip(places, marks.labels, strict=True)
            if start < end
        )
        lost = len(marks) - len(spans)
        marked.append(MarkedText(position, str(item_id), str(split), text, spans, lost))
    return marked


def conll_documents(marked: Sequence[MarkedText], name: str) -> dict[str, Write]:
    """Return the writers of `<name>.conll` and of a file for each split."""
    parts = {f"_{split}": [each for each in marked if each.split == split] for split in SPLITS}
    names = _names_of_labels(marked, _tag)
    return {
        f"{name}{ending}.conll": partial(_write_conll, part, names)
        for ending, part in {"": marked, **parts}.items()
    }


def brat_document(marked: Sequence[MarkedText], name: str) -> dict[str, Write]:
    """Return the writer of `<name>_brat.zip`."""
    return {f"{name}_brat.zip": partial(_write_brat, marked)}


def tokens(text: str) -> list[tuple[int, int]]:
    """Return start and end of each token.

    >>> text = "Ada's naïve cafe\u0301 -- 東京!"
    >>> [text[start:end] for start, end in tokens(text)] == [
    ...     "Ada", "'", "s", "naïve", "cafe\u0301", "-", "-", "東", "京", "!"]
    True
    """
    kinds = [_kind(letter) for letter in text]
    cuts = [
        at
        for at in range(1, len(text))
        if kinds[at] != kinds[at - 1] or kinds[at] not in {"word", "space"}
    ]
    # A mark belongs to the letter before it, also to one that is a token by itself.
    cuts = [at for at in cuts if not _is_mark(text[at]) or kinds[at - 1] == "space"]
    return [
        (start, end)
        for start, end in pairwise([0, *cuts, len(text)])
        if start < end and kinds[start] != "space"
    ]


def _kind(letter: str) -> str:
    if _ALONE.match(letter):
        return "letter alone"
    category = unicodedata.category(letter)
    if category[0] in "LMN" or letter in _JOINERS:
        return "word"
    return "space" if category[0] in "ZC" else "sign"


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "M"


def _names_of_labels(marked: Iterable[MarkedText], name_of: Callable[[str], str]) -> dict[str, str]:
    """Return the name of each label; no two labels have the same.

    A label that is a name keeps it. Of others with one name, all but the first get a number.
    """
    labels = {span.label for each in marked for span in each.spans}
    names = {label: label for label in labels if name_of(label) == label}
    taken = {*names}
    for label in sorted(labels - taken):
        name = name_of(label)
        numbered = (f"{name.rstrip('_')}_{number}" for number in count(2))
        names[label] = next(each for each in chain([name], numbered) if each not in taken)
        taken.add(names[label])
    return names


def _numbered_labels(
    names: Mapping[str, str], name_of: Callable[[str], str]
) -> list[tuple[str, str]]:
    """Return the names that several labels would have, each with its label on one line."""
    times = Counter(map(name_of, names))
    pairs = sorted((name, label) for label, name in names.items() if times[name_of(label)] > 1)
    return [(name, one_line(label)) for name, label in pairs]


def _tags(
    places: Sequence[tuple[int, int]], spans: Iterable[Span], names: Mapping[str, str]
) -> tuple[list[str], int]:
    """Return the tag of each token, and how many spans have none."""
    tags, left_out = ["O"] * len(places), 0
    for start, end, label in sorted(spans, key=lambda span: (span.start - span.end, span)):
        inside = [n for n, (low, high) in enumerate(places) if low < end and high > start]
        if not inside or any(tags[n] != "O" for n in inside):
            left_out += 1
            continue
        for n in inside:
            tags[n] = f"{'B' if n == inside[0] else 'I'}-{names[label]}"
    return tags, left_out


def _write_conll(marked: Sequence[MarkedText], names: Mapping[str, str], file: BinaryIO) -> None:
    numbered = _numbered_labels(names, _tag) if marked else []
    file.write("".join(f"# tag {name} = {label}\n" for name, label in numbered).encode())
    for each in marked:
        places = tokens(each.text)
        tags, left_out = _tags(places, each.spans, names)
        lines = [f"# item_id = {one_line(each.item_id)}"]
        if left_out + each.lost:
            lines.append(f"# spans left out = {left_out + each.lost}")
        lines += [
            f"{each.text[start:end]}\t{tag}" for (start, end), tag in zip(places, tags, strict=True)
        ]
        file.write("".join(f"{line}\n" for line in (*lines, "")).encode())


def _write_brat(marked: Sequence[MarkedText], file: BinaryIO) -> None:
    names = _names_of_labels(marked, _type)
    notes = [f"# {name} = {label}" for name, label in _numbered_labels(names, _type)]
    entities = ("[entities]", *notes, *sorted(names.values()))
    sections = (*entities, "", "[relations]", "", "[events]", "", "[attributes]", "")
    with zipfile.ZipFile(file, "w") as archive:

        def add(name: str, text: str) -> None:
            about = zipfile.ZipInfo(name, _MADE_AT)
            archive.writestr(about, text.encode(), zipfile.ZIP_DEFLATED)

        add("annotation.conf", "\n".join(sections))
        for each in marked:
            # The number tells names apart that are alike without their signs.
            own = re.sub(r"[^\w.-]+", "_", each.item_id)[:_LONGEST_NAME]
            name = f"{each.position:06}_{own}"
            add(f"{name}.txt", each.text)
            add(f"{name}.ann", "".join(_standoff(each, names)))


def _standoff(marked: MarkedText, names: Mapping[str, str]) -> Iterator[str]:
    for number, (start, end, label) in enumerate(marked.spans, start=1):
        lines = marked.text[start:end].split("\n")
        begins = accumulate((len(line) + 1 for line in lines), initial=start)
        pieces = [
            (at, at + len(line)) for at, line in zip(begins, lines, strict=False) if line.strip()
        ]
        if not pieces:
            continue
        offsets = ";".join(f"{low} {high}" for low, high in pieces)
        words = " ".join(marked.text[low:high] for low, high in pieces)
        yield f"T{number}\t{names[label]} {offsets}\t{words}\n"


def _tag(label: str) -> str:
    return "_".join(label.split()) or "span"


def _type(label: str) -> str:
    return re.sub(r"[^\w-]+", "_", label.strip()) or "span"
