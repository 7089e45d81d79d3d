"""Read captions in the formats in which well-known datasets are published.

Tables name an image and a caption in each row (`published_tables`). JSON comes as COCO's
results, as Karpathy's splits, as lines, or as lists of captions by image.

JSON of VizWiz-Captions, COCO and piecework has `images` and `annotations` with integer ids;
the keys specific to VizWiz (`is_precanned`, `is_rejected`, `text_detected`) may be missing.
A list of objects with `image`, `unrecognizable` and `flaws` is a file of votes on quality
(VizWiz-QualityIssues).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from piecework.analyses.corpus.captions import ANSWERS_OF_QUALITY_FILES, Caption, Corpus, Quality
from piecework.domain.text import lines_in, plural
from piecework.postprocess.datasets.published_tables import (
    CAPTIONS,
    IMAGES,
    MOST_LEFT_OUT,
    Row,
    rows_of,
)
from piecework.postprocess.datasets.reading_faults import UnreadableError, decoded, parsed_json

Document = Mapping[str, object]


def from_rows(text: str) -> Corpus:
    """Return the captions of a table whose first line names an image and a caption.

    Raises:
        UnreadableError: more than a few rows cannot be read.
    """
    return _corpus(rows_of(text), "line")


def from_entries(entries: Sequence[object]) -> Corpus:
    """Return the captions of a list of objects, each with an image and captions.

    Raises:
        UnreadableError: more than a few entries have neither.
    """

    def rows() -> Iterator[Row]:
        for number, entry in enumerate(entries):
            yield number, *_entry(entry)

    return _corpus(rows(), "entry")


def from_json_lines(text: str) -> Corpus:
    """Return the captions of lines of JSON objects.

    Raises:
        UnreadableError: more than a few lines are unreadable.
    """

    def rows() -> Iterator[Row]:
        for number, line in enumerate(lines_in(text), start=1):
            if line.strip():
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    entry = None
                yield number, *_entry(entry)

    return _corpus(rows(), "line")


def is_list_of_captions(entries: Sequence[object]) -> bool:
    """Return whether the first entry has an image and a caption, as COCO's results."""
    return bool(entries) and _entry(entries[0])[1] is not None


def by_image(document: Document) -> Sequence[object] | None:
    """Return entries for an object of captions by image, or Karpathy's images.

    `None`: it is neither.
    """
    images = document.get("images")
    if "annotations" in document:
        return None
    if isinstance(images, list):
        return images if is_list_of_captions(images) else None
    if document and all(_texts(value) is not None for value in document.values()):
        return [{"image": name, "captions": value} for name, value in document.items()]
    return None


def _entry(entry: object) -> tuple[str, Iterable[str] | None]:
    """Return the image and the captions of an object; `None` if it has none."""
    if not isinstance(entry, dict):
        return "", None
    names = {str(name).casefold(): value for name, value in entry.items()}
    # Karpathy's images have a number and a file name; others name the file.
    order = ("filename", *IMAGES) if "sentences" in names else IMAGES
    image = next((text for name in order if (text := _id(names.get(name)))), "")
    texts = next(
        (texts for name in CAPTIONS if (texts := _texts(names.get(name))) is not None), None
    )
    if texts is None and any(name in names and names[name] is None for name in CAPTIONS):
        texts = []  # an image whose caption is missing
    return image, texts if image else None


def _id(value: object) -> str:
    is_id = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() if is_id else ""


