"""Prolific's OpenAPI document, which answers and requests are held to.

It lies beside the project and is not ours to copy; where it is missing, nothing is
compared. Its `oneOf` name alternatives that do not exclude each other, so they are read
as `anyOf`.
"""

import functools
import re
from pathlib import Path
from typing import Any

import httpx
import yaml
from jsonschema import Draft202012Validator

FILE = Path(__file__).resolve().parents[5] / "../shared/reference/prolific-openapi.yml"
MISSING = "../shared/reference/prolific-openapi.yml is not here"

_UNDOCUMENTED = {
    "get-user": {
        *("first_name", "last_name", "username", "user_type"),
        *("currency_code", "balance", "available_balance"),
    },
    **{
        name: {
            *("study_type", "places_taken", "number_of_submissions", "total_cost"),
            *("date_created", "_links"),
        }
        for name in (
            *("get-study", "create-study", "update-study", "publish-study"),
            "duplicate-study",
        )
    },
    **{
        name: {"is_complete", "time_taken", "bonus_payments", "ip"}
        for name in ("get-submissions", "get-study-submissions")
    },
    "create-subscription": {*("id", "event_type", "target_url", "is_enabled", "workspace_id")},
}
"""What is answered beyond the document: the official command line reads it."""
_IN_PROSE = {
    ("request-batch-export", "202"): "BatchExportStatus0",
    ("request-collection-export", "202"): "CollectionExportStatus0",
}
"""The schemas of answers that the document describes in words alone."""
_OF_LISTS = {"_links", "meta"}


class Documented:
    """The operations of the document, by method and address."""

    def __init__(self) -> None:
        self.document = _read()
        self.seen: set[str] = set()

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """The operation that answers at an address; fixed words win over variables."""
        fitting = [
            template
            for template in self.document["paths"]
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
            and method.lower() in self.document["paths"][template]
        ]
        template = min(fitting, key=lambda candidate: candidate.count("{"))
        operation: dict[str, Any] = self.document["paths"][template][method.lower()]
        return operation

    def check(self, response: httpx.Response) -> None:
        """Hold an answer, and what was sent for it, to the document."""
        request = response.request
        operation = self.operation(request.method, request.url.path)
        name = operation["operationId"]
        self.seen.add(name)
        is_json = request.headers.get("content-type", "").endswith("/json")
        if response.is_success and request.content and is_json:
            self._compare(operation["requestBody"], response_of(request.content))
        status = str(response.status_code)
        if (name, status) in _IN_PROSE:
            part = self.document["components"]["schemas"][_IN_PROSE[name, status]]
            described = {"content": {"application/json": {"schema": part}}}
            self._compare(described, response.json())
            return
        if status not in operation["responses"]:
            # 401, 404 and 429 are documented for all, and by no operation.
            assert not response.is_success, (name, status)
            return
        documented = operation["responses"][status]
        if response.status_code == 204:
            assert not response.content
            return
        if is_table(response):
            # The document types a table as an empty JSON object.
            assert not self._resolved(_schema(documented)).get("properties"), name
            return
        value = response.json()
        self._compare(documented, value)
        if response.is_success:
            self._check_names(name, _schema(documented), value)

    def _compare(self, described: dict[str, Any], value: object) -> None:
        validator = Draft202012Validator(
            {**_schema(described), "components": self.document["components"]}
        )
        faults = [f"{fault.json_path}: {fault.message}" for fault in validator.iter_errors(value)]
        assert not faults, faults

    def _check_names(self, name: str, schema: dict[str, Any], value: object) -> None:
        schema = self._resolved(schema)
        if not isinstance(value, dict) or "properties" not in schema:
            return
        known = {*schema["properties"], *_UNDOCUMENTED.get(name, ())}
        if "results" in value:
            known |= _OF_LISTS
            inner = schema["properties"]["results"]["items"]
            for entry in value["results"]:
                self._check_names(name, inner, entry)
        assert set(value) <= known, set(value) - known

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            part = schema["$ref"].rsplit("/", 1)[1]
            schema = self.document["components"]["schemas"][part]
        return schema


def is_table(response: httpx.Response) -> bool:
    """Whether the answer is a table as CSV."""
    return str(response.headers.get("content-type")).startswith("text/csv")


def response_of(content: bytes) -> object:
    """The JSON that was sent."""
    return httpx.Response(200, content=content).json()


@functools.cache
def documented() -> Documented | None:
    """The document, if it is here."""
    return Documented() if FILE.is_file() else None


def _schema(described: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = described["content"]["application/json"]["schema"]
    return schema


def _read() -> dict[str, Any]:
    with FILE.open(encoding="utf-8") as file:
        document: dict[str, Any] = _as_any(yaml.load(file, Loader=yaml.CSafeLoader))
    return document


def _as_any(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {
            "anyOf" if name == "oneOf" else name: _as_any(inner) for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_as_any(inner) for inner in value]
    return value
