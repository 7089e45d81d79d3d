"""Read captions from piecework's own files, VizWiz-Captions', or plain tables.

Such files are untrusted, so everything is checked before anything is computed. Each
fault names the file and the place; at most twenty are reported.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from piecework.analyses.corpus.captions import Corpus
from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.read_json import from_json
from piecework.postprocess.datasets.read_published import from_json_lines
from piecework.postprocess.datasets.read_tables import from_csv, from_lines, from_parquet
from piecework.postprocess.datasets.reading_faults import as_config_error, decoded

LARGEST_BYTES = 512 * 2**20
"""Ten times the size of MSCOCO's training captions; a larger file is a mistake."""

_READERS: Mapping[str, Callable[[bytes], Corpus]] = {
    ".csv": from_csv,
    ".json": from_json,
    ".jsonl": lambda content: from_json_lines(decoded(content)),
    ".parquet": from_parquet,
    ".token": from_lines,
    ".tsv": from_lines,
    ".txt": from_lines,
}

LONGEST_CHARACTERS = 2000
"""The longest caption; the rest is cut, because a huge one would take minutes."""

_FOLDER_ORDER = ("captions.parquet", "captions.csv", "captions.json")
"""Tables first: unlike the JSON, they mark canned answers that are surplus."""


def read_captions(path: Path) -> Corpus:
    """Read the captions of a file, or of a folder with a piecework dataset.

    Args:
        path: `.json` as VizWiz-Captions or COCO publish it, or a list of votes as
            VizWiz-QualityIssues; `.csv` or `.parquet` with a column `caption` and one
            of `item_id`, `image_id`; `.txt` with one caption per line, Flickr8k's
            `image#number<TAB>caption` included; or as `read_published` says. With
            `captions.*` of piecework, `set_aside.*` in the same format is read too,
            because it contains canned and rejected answers.

    Raises:
        ConfigError: the file cannot be read or used; the message lists the faults.
    """
    path = _file_of(path)
    corpus = _whole(path)
    if not (corpus.captions or corpus.quality):
        raise ConfigError([f"{path}: contains no captions"])
    return _shortened(replace(corpus, source=_name(path)))


def _whole(path: Path) -> Corpus:
    corpus = _read(path)
    aside = path.with_name(f"set_aside{path.suffix}")
    if corpus.holds_canned or path == aside or not aside.is_file():
        return corpus
    is_part = path.suffix.lower() == ".json"
    return _together(corpus, _read(aside), is_part=is_part)


def _together(kept: Corpus, aside: Corpus, *, is_part: bool) -> Corpus:
    # A split's JSON lists its images; a table does not, and is the whole dataset.
    listed = frozenset(kept.images)
    added = [caption for caption in aside.captions if caption.image in listed or not is_part]
    captions = [*kept.captions, *added]
    images = kept.images or [*dict.fromkeys(caption.image for caption in captions)]
    return replace(
        kept,
        captions=captions,
        images=images,
        files={**aside.files, **kept.files},
        holds_canned=True,
    )


def _shortened(corpus: Corpus) -> Corpus:
    long = sum(len(caption.text) > LONGEST_CHARACTERS for caption in corpus.captions)
    if not long:
        return corpus
    return replace(
        corpus,
        captions=[
            replace(caption, text=caption.text[:LONGEST_CHARACTERS]) for caption in corpus.captions
        ],
        remarks=[
            *corpus.remarks,
            f"Captions cut after {LONGEST_CHARACTERS:,} characters: {long:,}.",
        ],
    )


def _name(path: Path) -> str:
    """Return a name for people, with folders: every campaign has a captions.csv."""
    is_ours = path.name.startswith("captions")
    return "/".join(path.resolve().parts[-3:]) if is_ours else path.name


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = [path / name for name in _FOLDER_ORDER if (path / name).is_file()]
    if not files:
        fault = f"{path}: a folder without {' or '.join(_FOLDER_ORDER)}"
        is_other = any(path.glob("answers.*"))
        more = "; it contains the answers of a task without captions" if is_other else ""
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
