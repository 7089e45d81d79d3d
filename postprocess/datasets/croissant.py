"""Croissant: JSON-LD that describes a dataset's files so that other programs load it.

The format is MLCommons' (version 1.0). Paths are relative to the file itself, and each
file has its sha256, so a copy can be checked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
    Layout,
)

_CONTEXT: Mapping[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "extract", "field", "fileProperty", "fileObject"),
            *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key"),
            *("md5", "parentField", "path", "recordSet", "references", "regex"),
            *("repeated", "replace", "separator", "source", "subField", "transform"),
            *("equivalentProperty", "samplingRate"),
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}

_TYPES: Mapping[pa.DataType, str] = {
    TEXT: "sc:Text",
    TEXTS: "sc:Text",
    WHOLE: "sc:Integer",
    NUMBER: "sc:Float",
    TRUTH: "sc:Boolean",
    TIME: "sc:Date",
}

_ENCODINGS = {
    ".conll": "text/plain",
    ".csv": "text/csv",
    ".json": "application/json",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/x-parquet",
    ".zip": "application/zip",
}

_MEANINGS = {
    "captions": "One row for each caption that counts.",
    "answers": "One row for each answer that counts.",
    "set_aside": "Answers that do not count, each with the reason.",
    "items": "One row for each item, with its aggregated answers.",
    "participants": "The number of participants by what they said about themselves.",
    "conditions": "The mean of each condition over participants.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A written file of the dataset."""

    sha256: str
    size_bytes: int


def croissant(
    layout: Layout, facts: DatasetFacts, written: Mapping[str, WrittenFile], *, published: str
) -> bytes:
    """Return the document as JSON.

    Args:
        layout: the tables for the record sets.
        facts: how the dataset was made.
        written: the files, by name.
        published: the date of the last answer (ISO 8601), "" without answers.
    """
    publication = facts.publication
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.campaign,
        "alternateName": publication.title,
        "description": " ".join(filter(None, (facts.warning, facts.purpose))),
        "version": publication.version,
        "datePublished": published,
        "license": publication.licence.url if publication.licence else "",
        "url": publication.homepage,
        "citeAs": publication.citation,
        "creator": {"@type": "sc:Organization", "name": publication.contact}
        if publication.contact
        else "",
        "inLanguage": facts.task.language,
        "keywords": list(publication.tags),
        "isBasedOn": _campaign_file(facts),
        "rai:dataCollection": publication.consent,
        "rai:dataSocialImpact": publication.ethics,
        "rai:annotationsPerItem": facts.wanted_per_item,
        "distribution": [
            *(_file_object(name, file) for name, file in written.items()),
            *_pictures(facts),
        ],
        "recordSet": [
            record_set
            for name, table in layout.tables.items()
            if (record_set := _record_set(name, table, written))
        ],
    }
    stated = {name: value for name, value in document.items() if value}
    words = json.dumps(stated, ensure_ascii=False, allow_nan=False, indent=1)
    return f"{words}\n".encode()


def _campaign_file(facts: DatasetFacts) -> dict[str, object]:
    """Return the file that states how the dataset was made, by schema.org's terms."""
    if not facts.source_hash:
        return {}
    return {"@type": "sc:MediaObject", "name": "campaign file", "sha256": facts.source_hash}


def _file_object(name: str, file: WrittenFile) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{file.size_bytes} B",
        "encodingFormat": _ENCODINGS[PurePosixPath(name).suffix],
        "sha256": file.sha256,
    }


def _pictures(facts: DatasetFacts) -> list[dict[str, object]]:
    if facts.publication.pictures != "files":
        return []
    return [
        {
            "@type": "cr:FileSet",
            "@id": "pictures",
            "name": "pictures",
            "encodingFormat": "image/*",
            "includes": "images/**",
        }
    ]


def _record_set(
    name: str, table: FileTable, written: Mapping[str, WrittenFile]
) -> dict[str, object] | None:
    files = [file for file in (f"{name}.parquet", f"{name}.csv") if file in written]
    if not files:
        return None
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": _MEANINGS.get(name, ""),
        "field": [_field(name, column, type_, files[0]) for column, type_ in table.types.items()],
    }


def _field(record_set: str, column: str, type_: pa.DataType, file: str) -> dict[str, object]:
    field: dict[str, object] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{quote(column)}",
        "name": column,
        "dataType": _TYPES[type_],
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
    if type_ == TEXTS:
        field["repeated"] = True
    return field
