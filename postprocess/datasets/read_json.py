"""Read captions from JSON (VizWiz-Captions, COCO, piecework's own), or votes.

`images` and `annotations` with integer ids; the keys specific to VizWiz
(`is_precanned`, `is_rejected`, `text_detected`) may be missing. A list of objects with
`image`, `unrecognizable` and `flaws` is a file of votes on quality
(VizWiz-QualityIssues). Other published forms are in `read_published`.
"""

import json
from collections.abc import Mapping, Sequence

from piecework.analyses.corpus.captions import ANSWERS_OF_QUALITY_FILES, Caption, Corpus, Quality
from piecework.postprocess.datasets.read_published import (
    by_image,
    from_entries,
    is_list_of_captions,
)
from piecework.postprocess.datasets.reading_faults import UnreadableError, decoded

_REHEARSAL = "REHEARSAL: all answers come from simulated workers."

_TRUTH = {True: "yes", False: "no", None: ""}


def from_json(content: bytes) -> Corpus:
    """Return the captions or votes of a document.

    Raises:
        UnreadableError: it has another format; the message lists all faults with
            places.
    """
    try:
        document: object = json.loads(decoded(content))
    except json.JSONDecodeError as fault:
        raise UnreadableError(f"line {fault.lineno}: not JSON ({fault.msg})") from fault
    except RecursionError as fault:
        raise UnreadableError("cannot be read: the JSON is nested too deeply") from fault
    except ValueError as fault:
        words = "cannot be read: a number has thousands of digits"
        raise UnreadableError(words) from fault
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
