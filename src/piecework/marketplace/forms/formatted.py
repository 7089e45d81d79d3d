"""FormattedContent: checks and rewrites the subset of XHTML that forms may use.

The markup that was sent is never shown itself. Only listed tags, attributes and
addresses are allowed, and everything else is a fault, so it cannot contain a script,
style or frame.
"""

import html
import re
from collections.abc import Iterator
from html.entities import name2codepoint

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.reading import Node, fault, parse

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
_ADDRESS = re.compile(
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
        is_right = _ADDRESS.fullmatch(value) or _LOCAL.fullmatch(value)
    if not is_right:
        raise fault(node, f"{name} of <{node.name}> must be a web address.")
