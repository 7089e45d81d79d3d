"""The schema of QuestionForm, written by hand so that each rule has its own message.

2005-10-01 and 2017-11-06 differ only in retired parts (files as answers and embedded
applications), which are refused in both.
"""

import re
from functools import lru_cache

from piecework.marketplace.forms import cursor
from piecework.marketplace.forms.cursor import Children
from piecework.marketplace.forms.formatted import to_markup
from piecework.marketplace.forms.model import (
    OTHER,
    Bullets,
    Choice,
    Content,
    Form,
    Formatted,
    FreeText,
    Medium,
    Overview,
    Question,
    Selection,
    Text,
    Title,
)
from piecework.marketplace.forms.patterns import MOST_UNROLLED, Format, complaint_about, unrolled
from piecework.marketplace.forms.reading import SCHEMAS, Node, fault, parse

NAMESPACES = tuple(f"{SCHEMAS}{date}/QuestionForm.xsd" for date in ("2005-10-01", "2017-11-06"))

RESERVED = ("assignmentId", "hitId", "workerId", "turkSubmitTo")
"""Names of the page's own fields."""

_CONTENT = ("Title", "Text", "List", "Binary", "EmbeddedBinary", "FormattedContent")
_STYLES = ("radiobutton", "checkbox", "list", "dropdown", "combobox", "multichooser")
_KINDS = ("image", "audio", "video")
_RETIRED = ("Application", "FileUploadAnswer")
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\`]+", re.IGNORECASE)
_LONGEST_PATTERN = 2000
_MOST_OF_PATTERNS = 4000
"""The most characters of a form's different patterns together. Compiling takes about
twenty microseconds per character, and all other calls wait."""
_MOST_LINES = 100


@lru_cache(maxsize=64)
def read_form(text: str) -> Form:
    """Read a QuestionForm document.

    Raises:
        Refusal: `ParameterValidationError` with the position and the complaint.
    """
    root = parse(text, what="A QuestionForm")
    if root.name != "QuestionForm" or root.namespace not in NAMESPACES:
        raise fault(
            root,
            "the root element must be QuestionForm in the namespace of 2005-10-01 or "
            f"2017-11-06 (found {root.name[:60]}).",
        )
    children = Children(root)
    parts = tuple(_part(node) for node in children.many("Overview", "Question"))
    children.end()
    if not any(isinstance(part, Question) for part in parts):
        raise fault(root, "QuestionForm must hold a Question.")
    _check_names(root, parts)
    _check_patterns(root, parts)
    return Form(parts=parts)


def _part(node: Node) -> Overview | Question:
    if node.name == "Overview":
        return Overview(content=_content(node))
    children = Children(node)
    key = cursor.word_of(children.required("QuestionIdentifier"))
    name = children.optional("DisplayName")
    required = children.optional("IsRequired")
    content = _content(children.required("QuestionContent"))
    answer = _answer(children.required("AnswerSpecification"))
    children.end()
    is_required = required is not None and cursor.boolean_of(required)
    if isinstance(answer, FreeText) and answer.shortest > 0:
        is_required = True  # the service's own rule for minLength
    return Question(
        key=key,
        name="" if name is None else cursor.text_of(name).strip(),
        is_required=is_required,
        content=content,
        answer=answer,
    )


def _check_names(root: Node, parts: tuple[Overview | Question, ...]) -> None:
    taken = set(RESERVED)
    for question in parts:
        if isinstance(question, Overview):
            continue
        if question.key in taken or question.key.endswith(OTHER):
            raise fault(root, f"QuestionIdentifier {question.key[:60]!a} is taken or reserved.")
        taken.add(question.key)


def _check_patterns(root: Node, parts: tuple[Overview | Question, ...]) -> None:
    fields = [
        part.answer.other if isinstance(part.answer, Choice) else part.answer
        for part in parts
        if isinstance(part, Question)
    ]
    rules = [rule for field in fields if field is not None for rule in field.formats]
    total = sum(map(len, {rule.source for rule in rules}))
    if total > _MOST_OF_PATTERNS:
        raise fault(
            root,
            f"a form's AnswerFormatRegex patterns may have {_MOST_OF_PATTERNS} "
            f"characters together; these have {total}.",
        )
    if sum(map(unrolled, {rule.source for rule in rules})) > MOST_UNROLLED:
        raise fault(
            root,
            "with their counts unrolled, a form's AnswerFormatRegex patterns may "
            f"have {MOST_UNROLLED:,} characters together.",
        )
    for source in {rule.source: None for rule in rules}:
        if complaint := complaint_about(source):
            raise fault(root, f"regex is not a regular expression: {complaint}.")


def _content(node: Node) -> tuple[Content, ...]:
    children = Children(node)
    _refuse_retired(node)
    pieces = tuple(_piece(child) for child in children.many(*_CONTENT, least=1))
    children.end()
    return pieces


def _refuse_retired(node: Node) -> None:
    for child in node.children:
        if child.name in _RETIRED:
            raise fault(
                child,
                f"{child.name} was retired on 2017-12-12; ask in an HTMLQuestion or an "
                "ExternalQuestion instead.",
            )


def _piece(node: Node) -> Content:
    if node.name == "Title":
        return Title(cursor.text_of(node))
    if node.name == "Text":
        return Text(cursor.text_of(node))
    if node.name == "FormattedContent":
        return Formatted(to_markup(node, cursor.text_of(node)))
    if node.name == "List":
        children = Children(node)
        items = children.many("ListItem", least=1)
        children.end()
        return Bullets(tuple(cursor.text_of(item) for item in items))
    return _medium(node)


def _medium(node: Node) -> Medium:
    children = Children(node)
    is_embedded = node.name == "EmbeddedBinary"
    mime = Children(children.required("EmbeddedMimeType" if is_embedded else "MimeType"))
    kind = cursor.choice_of(mime.required("Type"), _KINDS)
    mime.optional("SubType")
    mime.end()
    address = children.required("DataURL")
    url = cursor.word_of(address, longest=2000)
    if not _ADDRESS.fullmatch(url):
        raise fault(address, "DataURL must be an http or https address.")
    alt = cursor.text_of(children.required("AltText")).strip()
    width = height = ""
    if is_embedded:
        width, height = (_pixels(children.required(side)) for side in ("Width", "Height"))
        _parameters(children)
    children.end()
    return Medium(kind=kind, url=url, alt=alt, width=width, height=height)  # type: ignore[arg-type] # one of _KINDS


def _pixels(node: Node) -> str:
    match = re.fullmatch(r"([0-9]{1,5})(px)?", cursor.text_of(node).strip())
    return match[1] if match else ""


def _parameters(children: Children) -> None:
    """Check, but do not use, parameters of plug-ins that browsers no longer run."""
    for parameter in children.many("ApplicationParameter"):
        inside = Children(parameter)
        cursor.text_of(inside.required("Name"))
        cursor.text_of(inside.required("Value"))
        inside.end()


def _answer(node: Node) -> FreeText | Choice:
    _refuse_retired(node)
    children = Children(node)
    answer = children.required("FreeTextAnswer", "SelectionAnswer")
    children.end()
    return _free_text(answer) if answer.name == "FreeTextAnswer" else _choice(answer)


def _free_text(node: Node) -> FreeText:
    children = Children(node)
    constraints = children.optional("Constraints")
    default = children.optional("DefaultText")
    lines = children.optional("NumberOfLinesSuggestion")
    children.end()
    numeric = length = None
    formats: list[Node] = []
    if constraints is not None:
        inside = Children(constraints)
        numeric, length = inside.optional("IsNumeric"), inside.optional("Length")
        formats = inside.many("AnswerFormatRegex")
        inside.end()
    least, most = _range(numeric, "minValue", "maxValue")
    shortest, longest = _range(length, "minLength", "maxLength", least=0)
    return FreeText(
        is_numeric=numeric is not None,
        least=least,
        most=most,
        shortest=shortest or 0,
        longest=longest,
        formats=tuple(map(_format, formats)),
        default="" if default is None else cursor.text_of(default),
        lines=1 if lines is None else _lines(lines),
    )


def _lines(node: Node) -> int:
    return min(cursor.integer_of(node, least=1), _MOST_LINES)


def _range(
    node: Node | None, low: str, high: str, *, least: int | None = None
) -> tuple[int | None, int | None]:
    if node is None:
        return None, None
    cursor.empty(node, attributes=(low, high))
    lower = cursor.integer_attribute(node, low, least=least)
    upper = cursor.integer_attribute(node, high, least=None if least is None else least + 1)
    if lower is not None and upper is not None and lower > upper:
        raise fault(node, f"{low} is above {high}.")
    return lower, upper


def _format(node: Node) -> Format:
    attributes = cursor.empty(node, attributes=("regex", "errorText", "flags"))
    if not 0 < len(attributes.get("regex", "")) <= _LONGEST_PATTERN:
        raise fault(node, f"regex must have 1 to {_LONGEST_PATTERN} characters.")
    if attributes.get("flags", "") not in ("", "i"):
        raise fault(node, "flags must be i, or be left out.")
    return Format(
        source=attributes["regex"],
        ignores_case=attributes.get("flags") == "i",
        complaint=attributes.get("errorText") or "Invalid input supplied.",
    )


def _choice(node: Node) -> Choice:
    children = Children(node)
    low = children.optional("MinSelectionCount")
    high = children.optional("MaxSelectionCount")
    style = children.optional("StyleSuggestion")
    inside = Children(children.required("Selections"))
    children.end()
    selections = tuple(_selection(child) for child in inside.many("Selection", least=1))
    other = inside.optional("OtherSelection")
    inside.end()
    least = 1 if low is None else cursor.integer_of(low, least=0)
    most = 1 if high is None else cursor.integer_of(high, least=1)
    if least > min(most, len(selections) + (other is not None)):
        raise fault(node, "MinSelectionCount is more than can be selected.")
    if len({selection.key for selection in selections}) < len(selections):
        raise fault(node, "two Selections have the same SelectionIdentifier.")
    return Choice(
        least=least,
        most=most,
        style=None if style is None else cursor.choice_of(style, _STYLES),  # type: ignore[arg-type] # one of _STYLES
        selections=selections,
        other=None if other is None else _free_text(other),
    )


def _selection(node: Node) -> Selection:
    children = Children(node)
    key = cursor.word_of(children.required("SelectionIdentifier"))
    shown = children.required("Text", "FormattedContent", "Binary")
    children.end()
    content = _piece(shown)
    if isinstance(content, Title | Bullets):
        raise fault(shown, f"{shown.name} is not a Selection.")
    return Selection(key=key, content=content)
