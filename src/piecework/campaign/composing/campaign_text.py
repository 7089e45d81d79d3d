"""The text of a campaign file, with comments where a person has a choice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from piecework.domain.money import Currency, cents_to_wire, shown
from piecework.domain.toml_text import toml_line
from piecework.domain.verdicts import PolicyRule

_COMMENTS_AT = 32
"""Column in which comments begin after shorter settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The contents of the file; paths as the file names them, money in cents.

    Attributes:
        has_title: the task or page itself has a title for the HIT.
        expected_cents: what the campaign is expected to cost.
        is_caption: workers describe pictures.
        left_out: heuristics of the usual rules that can flag nothing here.
    """

    file_name: str
    name: str
    description: str
    named: str
    hosts: tuple[str, ...]
    items_file: str
    pictures: str
    columns: Mapping[str, str]
    title: str
    has_title: bool
    assignments: int
    batches: int
    items_per_hit: int
    minutes: Decimal
    wage_cents: int
    reward_cents: int
    currency: Currency
    is_caption: bool
    expected_cents: int = 0
    policy: Sequence[PolicyRule] = field(default_factory=tuple)
    left_out: Sequence[str] = ()


def campaign_text(statement: Statement, *, budget_cents: int) -> str:
    """Return the text of the file; it ends with a line break."""
    parts = (
        [*_head(statement), *_money_and_answers(statement, budget_cents)],
        _page(statement),
        _items_table(statement),
        _posting(statement),
        _REQUIREMENTS,
        _decisions(statement),
        _DATASET,
        _rehearsal(statement),
    )
    return "\n".join("\n".join(part) + "\n" for part in map(list, parts) if part)


def _head(statement: Statement) -> Iterator[str]:
    yield "# A campaign of piecework. Every path is relative to this file;"
    yield "# docs/reference/campaign-file.md explains each key. Try it with:"
    yield f"#   piecework check {statement.file_name}"
    yield f"#   piecework preview {statement.file_name}"
    yield f"#   piecework rehearse {statement.file_name}"
    yield ""
    yield _line("name", statement.name, "names HITs, folder and pseudonyms")
    yield "# The purpose of the collection, repeated in report and dataset:"
    yield _line("description", statement.description)
    yield _line("task", statement.named, "what workers are asked")
    if not statement.columns:
        yield from _items(statement)


def _page(statement: Statement) -> Iterator[str]:
    if statement.hosts:
        yield "[page]"
        yield "# The operators of these hosts can read what workers type into the page."
        yield _line("hosts", list(statement.hosts))


def _items(statement: Statement) -> Iterator[str]:
    if statement.items_file:
        yield _line("items", statement.items_file)
    elif statement.pictures:
        yield _line("items", statement.pictures, "one item for each picture")
    if statement.items_file and statement.pictures:
        yield _line("pictures", statement.pictures, "served by the marketplace")


def _items_table(statement: Statement) -> Iterator[str]:
    if not statement.columns:
        return
    yield "[items]"
    yield _line("file", statement.items_file)
    yield _line("columns", statement.columns, "task's column = file's column")
    if statement.pictures:
        yield _line("pictures", statement.pictures, "served by the marketplace")


def _posting(statement: Statement) -> Iterator[str]:
    yield "[posting]"
    yield _line("items_per_hit", statement.items_per_hit)
    yield _line("max_rounds", 3, "how often missing answers are posted again")
    if statement.title:
        yield _line("title", statement.title, "what workers read in the list")
    elif not statement.has_title:
        yield _commented('# title = "..."', "what workers read in the list: fill it in")


def _money_and_answers(statement: Statement, budget_cents: int) -> Iterator[str]:
    yield _line("answers", statement.assignments, "accepted answers for each item")
    yield _line("batches", statement.batches, "bad workers of one are kept out of the next")
    wage, expected = (
        shown(cents, statement.currency)
        for cents in (statement.wage_cents, statement.expected_cents)
    )
    if statement.currency != "USD":
        yield _line("currency", statement.currency)
    yield _line(
        "reward", _money(statement.reward_cents), f"per HIT: {statement.minutes} min at {wage}/h"
    )
    yield _commented(f"minutes = {statement.minutes}", "per HIT; better from a pilot")
    yield _line("hourly_wage", _money(statement.wage_cents), "slower workers get a bonus")
    yield "# Rewards, bonuses and fees together; a call that would exceed it is not"
    yield f"# made. `piecework check` expects {expected}; this leaves some room:"
    yield _line("budget", _money(budget_cents))


def _decisions(statement: Statement) -> Iterator[str]:
    yield "# Heuristics flag answers and workers (docs/reference/heuristics.md)."
    yield "# Work without a flag is kept and paid. The rules propose what to do with"
    yield "# the rest; in a rehearsal they decide. The first rule that fits applies."
    yield '# Dropped work is paid, unless a rule on = "assignment" has then = "reject":'
    yield "# warn workers of that."
    yield "[decisions]"
    yield _line("by", "person", '"policy" applies the rules without asking')
    if statement.left_out:
        listed = ", ".join(statement.left_out)
        yield f"# Too few items or answers here for these heuristics: {listed}."
    for rule in statement.policy:
        yield ""
        yield "[[decisions.rule]]"
        yield _line("on", rule.subject_kind)
        yield _line("any_of", list(rule.any_of))
        if rule.at_least > 1:
            yield _line("at_least", rule.at_least, "of them together")
        if rule.share:
            yield _line("share", rule.share, "of the worker's answers")
        yield _line("then", rule.then)
        yield _line("because", rule.because)


_REQUIREMENTS = (
    "# Who may work, in MTurk's terms; without this, all workers may.",
    "# [requirements]",
    "# approved_hits_above = 100",
    "# approval_rate_at_least = 95",
    '# countries = ["US"]',
    "# workers = 12                   # how many there are, if that is known",
)

_DATASET = (
    "# To publish, fill in what only you know. `piecework check` lists missing keys.",
    "[dataset]",
    '# title = "..."',
    '# licence = "CC-BY-4.0"          # for the answers',
    '# items_licence = "CC-BY-4.0"    # for the items; often chosen by someone else',
    '# contact = "Name <name@example.org>"',
    '# citation = "..."',
    '# consent = "..."                # what workers were told and agreed to',
    '# ethics = "..."                 # ethics review, risks, who might be harmed',
)


def _rehearsal(statement: Statement) -> Iterator[str]:
    yield "[rehearsal]"
    yield _line("seed", 1, "the same seed gives the same rehearsal")
    if statement.is_caption:
        yield "# Simulated workers write random captions, not about your pictures. With"
        yield "# captions that people wrote (image_id, caption) they submit those:"
        yield '# replay = "captions.csv"'


def _line(key: str, value: object, comment: str = "") -> str:
    return _commented(toml_line(key, value), comment)


def _commented(text: str, comment: str) -> str:
    return f"{text:<{_COMMENTS_AT}} # {comment}" if comment else text


def _money(cents: int) -> str:
    return cents_to_wire(cents)
