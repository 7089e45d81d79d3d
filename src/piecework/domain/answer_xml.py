"""The answer document of an assignment (QuestionFormAnswers, 2005-10-01) as fields.

A worker's text may be hostile: entities and external references are refused. A document
that cannot be read gives no fields instead of an error, because the raw text is kept.
"""

from collections.abc import Mapping
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

_NAMESPACE = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2005-10-01/QuestionFormAnswers.xsd}"
)


def fields_of(document: str) -> Mapping[str, str]:
    """Return form fields by name; several selections or answers are joined by `|`."""
    try:
        root = fromstring(document)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root.iter(f"{_NAMESPACE}Answer"):
        name = answer.findtext(f"{_NAMESPACE}QuestionIdentifier")
        if name is None:
            continue
        free_text = answer.findtext(f"{_NAMESPACE}FreeText")
        chosen = [
            selection.text or "" for selection in answer.iter(f"{_NAMESPACE}SelectionIdentifier")
        ]
        other = answer.findtext(f"{_NAMESPACE}OtherSelectionText")
        chosen += [other] if other else []
        text = "|".join(chosen) if free_text is None else free_text
        fields[name] = f"{fields[name]}|{text}" if name in fields else text
    return fields
