"""Patterns of strangers on texts of strangers: nobody else waits for them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.patterns import Format, Match, complaint_about, matched
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.workers import form_views
from tests.for_each import for_each
from tests.marketplace.documents import form, free_text, question
from tests.marketplace.market import Market, post

SLOW = "^(?:a|a|aa)+$"
LONG = "a" * 60 + "b"


def field(source: str, *, flags: str = "") -> str:
    """An answer that has to have a pattern."""
    return free_text(f'<AnswerFormatRegex regex="{source}"{flags}/>')


def test_nobody_waits_for_the_patterns_of_a_form(market: Market) -> None:
    """200 slow fields, sent by four workers at once: a requester is served meanwhile.

    With a tenth of a second for each field, and on the event loop, all others waited
    for twenty seconds a form.
    """
    keys = [f"q{n}" for n in range(200)]
    hostile = form("".join(question(key, field(SLOW)) for key in keys))
    eve = market.requester("EVE")
    made = post(eve, Question=hostile, MaxAssignments=4)
    workers = [market.worker() for _ in range(4)]
    taken = [worker.accept(made["HITGroupId"]).json()["assignment_id"] for worker in workers]
    honest = market.requester("HONEST")
    is_over = threading.Event()
    waits = []

    def call() -> None:
        while not is_over.is_set():
            begun = time.monotonic()
            honest.get_account_balance()
            waits.append(time.monotonic() - begun)

    with ThreadPoolExecutor(5) as pool:
        calls = pool.submit(call)
        sent = [
            pool.submit(worker.submit, assignment, **dict.fromkeys(keys, LONG))
            for worker, assignment in zip(workers, taken, strict=True)
        ]
        # A worker does not suffer for it: what is not known in time fits.
        assert [future.result().status_code for future in sent] == [200] * 4
        is_over.set()
        calls.result()
    # On the event loop, one call at most would come between two forms. How long each
    # waits depends on the machine.
    print(f"{max(waits):.3f} s at most, of {len(waits)} calls")  # noqa: T201 - measured
    assert len(waits) > 2 * len(sent)


def test_a_form_has_one_budget_for_all_its_patterns() -> None:
    """Fifty slow ones take the time of one; what was matched before it ended counts."""
    quick = Format(source="^b", ignores_case=False, complaint="")
    slow = Format(source=SLOW, ignores_case=False, complaint="")

    def seconds(count: int) -> float:
        matches: list[Match] = [(slow, LONG + str(n)) for n in range(count)]
        begun = time.process_time()
        verdicts = matched([(quick, "abc"), *matches])
        spent = time.process_time() - begun
        assert verdicts == {(quick, "abc"): False, **dict.fromkeys(matches, True)}
        return spent

    assert seconds(50) < 10 * seconds(1)


@for_each(
    ("source", "fitting", "others"),
    [
        ("^[0-9]{5}$", ["12345"], ["12345\n", "1234"]),
        ("(?:a$|b)", ["a", "b\n"], ["a\n"]),
        (r"^a\$[$]$", ["a$$"], ["a"]),
        (r"^\d+$", ["12"], ["\u0663", "\uff11"]),
        (r"^[^\d]$", ["a", "\u0663"], ["1"]),
        (r"^\D[\D]$", ["a\u0663"], ["a1", "1a"]),
        (r"^\w+$", ["a_1"], ["\u00e9", "\u4e2d", ""]),
        (r"^\W[\W]$", ["-\u00e9", "\u4e2d "], ["a-", "-_", "\u00e91"]),
        (r"^[\w-.]+$", ["a-b.c"], ["a/b"]),
        (r"^[.-\w]+$", ["a-b."], ["a/b"]),
        (r"^\\d$", [r"\d"], [r"\1"]),
        (r"\bart\b", ["art", "an art.", "\u00e9art"], ["_art", "arts"]),
        (r"a\Bb\B", ["abc"], ["ab"]),
        (r"^\B$", [""], ["a"]),
        (r"^[\b]$", ["\b"], ["b"]),
    ],
)
def test_a_pattern_fits_what_it_fits_in_javascript(
    source: str, fitting: list[str], others: list[str]
) -> None:
    """`RegExp.test` of a browser says the same of all of these."""
    rule = Format(source=source, ignores_case=False, complaint="")
    assert complaint_about(source) == ""
    assert [text for text in (*fitting, *others) if matched([(rule, text)])[rule, text]] == fitting


@for_each(
    ("fields", "reason"),
    [
        ([f"a{{{n}}}{'x' * 1000}" for n in range(4)], "4000 characters together"),
        (["x" * 1000] * 9, ""),  # the same one counts once
        (["(" * 900 + ")" * 900], "not a regular expression"),
        # The engine unrolls counts; of some of these it would take all memory.
        (["a{9999}"], ""),
        (["(?:a{9999}){9999}"], "10,000 characters together"),
        (["(?:a{0000000003000}){1000}"], "10,000 characters together"),
        (["(" * 20 + "a{500}" + ")+" * 20], "10,000 characters together"),
        (["(?:a{50}b+){100}", "(?:c{50}d+){100}"], "10,000 characters together"),
        # A border of words takes more characters than in JavaScript.
        ([r"(?:\ba){700}"], "10,000 characters together"),
        (["(?#[)(?:a{3000}){1000}]"], "no comments"),
        (["(?ix)#[\n(?:a{3000}){1000}#]"], "no comments"),
    ],
)
def test_the_patterns_of_a_form_are_bounded(fields: list[str], reason: str) -> None:
    """To read them takes time, too, and all others wait for it."""
    document = form("".join(question(f"q{n}", field(pattern)) for n, pattern in enumerate(fields)))
    if not reason:
        read_form(document)
        return
    with pytest.raises(Refusal, match=reason):
        read_form(document)


@for_each(
    ("source", "is_quick"),
    [
        ("\\S", True),
        ("^[12][0-9]{3}-[01]?\\d-[0-3]?\\d$", True),
        ("^[A-Za-z+*]+$", True),
        ("^\\d*$", True),
        ("a\\+b", True),
        (SLOW, False),
        ("^\\d+\\d+$", False),
        ("\\d+", False),  # tried anew at each place
        ("^(a+)+$", False),
        ("^a{2,}b*$", False),
        ("^a{500}a{500}$", False),
        ("^(.)\\1$", False),
        ("(?=a)", False),
        ("^[a-z&&[^b]]+$", False),
        ("^\\p{L}+$", False),
        ("a|b", False),
    ],
)
def test_a_page_gets_only_patterns_that_are_quick(source: str, *, is_quick: bool) -> None:
    """The browser's engine cannot be stopped; the server holds the others alone."""
    assert complaint_about(source) == ""
    answer = field(source.replace("&", "&amp;"))
    (asked,) = read_form(form(question("q", answer))).questions
    assert bool(form_views.pattern(asked.answer)) == is_quick  # type: ignore[arg-type] # a text
