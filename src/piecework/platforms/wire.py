"""Translate between MTurk's structures and piecework's, with the HTMLQuestion of a page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from piecework.domain.assignment import Assignment, fields_of
from piecework.domain.crowds import market_of_type
from piecework.domain.errors import ConfigError, PlatformRefused
from piecework.domain.hit import MTURK, QualificationRequirement, Recruiting, WorkerLimit
from piecework.domain.ids import AssignmentId, HitId, HitTypeId, WorkerId
from piecework.domain.marks import Meeting, is_mark
from piecework.domain.money import (
    CURRENCIES,
    Bonus,
    Compensation,
    CrowdPrices,
    Currency,
    FeeSchedule,
    OutsidePrice,
    PriceList,
    cents_from_wire,
)
from piecework.domain.text import NOT_FOR_XML
from piecework.platforms.endpoint import LiveSite

if TYPE_CHECKING:
    from mypy_boto3_mturk.type_defs import (
        AssignmentTypeDef,
        BonusPaymentTypeDef,
        QualificationRequirementUnionTypeDef,
    )

_MOST_PERCENT = 1000


def requirement_to_wire(
    requirement: QualificationRequirement,
) -> "QualificationRequirementUnionTypeDef":
    """Return a requirement for a HIT type; most also hide the HIT."""
    wire: QualificationRequirementUnionTypeDef = {
        "QualificationTypeId": requirement.qualification_type_id,
        "Comparator": requirement.comparator,
        # Workers who may not accept a HIT should not see it.
        "ActionsGuarded": ("Accept" if requirement.lets_look else "DiscoverPreviewAndAccept"),
    }
    if requirement.integer_values:
        wire["IntegerValues"] = list(requirement.integer_values)
    if requirement.locales:
        wire["LocaleValues"] = [
            {"Country": country, "Subdivision": subdivision}
            if subdivision
            else {"Country": country}
            for country, _, subdivision in (locale.partition("-") for locale in requirement.locales)
        ]
    return wire


def market_of_requirements(wire: Iterable[Mapping[str, Any]]) -> str:
    """Return the market that a HIT's requirements name; "" if they name none."""
    named = (
        market_of_type(each["QualificationTypeId"])
        for each in wire
        if each["Comparator"] == "Exists"
    )
    return next(filter(None, named), "")


_NO_LIMIT = 1_000_000


def limit_to_wire(limit: WorkerLimit) -> dict[str, object]:
    """Return a limit for each worker (docs/reference/marketplace.md)."""
    most = _NO_LIMIT if limit.most is None else limit.most
    return {"Name": limit.name, "Most": most, "IsOfBatch": limit.is_of_batch}


def recruiting_to_wire(recruiting: Recruiting) -> dict[str, object]:
    """Return whom to recruit at Prolific (docs/reference/marketplace.md)."""
    return {
        "Only": list(recruiting.only),
        "Not": list(recruiting.never),
        "Shares": {
            share.type_id: {str(choice): percent for choice, percent in share.percent}
            for share in recruiting.shares
        },
    }


def assignment_from_wire(wire: "AssignmentTypeDef") -> Assignment:
    """Return an assignment as it was submitted, with its answer document verbatim."""
    raw, auto_approved_at = wire.get("Answer", ""), wire.get("AutoApprovalTime")
    return Assignment(
        assignment_id=AssignmentId(wire["AssignmentId"]),
        hit_id=HitId(wire["HITId"]),
        worker_id=WorkerId(wire["WorkerId"]),
        status=wire["AssignmentStatus"],
        accepted_at=wire["AcceptTime"].astimezone(UTC),
        submitted_at=wire["SubmitTime"].astimezone(UTC),
        auto_approved_at=auto_approved_at and auto_approved_at.astimezone(UTC),
        raw=raw,
        fields=fields_of(raw),
    )


def bonus_from_wire(wire: "BonusPaymentTypeDef") -> Bonus:
    """Return a bonus as it was paid."""
    return Bonus(
        assignment_id=AssignmentId(wire["AssignmentId"]),
        worker_id=WorkerId(wire["WorkerId"]),
        cents=cents_from_wire(wire["BonusAmount"]),
        reason=wire.get("Reason", ""),
    )


