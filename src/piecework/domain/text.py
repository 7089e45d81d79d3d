"""Text in messages and files: counts with nouns that agree, and the text of strangers.

One HIT, two HITs; an answer, a novel caption. A misspelt word gets a suggestion. Control
characters are shown as escapes, so that text is safe for a terminal; text that is not
UTF-8 is reported so that a person finds the place; and a character that an XML document
cannot carry unchanged is replaced.
"""

import json
import re
import shlex
import unicodedata
from bisect import bisect_left, bisect_right
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import accumulate

NOTHING = "–"  # noqa: RUF001 - an en dash is what a table shows for "no value"

_NOUNS = {
    "boundingBoxes": "box",
    "keypoints": "point",
    "polygons": "polygon",
    "polylines": "line",
    "lines": "line",
    "instances": "area",
    "entities": "span",
}
_VOWELS = "aeiou"
_HISSING = ("s", "x", "z", "ch", "sh")
_IRREGULAR = {"child": "children", "person": "people", "series": "series"}
_CONSONANT_FIRST = ("eu", "uni", "use", "one")
_SILENT_H = ("hour", "honest", "honour", "heir")


def count(number: float) -> str:
    """Format a whole number with thousands separators.

    >>> count(195905)
    '195,905'
    """
    return f"{int(number):,}"


def plural(number: float, noun: str, many: str = "") -> str:
    """Format a number with its noun.

    >>> plural(1, "worker"), plural(2, "worker"), plural(0, "HIT")
    ('1 worker', '2 workers', '0 HITs')
    >>> plural(2, "more", "more")
    '2 more'
    """
    return f"{count(number)} {noun if number == 1 else many or plural_of(noun)}"


def regions_in_words(text: str, part: str) -> str:
    r"""Return an answer of regions or spans in words; another text unchanged.

    Args:
        text: the answer, as crowd elements send it.
        part: the part of it that holds the regions, such as `boundingBoxes`.

    >>> regions_in_words('{"lines": [{"label": "b"}, {"label": "a"}, {"label": "a"}]}', "lines")
    '3 lines: a (2), b'
    >>> regions_in_words('{"entities": []}', "entities"), regions_in_words("?", "entities")
    ('no spans', '?')
    >>> regions_in_words('{"entities": [{"label": "\\ud83d"}]}', "entities")
    '1 span: ?'
    """
    # JSON may escape half of a character, which no page or file can hold.
    return _in_words(text, part).encode(errors="replace").decode()


def _in_words(text: str, part: str) -> str:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(document, dict):
        return text
    if part not in _NOUNS:
        part = "instances" if "instances" in document else "labelMappings"
    regions = document.get(part)
    if part == "labelMappings" and isinstance(regions, dict):
        return ": ".join(filter(None, ("mask", ", ".join(regions))))
    if not isinstance(regions, list):
        return text
    if not regions:
        return f"no {plural_of(_NOUNS[part])}"
    labels = Counter(
        str(region.get("label", "")) if isinstance(region, dict) else "" for region in regions
    )
    named = ", ".join(
        f"{label} ({times})" if times > 1 else label
        for label, times in sorted(labels.items())
        if label
    )
    return ": ".join(filter(None, (plural(len(regions), _NOUNS[part]), named)))


_LAST_OF_ONE_UNIT = "\uffff"


def spans_in_characters(
    text: str, spans: Iterable[tuple[float, float]]
) -> Iterator[tuple[int, int]]:
    """Yield spans that count UTF-16 units, as browsers do, as spans of characters.

    Half of a character becomes the whole. What lies beyond the text is cut off; a span with
    nothing left starts where it ends.

    >>> [*spans_in_characters("a😀b", [(0, 1), (1, 3), (2, 4), (3, 9), (8, 9)])]
    [(0, 1), (1, 2), (1, 3), (2, 3), (3, 3)]
    """
    units = [0, *accumulate(1 + (letter > _LAST_OF_ONE_UNIT) for letter in text)]
    for low, high in spans:
        start = max(bisect_right(units, low) - 1, 0)
        yield start, max(start, min(bisect_left(units, high), len(text)))


