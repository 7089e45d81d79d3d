"""The schema of QuestionForm, written by hand so that each rule has its own message.

2005-10-01 and 2017-11-06 differ only in retired parts (files as answers and embedded
applications), which are refused in both.

FormattedContent is a subset of XHTML, and its markup is never shown as it was sent. Only
listed tags, attributes and addresses are allowed, and everything else is a fault, so it
cannot contain a script, style or frame.
"""

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from html.entities import name2codepoint

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms import reading
from piecework.marketplace.forms.form import (
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
from piecework.marketplace.forms.reading import SCHEMAS, Children, Node, fault, parse

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
    key = reading.word_of(children.required("QuestionIdentifier"))
    name = children.optional("DisplayName")
    required = children.optional("IsRequired")
    content = _content(children.required("QuestionContent"))
    answer = _answer(children.required("AnswerSpecification"))
    children.end()
    is_required = required is not None and reading.boolean_of(required)
    if isinstance(answer, FreeText) and answer.shortest > 0:
        is_required = True  # the service's own rule for minLength
    return Question(
        key=key,
        name="" if name is None else reading.text_of(name).strip(),
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
        return Title(reading.text_of(node))
    if node.name == "Text":
        return Text(reading.text_of(node))
    if node.name == "FormattedContent":
        return Formatted(to_markup(node, reading.text_of(node)))
    if node.name == "List":
        children = Children(node)
        items = children.many("ListItem", least=1)
        children.end()
        return Bullets(tuple(reading.text_of(item) for item in items))
    return _medium(node)


def _medium(node: Node) -> Medium:
    children = Children(node)
    is_embedded = node.name == "EmbeddedBinary"
    mime = Children(children.required("EmbeddedMimeType" if is_embedded else "MimeType"))
    kind = reading.choice_of(mime.required("Type"), _KINDS)
    mime.optional("SubType")
    mime.end()
    address = children.required("DataURL")
    url = reading.word_of(address, longest=2000)
    if not _ADDRESS.fullmatch(url):
        raise fault(address, "DataURL must be an http or https address.")
    alt = reading.text_of(children.required("AltText")).strip()
    width = height = ""
    if is_embedded:
        width, height = (_pixels(children.required(side)) for side in ("Width", "Height"))
        _parameters(children)
    children.end()
    return Medium(kind=kind, url=url, alt=alt, width=width, height=height)  # type: ignore[arg-type] # one of _KINDS


def _pixels(node: Node) -> str:
    match = re.fullmatch(r"([0-9]{1,5})(px)?", reading.text_of(node).strip())
    return match[1] if match else ""


def _parameters(children: Children) -> None:
    """Check, but do not use, parameters of plug-ins that browsers no longer run."""
    for parameter in children.many("ApplicationParameter"):
        inside = Children(parameter)
        reading.text_of(inside.required("Name"))
        reading.text_of(inside.required("Value"))
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
        default="" if default is None else reading.text_of(default),
        lines=1 if lines is None else _lines(lines),
    )


def _lines(node: Node) -> int:
    return min(reading.integer_of(node, least=1), _MOST_LINES)


def _range(
    node: Node | None, low: str, high: str, *, least: int | None = None
) -> tuple[int | None, int | None]:
    if node is None:
        return None, None
    reading.check_empty(node, attributes=(low, high))
    lower = reading.integer_attribute(node, low, least=least)
    upper = reading.integer_attribute(node, high, least=None if least is None else least + 1)
    if lower is not None and upper is not None and lower > upper:
        raise fault(node, f"{low} is above {high}.")
    return lower, upper


def _format(node: Node) -> Format:
    attributes = reading.check_empty(node, attributes=("regex", "errorText", "flags"))
    if not 0 < len(attributes.get("regex", "")) <= _LONGEST_PATTERN:
        raise fault(node, f"regex must have 1 to {_LONGEST_PATTERN} characters.")
    if attributes.get("flags", "") not in ("", "i"):
        raise fault(node, "flags must be i, or be left out.")
    return Format(
        source=attributes["regex"],
        ignores_case=attributes.get("flags") == "i",
        complaint=attributes.get("errorText", ""),
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
    least = 1 if low is None else reading.integer_of(low, least=0)
    most = 1 if high is None else reading.integer_of(high, least=1)
    if least > min(most, len(selections) + (other is not None)):
        raise fault(node, "MinSelectionCount is more than can be selected.")
    if len({selection.key for selection in selections}) < len(selections):
        raise fault(node, "two Selections have the same SelectionIdentifier.")
    return Choice(
        least=least,
        most=most,
        style=None if style is None else reading.choice_of(style, _STYLES),  # type: ignore[arg-type] # one of _STYLES
        selections=selections,
        other=None if other is None else _free_text(other),
    )


def _selection(node: Node) -> Selection:
    children = Children(node)
    key = reading.word_of(children.required("SelectionIdentifier"))
    shown = children.required("Text", "FormattedContent", "Binary")
    children.end()
    content = _piece(shown)
    if isinstance(content, Title | Bullets):
        raise fault(shown, f"{shown.name} is not a Selection.")
    return Selection(key=key, content=content)


XHTML = "http://www.w3.org/1999/xhtml"

_CELLS = (
    "abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width"
)
_COLUMNS = "align char charoff span valign width"
_ROWS = "align char charoff valign"
_TAGS: dict[str, str] = {
    "a": "accesskey charset coords href hreflang name rel rev shape tabindex target type",
    "area": "alt coords href nohref shape target",
    **dict.fromkeys(("b", "big", "br", "center", "cite", "code", "dd", "dl"), ""),
    **dict.fromkeys(("dt", "em", "i", "small", "strong", "sub", "sup", "u"), ""),
    **dict.fromkeys(("blockquote", "q"), "cite"),
    **dict.fromkeys(("col", "colgroup"), _COLUMNS),
    **dict.fromkeys(("del", "ins"), "cite datetime"),
    "font": "color face size",
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "p"), "align"),
    "hr": "align noshade size width",
    "img": "align alt border height hspace ismap longdesc src usemap vspace width",
    "li": "type value",
    "map": "name",
    "ol": "compact start type",
    "pre": "width",
    "table": "align bgcolor border cellpadding cellspacing frame rules summary width",
    **dict.fromkeys(("tbody", "tfoot", "thead"), _ROWS),
    **dict.fromkeys(("td", "th"), _CELLS),
    "tr": "align bgcolor char charoff valign",
    "ul": "compact type",
}
"""Each tag in the service's table with its attributes, and `dt`, which it omits."""

