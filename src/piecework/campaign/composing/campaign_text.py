"""A campaign file as text, with a comment wherever a person has a choice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from piecework.domain.money import Currency, cents_to_wire, shown
from piecework.domain.toml_text import toml_line
from piecework.domain.verdicts import PolicyRule

_COMMENTS_AT = 32
"""Column in which comments begin, where what they are about is shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is written down; paths as the file names them, money in cents.

    Attributes:
        key: `task` or `question`, whichever `named` is.
        has_title: the task or page says itself what the HIT is called.
        expected_cents: what the campaign is expected to cost.
        is_caption: workers describe pictures.
    """

    file_name: str
    name: str
    description: str
    key: str
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


def campaign_text(statement: Statement, *, budget_cents: int) -> str:
    """The text of the file; it ends with a line break."""
    parts = (
        _head(statement),
        _page(statement),
        _items(statement),
        _posting(statement),
        _rewards(statement, budget_cents),
        _REQUIREMENTS,
        _decisions(statement),
        _DATASET,
        _rehearsal(statement),
    )
    return "\n".join("\n".join(part) + "\n" for part in map(list, parts) if part)


def _head(statement: Statement) -> Iterator[str]:
    yield "# Paths are relative to this file. All keys: docs/reference/campaign-file.md"
    yield f"# key. Try it with:  piecework check {statement.file_name}"
    yield f"#                    piecework preview {statement.file_name}"
    yield f"#                    piecework rehearse {statement.file_name}"
    yield ""
    yield _line("name", statement.name, "names HITs, folder and pseudonyms")
    yield "# What the collection is for; report and dataset repeat it:"
    yield _line("description", statement.description)
    yield _line(statement.key, statement.named, "what workers are asked")


def _page(statement: Statement) -> Iterator[str]:
    if statement.hosts:
        yield "[page]"
        yield "# Whoever runs these hosts can read what workers type into the page."
        yield _line("hosts", list(statement.hosts))


def _items(statement: Statement) -> Iterator[str]:
    yield "[items]"
    if statement.items_file:
        yield _line("file", statement.items_file)
    if statement.columns:
        yield _line("columns", statement.columns, "task's name = the file's")
    if statement.pictures:
        why = "served by the marketplace" if statement.items_file else "each is an item"
        yield _line("pictures", statement.pictures, why)


def _posting(statement: Statement) -> Iterator[str]:
    yield "[posting]"
    yield _line(
        "batches", statement.batches, "who answers badly in one is kept out later"
    )
    yield _line("assignments", statement.assignments, "accepted answers for each item")
    yield _line("items_per_hit", statement.items_per_hit)
    yield _line("max_rounds", 3, "how often what is missing is posted again")
    if statement.title:
        yield _line("title", statement.title, "what workers read in the list")
    elif not statement.has_title:
        yield _commented('# title = "..."', "what workers read in the list: say it")


def _rewards(statement: Statement, budget_cents: int) -> Iterator[str]:
    wage, expected = (
        shown(cents, statement.currency)
        for cents in (statement.wage_cents, statement.expected_cents)
    )
    yield "[rewards]"
    if statement.currency != "USD":
        yield _line("currency", statement.currency)
    yield _line(
        "reward",
        _money(statement.reward_cents),
        f"of a HIT: {statement.minutes} min at {wage}/h",
    )
    yield _commented(
        f"expected_minutes = {statement.minutes}", "of a HIT; a pilot knows better"
    )
    yield _line(
        "wage_floor_per_hour",
        _money(statement.wage_cents),
        "who is slower gets a bonus",
    )
    yield "# Rewards, bonuses and fees together; the call that would pass it is not"
    yield f"# made. `piecework check` expects {expected}; this leaves some room:"
    yield _line("budget", _money(budget_cents))


def _decisions(statement: Statement) -> Iterator[str]:
    yield "# Heuristics flag answers and workers (docs/reference/heuristics.md)."
    yield "# piecework keeps and pays work without a flag. For flagged work the first"
    yield "# rule that matches proposes what to do; a rehearsal does it. piecework pays"
    yield '# for dropped work, but not where a rule on = "assignment" says'
    yield '# then = "reject". Tell workers if you reject work.'
    yield "[decisions]"
    yield _line("by", "person", '"policy" does what the rules say without asking')
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
    "# Who may work, in MTurk's terms; everybody without it.",
    "# [requirements]",
    "# approved_hits_above = 100",
    "# approval_rate_at_least = 95",
    '# countries = ["US"]',
    "# workers = 12                   # how many there are, where that is known",
)

_DATASET = (
    "# For publishing: what only you can say. `piecework check` names what is missing.",
    "[dataset]",
    '# title = "..."',
    '# licence = "CC-BY-4.0"          # of the answers',
    '# items_licence = "CC-BY-4.0"    # of the items; often somebody else\'s',
    '# contact = "Name <name@example.org>"',
    '# citation = "..."',
    '# consent = "..."                # what workers were told and agreed to',
    '# ethics = "..."                 # review, risks, who might be harmed',
)


def _rehearsal(statement: Statement) -> Iterator[str]:
    yield "[rehearsal]"
    yield _line("seed", 1, "the same seed gives the same rehearsal")
    if statement.is_caption:
        yield "# What simulated workers write is drawn, and not about your pictures."
        yield "# With captions that people wrote (image_id, caption) they send those:"
        yield '# replay = "captions.csv"'


def _line(key: str, value: object, comment: str = "") -> str:
    return _commented(toml_line(key, value), comment)


def _commented(text: str, comment: str) -> str:
    return f"{text:<{_COMMENTS_AT}} # {comment}" if comment else text


def _money(cents: int) -> str:
    return cents_to_wire(cents)