def plural_of(noun: str) -> str:
    """Return the plural of a noun of ours; names of fields are never nouns.

    >>> [plural_of(noun) for noun in ("HIT", "summary", "survey", "batch", "box")]
    ['HITs', 'summaries', 'surveys', 'batches', 'boxes']
    >>> [plural_of(noun) for noun in ("person", "analysis", "novel series")]
    ['people', 'analyses', 'novel series']
    """
    first, _, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        return f"{first} {_IRREGULAR[last]}".lstrip()
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_HISSING) else f"{noun}s"


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article, chosen by its first sound.

    >>> with_article("hour"), with_article("unit")
    ('an hour', 'a unit')

    >>> with_article("answer"), with_article("novel caption"), with_article("item")
    ('an answer', 'a novel caption', 'an item')
    """
    sound = noun.lower()
    is_vowel = sound[:1] in _VOWELS and not sound.startswith(_CONSONANT_FIRST)
    return f"{'an' if is_vowel or sound.startswith(_SILENT_H) else 'a'} {noun}"


def share(part: float, whole: float) -> str:
    """Format a percentage with one decimal; 0 and 100 appear only if exact.

    >>> share(1, 3), share(2999, 3000), share(1, 3000), share(-0.0, 5), share(1, 0)
    ('33.3 %', '>99.9 %', '<0.1 %', '0.0 %', '\u2013')
    """
    if not whole:
        return NOTHING
    percent = 100 * part / whole + 0.0  # turns a negative zero into 0.0
    if 0 < percent < 0.05:  # noqa: PLR2004 - half of the last decimal shown
        return "<0.1 %"
    if 99.95 <= percent < 100:  # noqa: PLR2004 - as above
        return ">99.9 %"
    return f"{percent:.1f} %"


def did_you_mean(word: str, known: Iterable[str], *, then: str = "") -> str:
    """Return the most similar known word as the end of a sentence, or "".

    Args:
        word: what was written.
        known: the words that are allowed.
        then: a clause that follows in any case, such as the list of them.

    >>> did_you_mean("asignments", ["assignments", "batches"])
    "; did you mean 'assignments'?"
    >>> did_you_mean("fields", ["fields"])
    ''
    >>> did_you_mean("zebra", ["assignments", "batches"])
    ''
    >>> did_you_mean("tex", ["text"], then="there is text")
    "; did you mean 'text'? There is text"
    """
    others = [other for other in known if other != word]
    alike = get_close_matches(word.lower(), others, n=1)
    if not alike:
        return f"; {then}" if then else ""
    return f"; did you mean {alike[0]!r}?" + (f" {then[0].upper()}{then[1:]}" if then else "")


_STEERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Control characters, format characters (including those that change the direction of
writing), surrogates, and line and paragraph separators."""


def shell_word(word: object) -> str:
    """Return a path or another text as a part of a command to copy: in quotes if it needs them.

    >>> shell_word("birds.toml"), shell_word("my birds.toml")
    ('birds.toml', "'my birds.toml'")
    """
    return shlex.quote(str(word))