def compensations_from_wire(wire: object) -> list[Compensation]:
    """Return bonuses without an assignment (docs/reference/marketplace.md).

    Raises:
        ValueError: the reply has another form.
    """
    if not isinstance(wire, list):
        raise ValueError(f"not compensations: {str(wire)[:200]}")  # noqa: TRY004 - JSON
    try:
        return [
            Compensation(
                name=str(each["Name"]),
                worker_id=WorkerId(str(each["WorkerId"])),
                cents=cents_from_wire(each["BonusAmount"]),
                reason=str(each["Reason"]),
            )
            for each in wire
        ]
    except (KeyError, TypeError) as fault:
        raise ValueError(f"not compensations: {str(wire)[:200]}") from fault


def objections_from_wire(wire: object) -> list[tuple[AssignmentId, str]]:
    """Return assignments and what workers wrote about their rejections.

    Raises:
        ValueError: the reply has another form.
    """
    if not isinstance(wire, list):
        raise ValueError(f"not objections: {str(wire)[:200]}")  # noqa: TRY004 - JSON
    try:
        return [(AssignmentId(str(each["AssignmentId"])), str(each["Text"])) for each in wire]
    except (KeyError, TypeError) as fault:
        raise ValueError(f"not objections: {str(wire)[:200]}") from fault


def prices_from_wire(wire: Mapping[str, object]) -> PriceList:
    """Return the price list of our marketplace (docs/reference/marketplace.md).

    Raises:
        PlatformRefused: its currency is unknown.
        ValueError: it is not a price list.
    """
    try:
        terms = _crowd_prices(wire, market="")
        outside = tuple(map(_outside_price, _list(wire.get("OutsidePrices"))))
        crowds = tuple(
            _crowd_prices(each, market=str(each["Crowd"])) for each in _list(wire.get("Crowds"))
        )
    except (KeyError, TypeError, ArithmeticError) as fault:
        raise ValueError(f"not a price list: {str(wire)[:200]}") from fault
    return PriceList(
        currency=terms.currency,
        fees=terms.fees,
        least_per_hour_cents=terms.least_per_hour_cents,
        longest_approval_seconds=terms.longest_approval_seconds,
        outside=outside,
        crowds=crowds,
    )


def _crowd_prices(wire: Mapping[str, object], *, market: str) -> CrowdPrices:
    """Return the members that the marketplace and each of its crowds state alike."""
    prices = CrowdPrices(
        market=market,
        currency=_currency(wire["Currency"]),
        fees=FeeSchedule(
            percent=_percent(wire["Percent"]),
            extra_percent_for_many=_percent(wire["ExtraPercentForMany"]),
            masters_percent=_percent(wire["ExtraPercentForMasters"]),
            minimum_cents=int(str(wire["MinimumInCents"])),
            source="the marketplace's own price list",
        ),
        least_per_hour_cents=int(str(wire.get("LeastPerHourInCents", 0))),
        longest_approval_seconds=int(str(wire.get("LongestAutoApprovalInSeconds", 0))),
    )
    if (
        min(prices.fees.minimum_cents, prices.least_per_hour_cents, prices.longest_approval_seconds)
        < 0
    ):
        raise ValueError(f"a negative amount: {str(wire)[:200]}")
    return prices