def _texts(value: object) -> list[str] | None:
    """Return captions: a text, a list of texts, or of objects with one."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        return None
    parts = [
        next((part[name] for name in CAPTIONS if isinstance(part.get(name), str)), None)
        if isinstance(part, dict)
        else part
        for part in value
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return texts if texts and len(texts) == len(parts) else None


def _corpus(rows: Iterable[Row], place: str) -> Corpus:
    """Return the captions of rows; a few rows that cannot be read are left out."""
    captions: list[Caption] = []
    faults: list[str] = []
    count = absent = 0
    for number, image, texts in rows:
        count += 1
        if texts is None or not image:
            faults.append(f"{place} {number}: has no image with a caption")
            continue
        filled = [text for text in texts if text.strip()]
        absent += not filled
        captions += [Caption(image=image, text=text) for text in filled]
    if len(faults) > max(1, MOST_LEFT_OUT * count) or not captions:
        raise UnreadableError(*(faults or ["contains no captions"]))
    left_out = [f"Left out: {fault}." for fault in faults]
    if absent:
        left_out.append(f"Left out: {plural(absent, 'row')} without a caption.")
    return Corpus(
        source="",
        captions=captions,
        holds_canned=False,
        images=[*dict.fromkeys(caption.image for caption in captions)],
        remarks=left_out,
    )


_REHEARSAL = "REHEARSAL: all answers come from simulated workers."

_TRUTH = {True: "yes", False: "no", None: ""}


def from_json(content: bytes) -> Corpus:
    """Return the captions or votes of a document.

    Raises:
        UnreadableError: it has another format; the message lists all faults with
            places.
    """
    document = parsed_json(decoded(content))
    if isinstance(document, dict):
        entries = by_image(document)
        return _captions(document) if entries is None else from_entries(entries)
    if not isinstance(document, list):
        raise UnreadableError("neither an object nor a list of captions or votes")
    if is_list_of_captions(document):
        return from_entries(document)
    return _votes(document)


def _captions(document: Mapping[str, object]) -> Corpus:
    images = document.get("images", [])
    annotations = document.get("annotations")
    if not isinstance(annotations, list) or not isinstance(images, list):
        keys = ", ".join(map(repr, [*document][:12])) or "none"
        raise UnreadableError(
            f"the lists 'images' and 'annotations' of captions are missing (keys found: {keys})"
        )
    faults = [
        f"images[{n}]: {fault}" for n, image in enumerate(images) for fault in _image_faults(image)
    ]
    faults += [
        f"annotations[{n}]: {fault}"
        for n, annotation in enumerate(annotations)
        for fault in _annotation_faults(annotation)
    ]
    if faults:
        raise UnreadableError(*faults)
    about = _about(document)
    ids = {str(image["id"]): image.get("text_detected") for image in images}
    captions = [
        _caption(annotation)
        for annotation in annotations
        if annotation.get("set_aside") not in {"surplus", "undecided"}
    ]
    return Corpus(
        source="",
        captions=captions,
        images=[*dict.fromkeys([*ids, *(caption.image for caption in captions)])],
        files={
            str(image["id"]): image["file_name"]
            for image in images
            if isinstance(image.get("file_name"), str)
        },
        shows_text={
            image: _TRUTH[shows_text]
            for image, shows_text in ids.items()
            if isinstance(shows_text, bool)
        },
        # piecework's own file, which names the campaign, has canned answers in another
        # one.
        holds_canned="campaign" not in about
        and any("is_precanned" in annotation for annotation in annotations),
        remarks=[_REHEARSAL] if about.get("is_rehearsal") is True else [],
    )


def _about(document: Mapping[str, object]) -> Mapping[str, object]:
    about = document.get("info")
    return about if isinstance(about, dict) else {}


def _image_faults(entry: object) -> list[str]:
    if not isinstance(entry, dict) or not _is_id(entry.get("id")):
        return ["not an object with an 'id'"]
    return []


def _annotation_faults(entry: object) -> list[str]:
    if not isinstance(entry, dict):
        return ["not an object"]
    faults = [] if _is_id(entry.get("image_id")) else ["'image_id' is missing"]
    if not isinstance(entry.get("caption"), str):
        faults.append("'caption' is missing or not text")
    return faults + [
        f"{name!r} must be true or false"
        for name in ("is_precanned", "is_rejected", "text_detected")
        if not isinstance(entry.get(name), bool | None)
    ]


def _caption(annotation: Mapping[str, object]) -> Caption:
    shows_text = annotation.get("text_detected")
    return Caption(
        image=str(annotation["image_id"]),
        text=str(annotation["caption"]),
        is_canned=bool(annotation.get("is_precanned")),
        is_rejected=bool(annotation.get("is_rejected")),
        shows_text=_TRUTH[shows_text] if isinstance(shows_text, bool) else "",
    )


def _votes(entries: Sequence[object]) -> Corpus:
    faults = [
        f"entry {n}: {fault}" for n, entry in enumerate(entries) for fault in _vote_faults(entry)
    ]
    if faults:
        raise UnreadableError(*faults)
    quality = {
        str(entry["image"]): Quality(
            unrecognizable=entry["unrecognizable"], flaws=entry.get("flaws", {})
        )
        for entry in entries
        if isinstance(entry, dict)
    }
    return Corpus(source="", images=[*quality], quality=quality)


def _vote_faults(entry: object) -> list[str]:
    if not isinstance(entry, dict) or "unrecognizable" not in entry:
        captions = "a caption ('image_id', 'caption')"
        return [f"neither {captions} nor votes ('image', 'unrecognizable', 'flaws')"]
    flaws = entry.get("flaws", {})
    votes = [entry["unrecognizable"], *(flaws.values() if _is_object(flaws) else ["?"])]
    faults = [] if _is_id(entry.get("image")) else ["'image' is missing"]
    if not all(_is_vote(vote) for vote in votes):
        faults.append(f"votes must be whole numbers from 0 to {ANSWERS_OF_QUALITY_FILES}")
    return faults


def _is_vote(vote: object) -> bool:
    return (
        isinstance(vote, int)
        and not isinstance(vote, bool)
        and 0 <= vote <= ANSWERS_OF_QUALITY_FILES
    )


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool) and value != ""
