"""Prolific's own OpenAPI document, to hold calls to and to make answers from.

It is not ours to ship; it lies in `../shared/reference` where it lies at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tests.answering import Asked

FILE = Path(__file__).resolve().parents[3] / "../shared/reference/prolific-openapi.yml"

_URN = "urn:prolific"
_PAGING = {"page", "page_size", "limit", "offset"}
"""Where a listing does not document them, Prolific's own clients send them all the
same."""
_DEEPEST = 12


@cache
def document() -> dict[str, Any]:
    """The document, read once a process."""
    with FILE.open(encoding="utf-8") as file:
        loaded: dict[str, Any] = yaml.load(file, Loader=yaml.CSafeLoader)
    return loaded


@cache
def _registry() -> Any:  # noqa: ANN401 - of jsonschema, which has no types
    resource = DRAFT202012.create_resource(_lenient(document()))
    return Registry().with_resource(_URN, resource)


def _lenient(part: Any) -> Any:  # noqa: ANN401 - any part of the document
    """The same with any instead of one of several schemas, and references from outside.

    The document says that a bound of a filter is one of integer and number. A whole
    number is both, so it would be none of them.
    """
    if isinstance(part, dict):
        return {
            "anyOf" if key == "oneOf" else key: f"{_URN}{value}"
            if key == "$ref" and str(value).startswith("#")
            else _lenient(value)
            for key, value in part.items()
        }
    return [_lenient(each) for each in part] if isinstance(part, list) else part


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    method: str
    template: str

    @property
    def wire(self) -> dict[str, Any]:
        """What the document says of it."""
        operation: dict[str, Any] = document()["paths"][self.template][self.method.lower()]
        return operation

    def success(self) -> tuple[int, Mapping[str, Any] | None]:
        """The status of success, and the schema of its document."""
        status, answer = next(
            (int(code), answer)
            for code, answer in self.wire["responses"].items()
            if str(code).startswith("2")
        )
        content = answer.get("content", {}).get("application/json")
        return status, None if content is None else content["schema"]


def operation_of(asked: Asked) -> Operation:
    """The operation that a call is, by method and the exact path."""
    steps = asked.path.split("/")
    for template, methods in document()["paths"].items():
        wanted = template.split("/")
        if asked.method.lower() in methods and len(wanted) == len(steps):
            pairs = zip(wanted, steps, strict=True)
            fits = all(name == step or (name[:1] == "{" and step) for name, step in pairs)
            if fits and not _is_literal_elsewhere(template, steps):
                return Operation(asked.method, template)
    raise AssertionError(f"{asked.method} {asked.path} is no operation of Prolific's")


def _is_literal_elsewhere(template: str, steps: Sequence[str]) -> bool:
    """Whether the path is another one that has no parameter there."""
    path = "/".join(steps)
    return path != template and path in document()["paths"]


def faults_of(asked: Asked) -> list[str]:
    """What Prolific's document says against a call."""
    wire = operation_of(asked).wire
    return [*_query_faults(asked, wire), *_body_faults(asked, wire)]


def _query_faults(asked: Asked, wire: Mapping[str, Any]) -> Iterator[str]:
    known: set[str] = set()
    for parameter in wire.get("parameters", []):
        if parameter["in"] != "query":
            continue
        options = _resolved(parameter["schema"]).get("oneOf")
        # A parameter that is an object stands in the query as its members.
        members = [m for option in options or [] for m in _resolved(option)["properties"]]
        names = set(members or [parameter["name"]])
        known |= names
        if parameter.get("required") and not names & asked.query.keys():
            yield f"the query lacks {parameter['name']}"
        if not members and parameter["name"] in asked.query:
            yield from _schema_faults(
                _typed(asked.query[parameter["name"]], parameter["schema"]), parameter["schema"]
            )
    for name in asked.query.keys() - known - _PAGING:
        yield f"the query has {name}, which is not documented"


def _typed(text: str, schema: Mapping[str, Any]) -> object:
    kind = _resolved(schema).get("type")
    if kind == "integer":
        return int(text)
    return text == "true" if kind == "boolean" else text


def _body_faults(asked: Asked, wire: Mapping[str, Any]) -> Iterator[str]:
    if "requestBody" not in wire:
        if asked.body is not None:
            yield "a body is sent and none is documented"
        return
    schema = wire["requestBody"]["content"]["application/json"]["schema"]
    yield from _schema_faults(asked.body, schema)
    # Schemas forbid no further keys; one that they do not name is a slip of ours.
    named = set(_properties(schema))
    if isinstance(asked.body, dict):
        yield from (f"{key} is not documented" for key in asked.body.keys() - named)


def _properties(schema: Mapping[str, Any]) -> Iterator[str]:
    schema = _resolved(schema)
    yield from schema.get("properties", {})
    for option in [*schema.get("oneOf", []), *schema.get("allOf", [])]:
        yield from _properties(option)


def _schema_faults(instance: object, schema: Mapping[str, Any]) -> Iterator[str]:
    validator = Draft202012Validator(_lenient(schema), registry=_registry())
    for error in validator.iter_errors(instance):
        yield f"{error.json_path}: {error.message}"


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        part: Any = document()
        for step in schema["$ref"].removeprefix("#/").split("/"):
            part = part[step]
        schema = part
    return schema


def sample(schema: Mapping[str, Any], *, all_keys: bool, name: str = "", depth: int = 0) -> Any:  # noqa: ANN401 - any document
    """A document that the schema allows, with all its keys or the required ones."""
    schema = _resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    options = schema.get("oneOf") or schema.get("anyOf")
    if options:
        return sample(options[0], all_keys=all_keys, name=name, depth=depth + 1)
    kind = schema.get("type", "object")
    if isinstance(kind, list):
        # The other branch is null.
        kind = kind[0] if all_keys else "null"
    if kind == "object":
        wanted = schema.get("required", [])
        return {
            key: sample(part, all_keys=all_keys, name=key, depth=depth + 1)
            for key, part in schema.get("properties", {}).items()
            if (all_keys and depth < _DEEPEST) or key in wanted
        }
    if kind == "array":
        row = sample(schema.get("items", {}), all_keys=all_keys, depth=depth + 1)
        return [row] if depth < _DEEPEST else []
    return _scalar(kind, schema, name)


def _scalar(kind: str, schema: Mapping[str, Any], name: str) -> object:
    if kind == "string":
        is_moment = schema.get("format") == "date-time" or name in {
            *("started_at", "completed_at", "datetime_created", "return_requested")
        }
        return "2026-11-20T10:11:12.345Z" if is_moment else f"a-{name or 'word'}"
    return {"integer": 7, "number": 7, "boolean": False, "null": None}[kind]