_EVERYWHERE = {"title", "dir", "lang"}
_NEEDED = {"area": ("alt",), "img": ("alt", "src"), "map": ("name",)}
_VOID = {"area", "br", "col", "hr", "img"}
_ADDRESSES = {"href", "src", "cite", "longdesc"}
_SAFE_ADDRESS = re.compile(
    r"(https?|ftp|news|nntp|gopher|telnet)://[^\s\"'<>\\`]+|mailto:[^\s\"'<>\\`]+", re.IGNORECASE
)
_PICTURE = re.compile(r"https?://[^\s\"'<>\\`]+", re.IGNORECASE)
_LOCAL = re.compile(r"#[\w.-]+", re.ASCII)
_DROPPED = {"accesskey", "tabindex", "target", "rel", "rev", "longdesc"}
"""Allowed but dropped: they would move a worker's focus or window."""

_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XMLS_OWN = {"amp", "lt", "gt", "quot"}
_LOWERED = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}
"""A block's headings are below those of the page and of the form."""


def to_markup(block: Node, text: str) -> str:
    """Return the safe markup of a FormattedContent's text.

    Args:
        block: the element, for the position of complaints.
        text: the text in its CDATA.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    document = f'<FormattedContent xmlns="{XHTML}">{_without_names(text)}</FormattedContent>'
    try:
        root = parse(document, what="FormattedContent", comments=False)
        return "".join(_inside(root))
    except Refusal as refusal:
        complaint = refusal.message.rpartition("Details: ")[2]
        raise fault(block, f"in FormattedContent, {complaint}") from refusal


def _without_names(text: str) -> str:
    """Replace named entities such as `&nbsp;`, which XML does not define."""

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name in _XMLS_OWN or name not in name2codepoint:
            return match[0]
        return f"&#{name2codepoint[name]};"

    return _NAMED.sub(number, text)


def _inside(node: Node) -> Iterator[str]:
    for part in node.content:
        if isinstance(part, str):
            yield html.escape(part, quote=False)
        else:
            yield from _element(part)


def _element(node: Node) -> Iterator[str]:
    if node.namespace != XHTML or node.name not in _TAGS:
        raise fault(node, f"<{node.name[:20]}> is not allowed.")
    for name in _NEEDED.get(node.name, ()):
        if name not in node.attributes:
            raise fault(node, f"<{node.name}> needs the attribute {name}.")
    tag = _LOWERED.get(node.name, node.name)
    yield f"<{tag}{''.join(_attributes(node))}>"
    if node.name in _VOID:
        if node.content:
            raise fault(node, f"<{node.name}> must be empty.")
        return
    yield from _inside(node)
    yield f"</{tag}>"


def _attributes(node: Node) -> Iterator[str]:
    allowed = _EVERYWHERE | set(_TAGS[node.name].split())
    for name, value in node.attributes.items():
        if name not in allowed:
            raise fault(node, f"<{node.name}> has no attribute {name[:20]!a}.")
        if name in _ADDRESSES:
            _check_address(node, name, value)
        if name == "usemap" and not _LOCAL.fullmatch(value):
            raise fault(node, "usemap names a map of the same block.")
        if name not in _DROPPED:
            yield f' {name}="{html.escape(value)}"'
    if node.name in ("a", "area") and "href" in node.attributes:
        yield ' target="_blank" rel="noopener noreferrer"'


def _check_address(node: Node, name: str, value: str) -> None:
    if name == "src":
        is_right = _PICTURE.fullmatch(value)
    else:
        is_right = _SAFE_ADDRESS.fullmatch(value) or _LOCAL.fullmatch(value)
    if not is_right:
        raise fault(node, f"{name} of <{node.name}> must be a web address.")
