"""Captions from JSON: VizWiz-Captions and COCO (ours is one of these), or votes.

`images` and `annotations` with integer ids; what only VizWiz has (`is_precanned`,
`is_rejected`, `text_detected`) may be missing. A list of objects with `image`,
`unrecognizable` and `flaws` is a file of votes on quality (VizWiz-QualityIssues).
"""

import json
from collections.abc import Mapping, Sequence

from analyses.corpus.captions import ANSWERS_OF_QUALITY_FILES, Caption, Corpus, Quality
from postprocess.datasets.reading_faults import UnreadableError, decoded

_REHEARSAL = "REHEARSAL: all answers come from simulated workers."

_TRUTH = {True: "yes", False: "no", None: ""}


def from_json(content: bytes) -> Corpus:
    """The captions of such a document, or its votes.

    Raises:
        UnreadableError: it is none of these; every fault with its place.
    """
    try:
        document: object = json.loads(decoded(content))
    except json.JSONDecodeError as fault:
        raise UnreadableError(f"line {fault.lineno}: no JSON ({fault.msg})") from fault
    except RecursionError as fault:
        raise UnreadableError("no captions: the JSON is nested too deeply") from fault
    if isinstance(document, list):
        return _votes(document)
    if isinstance(document, dict):
        return _captions(document)
    raise UnreadableError("neither an object with 'annotations' nor a list of votes")


def _captions(document: Mapping[str, object]) -> Corpus:
    images = document.get("images", [])
    annotations = document.get("annotations")
    if not isinstance(annotations, list) or not isinstance(images, list):
        found = ", ".join(map(repr, [*document][:12])) or "none"
        raise UnreadableError(
            f"no lists 'images' and 'annotations' of captions (keys found: {found})"
        )
    faults = [
        f"images[{n}]: {fault}" for n, one in enumerate(images) for fault in _image(one)
    ]
    faults += [
        f"annotations[{n}]: {fault}"
        for n, one in enumerate(annotations)
        for fault in _annotation(one)
    ]
    if faults:
        raise UnreadableError(*faults)
    about = _about(document)
    ids = {str(one["id"]): one.get("text_detected") for one in images}
    captions = [
        _caption(one) for one in annotations if one.get("set_aside") != "surplus"
    ]
    return Corpus(
        source="",
        captions=captions,
        images=[*dict.fromkeys([*ids, *(one.image for one in captions)])],
        shows_text={
            image: _TRUTH[said] for image, said in ids.items() if isinstance(said, bool)
        },
        # piecework, which names the campaign, keeps canned answers in another file.
        holds_canned="campaign" not in about
        and any("is_precanned" in one for one in annotations),
        remarks=[_REHEARSAL] if about.get("is_rehearsal") is True else [],
    )


def _about(document: Mapping[str, object]) -> Mapping[str, object]:
    about = document.get("info")
    return about if isinstance(about, dict) else {}


def _image(one: object) -> list[str]:
    if not isinstance(one, dict) or not _is_id(one.get("id")):
        return ["no object with an 'id'"]
    return []


def _annotation(one: object) -> list[str]:
    if not isinstance(one, dict):
        return ["not an object"]
    faults = [] if _is_id(one.get("image_id")) else ["no 'image_id'"]
    if not isinstance(one.get("caption"), str):
        faults.append("no text 'caption'")
    return faults + [
        f"{name!r} is neither true nor false"
        for name in ("is_precanned", "is_rejected", "text_detected")
        if not isinstance(one.get(name), bool | None)
    ]


def _caption(one: Mapping[str, object]) -> Caption:
    said = one.get("text_detected")
    return Caption(
        image=str(one["image_id"]),
        text=str(one["caption"]),
        is_canned=bool(one.get("is_precanned")),
        is_rejected=bool(one.get("is_rejected")),
        shows_text=_TRUTH[said] if isinstance(said, bool) else "",
    )


def _votes(entries: Sequence[object]) -> Corpus:
    faults = [
        f"entry {n}: {fault}"
        for n, one in enumerate(entries)
        for fault in _vote_faults(one)
    ]
    if faults:
        raise UnreadableError(*faults)
    quality = {
        str(one["image"]): Quality(
            unrecognizable=one["unrecognizable"], flaws=one.get("flaws", {})
        )
        for one in entries
        if isinstance(one, dict)
    }
    return Corpus(source="", images=[*quality], quality=quality)


def _vote_faults(one: object) -> list[str]:
    if not isinstance(one, dict) or "unrecognizable" not in one:
        return ["no votes of quality ('image', 'unrecognizable', 'flaws')"]
    flaws = one.get("flaws", {})
    votes = [one["unrecognizable"], *(flaws.values() if _is_object(flaws) else ["?"])]
    faults = [] if _is_id(one.get("image")) else ["no 'image'"]
    if not all(_is_vote(vote) for vote in votes):
        faults.append(f"votes are whole numbers from 0 to {ANSWERS_OF_QUALITY_FILES}")
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