def printable(text: str) -> str:
    r"""Return the text with control characters as escapes; line breaks stay.

    >>> printable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        _escaped(letter) if letter != "\n" and unicodedata.category(letter) in _STEERS else letter
        for letter in text
    )


_OPTIONS = """
access_key access_key_id access_token account_key api_key api_token app_key auth auth_key auth_token
authorization aws_access_key_id aws_secret_access_key aws_session_token bearer_token client_secret
code credential credentials hf_token id_token jwt key oauth_token pass passphrase passwd password
private_key private_token pwd refresh_token sas_token secret secret_access_key secret_key
security_token session_token shared_access_key shared_access_signature sig signature ssl_password
subscription_key token x_amz_credential x_amz_security_token x_amz_signature x_api_key
x_goog_credential x_goog_signature
"""
"""Names of options of an address that give access; a hyphen or nothing may be in place of `_`."""

_CLOSING = r"""["'>](?=[\s,;:.)\]}]|\Z)"""
"""Ends an address that is written in a sentence, a list or a document."""

_USER = re.compile(
    rf"(?P<web>https?)?://(?P<user>(?:(?!{_CLOSING})[^\s/?#])*@"
    # A database's password may have any sign; what is behind a port is a path.
    rf"|(?![^\s/?#:]*:(?:\d*|\$\{{\w+\}})(?:[/?#\s]|\Z))[^\s/?#:\[]*:(?:(?!://|{_CLOSING})\S)*@)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(rf"://(?:(?!{_CLOSING})\S)*")
_OPTION = re.compile(
    rf"(?<=[?&;#])(?P<name>(?:{'|'.join(_OPTIONS.split()).replace('_', '[-_.]?')})=)"
    r"(?P<value>(?:(?!;[\w.-]+=)[^&#])+)(?<![:,.)\]])",
    re.IGNORECASE,
)
_VARIABLES = re.compile(r"(?:\$\{\w+\})*")


def without_secrets(text: str, hidden: Callable[[], str] = lambda: "***") -> str:
    """Return a text that people or logs see, without the secrets of the addresses in it.

    Secrets are the password before a host, for `http` also the name, and the options that
    are known to give access. Variables alone stay. The time is linear.

    Args:
        text: any text; what is outside of addresses stays.
        hidden: what stands for a secret; called once for each.

    >>> without_secrets("postgresql://ann:pea@host/db and https://host/a?x=1&sig=4f")
    'postgresql://ann:***@host/db and https://host/a?x=1&sig=***'
    >>> without_secrets("s3://${KEY}:${SECRET}@host/a?token=${TOKEN}")
    's3://${KEY}:${SECRET}@host/a?token=${TOKEN}'
    """
    if "://" not in text:
        return text

    def of_user(address: re.Match[str]) -> str:
        name, colon, password = address["user"][:-1].partition(":")
        if is_open(password) and (is_open(name) or not address["web"]):
            return address[0]
        kept = "" if address["web"] else f"{name}{colon}"
        return f"{address['web'] or ''}://{kept}{hidden()}@"

    def of_option(option: re.Match[str]) -> str:
        return option[0] if is_open(option["value"]) else f"{option['name']}{hidden()}"

    def is_open(value: str) -> bool:
        return value == "***" or _VARIABLES.fullmatch(value) is not None

    return _ADDRESS.sub(
        lambda address: _OPTION.sub(of_option, address[0]), _USER.sub(of_user, text)
    )


def control_in(text: str) -> str:
    r"""Return the first control character of a text; "" if it has none.

    >>> control_in("birds\x1b.csv")
    '\x1b'
    """
    return next((letter for letter in text if unicodedata.category(letter) == "Cc"), "")


def one_line(text: str, *, at_most: int = 500) -> str:
    r"""Return the beginning of a stranger's text, printable and without line breaks.

    >>> one_line("no\n money ", at_most=5)
    'no mo…'
    """
    words = printable(" ".join(text.split()))
    return words if len(words) <= at_most else f"{words[:at_most]}…"


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


_SHOWN_BESIDE = 30
"""Characters shown on either side of the invalid byte."""


def not_utf8(fault: UnicodeDecodeError) -> str:
    r"""Describe the line that is not UTF-8, decoded in its likely encoding.

    For UTF-16 no line is named, because the whole file is not UTF-8.

    >>> try:
    ...     b"a,b\n1,caf\xe9\n".decode()
    ... except UnicodeDecodeError as fault:
    ...     not_utf8(fault)
    "line 2: is not UTF-8; as Latin-1 it reads '1,café'; save the file as UTF-8"
    """
    written = fault.object
    if written.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "is UTF-16; save the file as UTF-8 (spreadsheets: CSV UTF-8)"
    begin = written.rfind(b"\n", 0, fault.start) + 1
    number = written.count(b"\n", 0, fault.start) + 1
    # Windows-1252 has all letters of Latin-1, and more.
    before = written[begin : fault.start].decode("utf-8", errors="replace")
    rest = written[fault.start :].split(b"\n", 1)[0][:_SHOWN_BESIDE]
    shown = (before[-_SHOWN_BESIDE:] + rest.decode("cp1252", errors="replace")).strip()
    return (
        f"line {number}: is not UTF-8; as Latin-1 it reads {printable(shown)!r}; save "
        "the file as UTF-8"
    )


NOT_FOR_XML = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 does not allow, and the carriage return, which it changes."""


def with_newlines(text: str) -> str:
    r"""Replace the line ends of Windows and old Macs by "\n".

    >>> with_newlines("a\r\nb\rc\n")
    'a\nb\nc\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines_in(text: str) -> list[str]:
    r"""Return the lines of a file without their ends.

    Old Macs wrote no "\n" at all; beside one, a lone "\r" is a part of its line.

    >>> lines_in("a\r\nb"), lines_in("a\rb"), lines_in("a\rb\nc")
    (['a', 'b'], ['a', 'b'], ['a\rb', 'c'])
    """
    return text.replace("\r\n", "\n").split("\n" if "\n" in text else "\r")
