"""The JSON of VizWiz-Captions, which is COCO's with four fields more.

Programs written for either read it: `images` and `annotations` with integer ids. Images
are numbered by their place in the items file, so that items added at its end change no
number; annotations by image, then time. The requester's own ids stay beside them
(`item_id`, `answer_id`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import pandas as pd

from domain.hit import Item
from postprocess.datasets.facts import DatasetFacts
from postprocess.frame import novel, set_aside
from postprocess.splits import SPLITS, split_of

Entry = Mapping[str, object]


def files(
    frame: pd.DataFrame,
    items: Sequence[Item],
    facts: DatasetFacts,
    *,
    summary: pd.DataFrame,
) -> dict[str, bytes]:
    """`captions.json`, one file a split, and `set_aside.json`, by file name.

    Every image is listed, with captions or without; `set_aside.json` lists only the
    images it has annotations of, and says for each annotation why it is there.
    """
    numbers = {str(item.item_id): n for n, item in enumerate(items, start=1)}
    images = [_image(item, numbers, summary, facts) for item in items]
    annotation_ids = _annotation_ids(frame, numbers)
    kept = _annotations(novel(frame), numbers, annotation_ids)
    aside = _annotations(set_aside(frame), numbers, annotation_ids)
    about = _about(frame, facts)
    shown = {annotation["image_id"] for annotation in aside}
    documents = {
        "captions.json": (about, images, kept),
        "set_aside.json": (about, [i for i in images if i["id"] in shown], aside),
    }
    for split in SPLITS:
        mine = [image for image in images if image["split"] == split]
        ids = {image["id"] for image in mine}
        documents[f"captions_{split}.json"] = (
            {**about, "split": split},
            mine,
            [annotation for annotation in kept if annotation["image_id"] in ids],
        )
    return {name: _document(*parts) for name, parts in documents.items()}


def file_name(item: Item) -> str:
    """The item's `file_name` column, or the last part of its `url`, or its id.

    >>> from domain.ids import ItemId
    >>> url = "https://pictures.example/birds/a%20b.jpg?size=2"
    >>> file_name(Item(item_id=ItemId("7"), columns={"url": url}))
    'a b.jpg'
    """
    of_url = PurePosixPath(unquote(urlsplit(item.columns.get("url", "")).path)).name
    return item.columns.get("file_name") or of_url or item.item_id


def _about(frame: pd.DataFrame, facts: DatasetFacts) -> Entry:
    last = frame["submitted_at"].max()
    return {
        "description": " ".join(filter(None, (facts.warning, facts.purpose))),
        "version": facts.source_hash[:12],
        "year": None if pd.isna(last) else last.year,
        "date_created": None if pd.isna(last) else last.date().isoformat(),
        "campaign": facts.campaign,
        "is_rehearsal": facts.is_rehearsal,
        "code_commit": facts.code_commit,
    }


def _image(
    item: Item,
    numbers: Mapping[str, int],
    summary: pd.DataFrame,
    facts: DatasetFacts,
) -> Entry:
    row = summary.loc[item.item_id]
    return {
        "id": numbers[item.item_id],
        "item_id": item.item_id,
        "file_name": file_name(item),
        "url": item.columns.get("url", ""),
        "text_detected": _truth(str(row["text_detected"])),
        "difficulty": row["difficulty"],
        "split": split_of(item.item_id, facts.shares),
    }


def _annotation_ids(
    frame: pd.DataFrame,
    numbers: Mapping[str, int],
) -> dict[object, int]:
    order = sorted(
        zip(
            frame["item_id"].map(numbers.__getitem__),
            frame["submitted_at"],
            frame.index,
            strict=True,
        ),
    )
    return {answer_id: n for n, (_, _, answer_id) in enumerate(order, start=1)}


def _annotations(
    frame: pd.DataFrame,
    numbers: Mapping[str, int],
    annotation_ids: Mapping[object, int],
) -> list[Entry]:
    entries = [
        {
            "id": annotation_ids[answer_id],
            "image_id": numbers[row["item_id"]],
            "caption": row["caption"],
            "is_precanned": row["is_precanned"],
            "is_rejected": row["is_rejected"],
            "text_detected": _truth(row["text_detected"]),
            "answer_id": answer_id,
            **({"set_aside": row["set_aside"]} if "set_aside" in row else {}),
        }
        for answer_id, row in zip(frame.index, frame.to_dict("records"), strict=True)
    ]
    return sorted(entries, key=lambda entry: annotation_ids[entry["answer_id"]])


def _document(
    about: Entry,
    images: Iterable[Entry],
    annotations: Iterable[Entry],
) -> bytes:
    whole = {"info": about, "images": list(images), "annotations": list(annotations)}
    return (json.dumps(whole, ensure_ascii=False, indent=1) + "\n").encode()


def _truth(answer: str) -> bool | None:
    return {"yes": True, "no": False}.get(answer)
