"""Captions read back from files: ours, VizWiz-Captions', or a plain table.

Strangers write such files, so everything is checked before anything is computed: every
fault names the file and the place, and of many the first twenty are told.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from piecework.analyses.corpus.captions import Corpus
from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.read_json import from_json
from piecework.postprocess.datasets.read_tables import (
    from_csv,
    from_lines,
    from_parquet,
)
from piecework.postprocess.datasets.reading_faults import as_config_error

LARGEST_BYTES = 512 * 2**20
"""MSCOCO's training captions are a tenth of it; a file beyond is a mistake."""

_READERS: Mapping[str, Callable[[bytes], Corpus]] = {
    ".csv": from_csv,
    ".json": from_json,
    ".parquet": from_parquet,
    ".token": from_lines,
    ".txt": from_lines,
}

LONGEST_CHARACTERS = 2000
"""Of a caption; what follows is left out, or one monster would take minutes."""

_FOLDER_ORDER = ("captions.parquet", "captions.csv", "captions.json")
"""Tables first: they tell a canned answer that is surplus, the JSON does not."""


def read_captions(path: Path) -> Corpus:
    """The captions of a file, or of a folder that piecework wrote a dataset into.

    Args:
        path: `.json` as VizWiz-Captions or COCO publish it, or a list of votes as
            VizWiz-QualityIssues; `.csv` or `.parquet` with a column `caption` and one
            of `item_id`, `image_id`; `.txt` with one caption a line, Flickr8k's
            `image#number<TAB>caption` included. Beside `captions.*` of piecework the
            `set_aside.*` of the same format is read too, since canned and rejected
            answers lie there.

    Raises:
        ConfigError: the file cannot be read or used; with every fault found.
    """
    path = _file_of(path)
    corpus = _whole(path)
    if not (corpus.captions or corpus.quality):
        raise ConfigError([f"{path}: holds no captions"])
    return _shortened(replace(corpus, source=_name(path)))


def _whole(path: Path) -> Corpus:
    corpus = _read(path)
    aside = path.with_name(f"set_aside{path.suffix}")
    if corpus.holds_canned or path == aside or not aside.is_file():
        return corpus
    is_part = path.suffix.lower() == ".json"
    return _together(corpus, _read(aside), is_part=is_part)


def _together(kept: Corpus, aside: Corpus, *, is_part: bool) -> Corpus:
    # A split's JSON lists its images; a table lists none, and is the whole dataset.
    listed = frozenset(kept.images)
    added = [
        caption for caption in aside.captions if caption.image in listed or not is_part
    ]
    captions = [*kept.captions, *added]
    images = kept.images or [*dict.fromkeys(caption.image for caption in captions)]
    return replace(
        kept,
        captions=captions,
        images=images,
        holds_canned=True,
    )


def _shortened(corpus: Corpus) -> Corpus:
    long = sum(len(caption.text) > LONGEST_CHARACTERS for caption in corpus.captions)
    if not long:
        return corpus
    return replace(
        corpus,
        captions=[
            replace(caption, text=caption.text[:LONGEST_CHARACTERS])
            for caption in corpus.captions
        ],
        remarks=[
            *corpus.remarks,
            f"Captions cut after {LONGEST_CHARACTERS:,} characters: {long:,}.",
        ],
    )


def _name(path: Path) -> str:
    """A name for people: every campaign has a captions.csv, so its folders help."""
    is_ours = path.name.startswith("captions")
    return "/".join(path.resolve().parts[-3:]) if is_ours else path.name


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = [path / name for name in _FOLDER_ORDER if (path / name).is_file()]
    if not files:
        fault = f"{path}: a folder without {' or '.join(_FOLDER_ORDER)}"
        is_other = any(path.glob("answers.*"))
        more = "; it holds the answers of a task without captions" if is_other else ""
        raise ConfigError([fault + more])
    return files[0]


def _read(path: Path) -> Corpus:
    read = _READERS.get(path.suffix.lower())
    if read is None:
        kinds = ", ".join(sorted(_READERS))
        raise ConfigError([f"{path}: captions are read from files that end in {kinds}"])
    with as_config_error(path):
        return read(_content(path))


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            limit = f"at most {LARGEST_BYTES:,} are read; describe a part of it"
            raise ConfigError([f"{path}: {size:,} bytes; {limit}"])
        content = path.read_bytes()
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    if not content.strip():
        raise ConfigError([f"{path}: the file is empty"])
    return content