def _currency(code: object) -> Currency:
    for currency in CURRENCIES:
        if code == currency:
            return currency
    raise PlatformRefused(
        f"the marketplace's currency is {str(code)[:20]!a}; piecework supports "
        f"{' and '.join(CURRENCIES)}",
        code="UnknownCurrency",
        kind="other",
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _outside_price(wire: Any) -> OutsidePrice:  # noqa: ANN401 - JSON
    return OutsidePrice(
        hit_type_id=HitTypeId(str(wire["HITTypeId"])),
        cents=int(str(wire["Cents"])),
        unsettled=int(str(wire["Unsettled"])),
        paid_rejections=tuple(
            AssignmentId(str(each)) for each in _list(wire.get("PaidRejections"))
        ),
    )


def live_site_from_wire(wire: Mapping[str, object]) -> LiveSite:
    """Return where real workers work; empty for a rehearsal.

    Raises:
        ValueError: the reply has another form.
    """
    url, is_rehearsal = wire.get("URL"), wire.get("IsRehearsal")
    if not (isinstance(url, str) and isinstance(is_rehearsal, bool)):
        raise ValueError(f"not a site: {str(wire)[:200]}")  # noqa: TRY004 - a value
    return LiveSite("" if is_rehearsal else url, recruits=wire.get("Recruits") is True)


def addresses_from_wire(wire: object, number: int) -> list[str]:
    """Return where pictures are shown, as our marketplace says it.

    Raises:
        ValueError: the reply has another form.
    """
    addresses = [each for each in _list(wire) if isinstance(each, str)]
    if len(addresses) != number:
        raise ValueError(f"not {number} addresses: {str(wire)[:200]}")
    return addresses


def meeting_from_wire(wire: Mapping[str, object]) -> Meeting:
    """Return what our marketplace says of marks (docs/reference/marketplace.md).

    Raises:
        ValueError: the reply has another form.
    """
    account, has_seen = wire.get("Account"), wire.get("HasSeen")
    store_mark = wire.get("Store") or ""
    if (
        not (isinstance(account, str) and is_mark(account))
        or not isinstance(has_seen, bool)
        or not (isinstance(store_mark, str) and (not store_mark or is_mark(store_mark)))
    ):
        raise ValueError(f"not marks: {str(wire)[:200]}")
    return Meeting(account=account, has_seen=has_seen, store_mark=store_mark)


def _percent(text: object) -> Decimal:
    percent = Decimal(str(text))
    if not percent.is_finite() or not 0 <= percent <= _MOST_PERCENT:
        raise ValueError(f"{percent} is not a percentage from 0 to {_MOST_PERCENT}")
    return percent


LARGEST_PAGE_BYTES = 900_000
"""Of a requester's own page: the marketplace stores its texts once, in one request."""

_ENVELOPE_BYTES = 512
_AGAIN = "]]><![CDATA["
NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQuestion:
    """A question that is too long to be sent whole with each HIT.

    Attributes:
        texts: stored once by the marketplace; HITs of a page share them.
        values: between the texts, one fewer.
    """

    texts: tuple[str, ...]
    values: tuple[str, ...]


def page_question(texts: Sequence[str], values: Sequence[str]) -> str | SharedQuestion:
    """Return a page as an HTMLQuestion; in its parts if it is too long to be whole.

    Args:
        texts: the page's own texts, the same for each item.
        values: between the texts, one fewer.

    Raises:
        ConfigError: it has characters that XML does not allow, or is too long.
    """
    parts = [texts[0]]
    for value, text in zip(values, texts[1:], strict=True):
        parts += [value, text]
    whole = "".join(parts)
    if question_bytes(whole) <= MTURK.question_bytes - _ENVELOPE_BYTES:
        return html_question(whole)
    _check_characters(whole)
    size, most = question_bytes(whole), LARGEST_PAGE_BYTES + MTURK.question_bytes
    of_item = sum(map(question_bytes, values))
    if size > most or of_item > MTURK.question_bytes:
        raise ConfigError(
            [
                (
                    f"the page has {size:,} bytes, {of_item:,} of them from its item; "
                    f"at most {most:,} and {MTURK.question_bytes:,} are allowed"
                )
            ]
        )
    before, after = _envelope(0)
    inside = [*map(_in_cdata, texts)]
    inside[0], inside[-1] = f"{before}{inside[0]}", f"{inside[-1]}{after}"
    # Each value has its own CDATA, so that "]]" before it and ">" in it end nothing.
    between = (f"{_AGAIN}{_in_cdata(value)}{_AGAIN}" for value in values)
    return SharedQuestion(texts=tuple(inside), values=tuple(between))


def html_question(html: str, frame_height: int = 0) -> str:
    """Return the page as MTurk's HTMLQuestion.

    Args:
        html: a complete HTML document.
        frame_height: height of the iframe in pixels; 0 fits the window.

    Raises:
        ConfigError: it has characters that XML does not allow, or is too long.
    """
    _check_characters(html)
    question = _in_cdata(html).join(_envelope(frame_height))
    size, most = question_bytes(question), MTURK.question_bytes
    if size > most:
        raise ConfigError([f"the question has {size:,} bytes; at most {most:,} are allowed"])
    return question


def question_bytes(question: str | SharedQuestion) -> int:
    """Return the length of a question for MTurk, in bytes of UTF-8."""
    if isinstance(question, SharedQuestion):
        return sum(map(question_bytes, (*question.texts, *question.values)))
    return len(question.encode())


def _envelope(frame_height: int) -> tuple[str, str]:
    return (
        f'<HTMLQuestion xmlns="{NAMESPACE}">\n<HTMLContent><![CDATA[',
        (f"]]></HTMLContent>\n<FrameHeight>{frame_height:d}</FrameHeight>\n</HTMLQuestion>"),
    )


def _in_cdata(text: str) -> str:
    return text.replace("]]>", "]]]]><![CDATA[>")


def _check_characters(html: str) -> None:
    forbidden = NOT_FOR_XML.search(html)
    if forbidden:
        line = html.count("\n", 0, forbidden.start()) + 1
        fault = f"the page contains the character {forbidden[0]!r} in line {line}"
        raise ConfigError([f"{fault}, which is not allowed in XML"])
