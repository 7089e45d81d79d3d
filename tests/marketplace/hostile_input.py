"""Values, documents and paths that strangers try (`hostile_requests` sends them)."""

from typing import Any

from tests.marketplace.market import QUESTION, SCHEMAS

HOSTILE_TEXTS = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\udfff\ud800",
    "\u202egnirts\u202c",
    "\ufeff\u200b\u2060",
    "\ufffe\uffff",
    "e" + "\u0301" * 400,
    "\U0001d54f" * 3000,
    "'; DROP TABLE hits; --",
    '"><script>alert(1)</script>',
    "]]><x/>",
    "../../etc/passwd",
    "%00%0d%0a",
    "\r\nX-Injected: 1",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "9" * 400,
    "NaN",
]
HOSTILE_VALUES: list[Any] = [
    *HOSTILE_TEXTS,
    None,
    True,
    -1,
    0,
    1.5,
    2**31,
    2**63,
    10**300,
    -(10**20),
    1e308,
    [],
    {},
    [[]],
    [None],
    {"": ""},
    {"a": {"b": [{}]}},
]
EXTERNAL, FORM, KEY = (
    f"{SCHEMAS}/{name}.xsd"
    for name in ("2006-07-14/ExternalQuestion", "2017-11-06/QuestionForm", "2005-10-01/AnswerKey")
)
_BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x"}">' for n in range(9))
HOSTILE_XML = [
    f"<!DOCTYPE x [{_BOMB}]>{QUESTION.replace('0</F', '&e8;</F')}",
    f'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>{QUESTION}',
    f'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">{QUESTION}',
    f'<?xml version="1.0" encoding="UTF-7"?>{QUESTION}',
    QUESTION[:-5],
    QUESTION.replace("<![CDATA[", "").replace("]]>", ""),
    QUESTION.replace("2011-11-11", "1999-01-01"),
    "<a>" * 20_000,
    (
        f'<ExternalQuestion xmlns="{EXTERNAL}"><ExternalURL>javascript:alert(1)'
        "</ExternalURL><FrameHeight>1</FrameHeight></ExternalQuestion>"
    ),
    f'<QuestionForm xmlns="{FORM}"><Question/></QuestionForm>',
    (
        f'<QuestionForm xmlns="{FORM}"><Overview><FormattedContent><![CDATA[<script>'
        "alert(1)</script>]]></FormattedContent></Overview></QuestionForm>"
    ),
    f'<AnswerKey xmlns="{KEY}"/>',
]
PATHS = [
    "/",
    "/worker/hits",
    "/worker/hits?search={}&sort={}",
    "/worker/history?page={}",
    "/worker/qualifications",
    "/worker/qualifications/{}/request",
    "/worker/qualifications/{}/test",
    "/worker/sign-in?token={}",
    "/worker/sign-in?invitation={}",
    "/worker/sign-out",
    "/worker/groups/{}/preview?hit_id={}",
    "/worker/groups/{}/accept",
    "/worker/assignments/{}",
    "/worker/assignments/{}/time",
    "/worker/assignments/{}/return",
    "/worker/assignments/{}/thanks",
    "/worker/static/{}",
    "/worker/thanks",
    "/mturk/externalSubmit",
    "/mturk/externalSubmit?assignmentId={}&a={}",
    "/rehearsal/{}",
    "/frames/{}",
    "/pictures/{}",
    "/stand-ins/{}",
    "/{}",
]
TRICKS = [
    "x",
    "..",
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/market.db",
    "..\\..\\x",
    "%00",
    "a%00.css",
    "%ff%fe",
    "%F0%9F%90%A6",
    "%E2%80%AE",
    "//evil.example/",
    "a" * 3000,
    ";a=b",
    "%25252e",
]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"]
ORIGINS = ["https://evil.example", "null", "", "http://127.0.0.1", "\xff"]
