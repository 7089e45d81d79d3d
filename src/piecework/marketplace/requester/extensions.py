"""This marketplace's extensions of the requester API, recruiting among them.

Clients can ignore them. Every reply names the extensions in a header; without the
header, a client is talking to another marketplace. An extension is one more member of
an operation's request, with an action that the operation then also does, or does
instead. Recruiting states whom another market shall send for a HIT type, beyond its
requirements: lists of participants whom alone it may send, or may not send, and how the
visits are divided among the choices of its filters.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from piecework.marketplace.exceptions import invalid_parameters, request_error
from piecework.marketplace.requester import assignments, hit_types, hits, questions, wire, workers
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.state import (
    clock,
    lineage,
    outside_crowd,
    qualification_types,
    transaction,
    worker_limits,
)
from piecework.marketplace.state.transaction import Transaction

_MEMBERS = {"Only", "Not", "Shares"}
_PARTICIPANT = re.compile(r"[0-9a-f]{24}")
_MOST_PARTICIPANTS = 5000
_WHOLE = 100


def check_recruiting(member: str, value: object) -> Members:
    """Return whom to recruit, or refuse the value."""
    if not isinstance(value, dict) or set(value) != _MEMBERS:
        raise invalid_parameters(f"{member} must have Only, Not and Shares.")
    for name in ("Only", "Not"):
        if not _is_list(value[name]):
            raise invalid_parameters(
                f"{member}.{name} must be a list of at most {_MOST_PARTICIPANTS} "
                "ids of participants."
            )
    if both := set(value["Only"]) & set(value["Not"]):
        raise invalid_parameters(f"{member}: {min(both)} is in both lists.")
    if not isinstance(value["Shares"], dict) or not all(map(_adds_up, value["Shares"].values())):
        raise invalid_parameters(
            f"{member}.Shares must have, for each qualification type, numbers of "
            "choices with whole percentages that add up to 100."
        )
    return value


def keep_recruiting(transaction: Transaction, hit_type_id: str, asked: Members) -> None:
    """State whom to recruit for a HIT type.

    Raises:
        Refusal: no other market sends workers here, or a filter is not offered.
    """
    offered = qualification_types.markets_of_types(transaction)
    if not offered:
        raise request_error(
            "NoOutsideCrowd",
            "No participants of another market come here; the marketplace was not "
            "started with --crowd prolific.",
        )
    if unknown := sorted(set(asked["Shares"]) - offered.keys()):
        raise request_error(
            "QualificationTypeDoesNotExist", f"QualificationType {unknown[0]} does not exist."
        )
    transaction.execute(
        "UPDATE hit_types SET recruiting = ? WHERE hit_type_id = ?", json.dumps(asked), hit_type_id
    )


def _is_list(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MOST_PARTICIPANTS
        and all(isinstance(each, str) and _PARTICIPANT.fullmatch(each) for each in value)
    )


def _adds_up(shares: object) -> bool:
    return (
        isinstance(shares, dict)
        and all(isinstance(each, str) and each.isdecimal() for each in shares)
        and all(
            isinstance(percent, int) and not isinstance(percent, bool) and percent > 0
            for percent in shares.values()
        )
        and sum(shares.values()) == _WHOLE
    )


HEADERS = {
    "x-piecework-extensions": "keep-apart list-together prices expected-seconds marks "
    "site worker-limits compensation recruiting question-texts pictures objections"
}
MARKS = "PieceworkMarks"
STORE_HEADER = "x-piecework-store"
"""In a request: the name of a requester's store and its mark, with a space between."""
_LONGEST_STORE = 200
_LONGEST_NAME = 200
_LONGEST_PATH = 1000
_MOST_LIMITS = 10
_PAGE = 100
_MOST_TOGETHER = 1000
_YEAR_SECONDS = 31_536_000


def store_of(header: str | None) -> tuple[str, str] | None:
    """Name and mark of the store that a request comes from; `None` if not stated."""
    name, _, mark = (header or "").rpartition(" ")
    is_named = 0 < len(name) <= _LONGEST_STORE and lineage.is_mark(mark)
    return (name, mark) if is_named else None


_Action = Callable[[Call, Any, Members], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extension:
    """One more member of an operation's request.

    Attributes:
        member: the member's name.
        check: checks and returns the value that was sent, or refuses it.
        add: acts on the value after the operation itself, and may add members to the
            reply.
        instead: acts on the value in place of the operation.
        before: returns the members that the operation gets because of the value.
        spared: required members that the request then does not need.
    """

    member: str
    check: Callable[[str, object], Any]
    add: _Action | None = None
    instead: Callable[[Call, Any], Members] | None = None
    before: Callable[[Members, Any], Members] | None = None
    spared: tuple[str, ...] = ()


def split_extensions(operation: str, document: object) -> tuple[object, Members]:
    """Split a request into the plain request and its extensions, by member.

    Raises:
        Refusal: an extension's value is invalid.
    """
    if not isinstance(document, dict):
        return document, {}
    rest, asked = dict(document), {}
    for extension in _EXTENSIONS.get(operation, ()):
        if extension.member in rest:
            sent = rest.pop(extension.member)
            if not wire.is_text(sent):
                raise invalid_parameters(f"{extension.member} {wire.NOT_TEXT}.")
            value = extension.check(extension.member, sent)
            if value:
                asked[extension.member] = value
    return rest, asked


def spared_members(operation: str, asked: Members) -> set[str]:
    """Return the required members that a request with these extensions may lack."""
    return {
        member
        for extension in _EXTENSIONS.get(operation, ())
        if extension.member in asked
        for member in extension.spared
    }


def perform_extended(perform: Callable[[Call], Members], call: Call, asked: Members) -> Members:
    """Do an operation (`perform`) and its extensions in one transaction.

    Raises:
        Refusal: the operation refuses, or a HIT is unknown or another requester's.
    """
    extensions = _EXTENSIONS.get(call.operation, ())
    for extension in extensions:
        if extension.instead is not None and extension.member in asked:
            return extension.instead(call, asked[extension.member])
    members = call.members
    for extension in extensions:
        if extension.before is not None and extension.member in asked:
            members = extension.before(members, asked[extension.member])
    reply = perform(replace(call, members=members))
    for extension in extensions:
        if extension.add is not None and extension.member in asked:
            extension.add(call, asked[extension.member], reply)
    return reply


def _hit_ids(member: str, value: object, *, most: int) -> list[str]:
    is_list = isinstance(value, list) and all(isinstance(hit_id, str) for hit_id in value)
    if not is_list or not isinstance(value, list) or len(value) > most:
        raise invalid_parameters(f"{member} must be a list of at most {most} HITIds.")
    return value


def _yes_or_no(member: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise invalid_parameters(f"{member} must be true or false.")
    return value


def _seconds(member: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid_parameters(f"{member} must be a whole number of seconds.")
    return hit_types.in_range(member, value, low=1, high=_YEAR_SECONDS)


def _limits(member: str, value: object) -> list[Members]:
    if not isinstance(value, list) or len(value) > _MOST_LIMITS:
        raise invalid_parameters(f"{member} must be a list of at most {_MOST_LIMITS} limits.")
    limits = [_checked_limit(member, limit) for limit in value]
    if len({limit["Name"] for limit in limits}) < len(limits):
        raise invalid_parameters(f"{member} must not have two limits of one Name.")
    return sorted(limits, key=lambda limit: str(limit["Name"]))


def _checked_limit(member: str, value: object) -> Members:
    is_limit = (
        isinstance(value, dict)
        and set(value) == {"Name", "Most", "IsOfBatch"}
        and isinstance(value["Name"], str)
        and 0 < len(value["Name"]) <= _LONGEST_NAME
        and isinstance(value["Most"], int)
        and not isinstance(value["Most"], bool)
        and isinstance(value["IsOfBatch"], bool)
    )
    if not is_limit or not isinstance(value, dict):
        raise invalid_parameters(
            f"{member} must have Name, a text of at most {_LONGEST_NAME} characters, "
            "Most, a whole number, and IsOfBatch, true or false."
        )
    hit_types.in_range(f"{member}.Most", value["Most"], low=1, high=worker_limits.NO_LIMIT)
    return value


def _keep_apart(call: Call, hit_ids: list[str], reply: Members) -> None:
    ids = dict.fromkeys((reply["HIT"]["HITId"], *hit_ids))
    made, *others = (hits.find_hit(call, hit_id)["id"] for hit_id in ids)
    worker_limits.keep_apart(call.transaction, made, others)


def _list_together(call: Call, hit_ids: list[str], reply: Members) -> None:
    listed = list(reply["Assignments"])
    for hit_id in dict.fromkeys(hit_ids):
        if hit_id == call.members["HITId"]:
            continue
        other = call.members | {"HITId": hit_id, "MaxResults": _PAGE}
        page = assignments.list_assignments_for_hit(replace(call, members=other))
        listed += page["Assignments"]
        if len(listed) > _MOST_TOGETHER:
            raise invalid_parameters(
                f"These HITs have more than {_MOST_TOGETHER} assignments; list fewer HITs together."
            )
    reply["Assignments"], reply["NumResults"] = listed, len(listed)


def _tell_prices(call: Call, _asked: object, reply: Members) -> None:
    prices: Members = dict(call.transaction.prices.members())
    if outside := outside_crowd.list_outside_prices(call.transaction, call.requester):
        rejected = outside_crowd.list_paid_rejections(call.transaction, call.requester)
        prices["OutsidePrices"] = [
            {
                "HITTypeId": row["hit_type_id"],
                "Cents": row["cents"],
                "Unsettled": row["unsettled"],
                "PaidRejections": rejected.get(row["hit_type_id"], []),
            }
            for row in outside
        ]
    if markets := outside_crowd.served(call.transaction):
        prices["Crowds"] = [
            {
                "Crowd": market.name,
                "QualificationTypeId": qualification_types.crowd_id(market.name),
                **market.prices.members(),
            }
            for market in markets
        ]
    reply["PieceworkPrices"] = prices


def _tell_site(call: Call, _asked: object, reply: Members) -> None:
    reply["PieceworkSite"] = {
        "URL": transaction.site_address(call.transaction),
        "IsRehearsal": clock.virtual_ms(call.transaction.conn) is not None,
        "Recruits": transaction.is_recruiting(call.transaction),
    }


def _names_of_pictures(member: str, value: object) -> list[str]:
    is_list = isinstance(value, list) and len(value) <= _PAGE
    if not (
        is_list
        and isinstance(value, list)
        and all(isinstance(name, str) and 0 < len(name) <= _LONGEST_PATH for name in value)
    ):
        raise invalid_parameters(
            f"{member} must be a list of at most {_PAGE} names of pictures, each of at most "
            f"{_LONGEST_PATH} characters."
        )
    return list(value)


def _tell_pictures(call: Call, names: list[str], reply: Members) -> None:
    """Tell where the workers' browsers load pictures, as the requester's pages name them."""
    reply["PieceworkPictures"] = [call.shown_at(call.requester, name) for name in names]


def _after(member: str, value: object) -> Members:
    is_page = isinstance(value, dict) and set(value) == {"After"}
    if not (
        is_page
        and isinstance(value, dict)
        and isinstance(value["After"], str)
        and len(value["After"]) <= _LONGEST_NAME
    ):
        raise invalid_parameters(
            f"{member} must have After, a text of at most {_LONGEST_NAME} characters."
        )
    return value


def _store_and_seen(member: str, value: object) -> Members:
    is_asked = (
        isinstance(value, dict)
        and set(value) == {"Store", "Seen"}
        and isinstance(value["Store"], str)
        and 0 < len(value["Store"]) <= _LONGEST_STORE
        and (value["Seen"] is None or lineage.is_mark(value["Seen"]))
    )
    if not is_asked or not isinstance(value, dict):
        raise invalid_parameters(
            f"{member} must have Store, a name of at most {_LONGEST_STORE} "
            "characters, and Seen, a mark or null."
        )
    return value


def _compare_marks(call: Call, asked: Members, reply: Members) -> None:
    seen = asked["Seen"]
    reply[MARKS] = {
        "Account": lineage.account(call.transaction, call.requester),
        "HasSeen": seen is None or lineage.has(call.transaction, seen),
        "Store": lineage.store_mark(call.transaction, call.requester, asked["Store"]),
    }


def _expect(call: Call, seconds: int, reply: Members) -> None:
    call.transaction.execute(
        "UPDATE hit_types SET expected_seconds = ? WHERE hit_type_id = ? AND requester = ?",
        seconds,
        reply["HITTypeId"],
        call.requester,
    )


def _of_type(member: str, check: Callable[[str, object], Any], add: _Action) -> _Extension:
    """Return an extension whose value is one of the values of a HIT type."""
    return _Extension(
        member=member,
        check=check,
        before=lambda members, value: {**members, member: value},
        add=add,
    )


def _limit(call: Call, limits: list[Members], reply: Members) -> None:
    row = hit_types.find_hit_type(call, reply["HITTypeId"])
    worker_limits.keep_limits(
        call.transaction,
        row["id"],
        ((limit["Name"], limit["Most"], limit["IsOfBatch"]) for limit in limits),
    )


def _recruit(call: Call, asked: Members, reply: Members) -> None:
    keep_recruiting(call.transaction, reply["HITTypeId"], asked)


def _with_texts(members: Members, digest: str) -> Members:
    return members | {questions.TEXTS_MEMBER: digest}


def _keep_texts(call: Call, texts: list[str], reply: Members) -> None:
    digest = questions.keep_texts(call.transaction, texts)
    reply[questions.TEXTS_MEMBER] = {"Digest": digest}


_KEEP_APART = _Extension(
    member="PieceworkKeepApart", check=partial(_hit_ids, most=1000), add=_keep_apart
)
_QUESTION_TEXTS = _Extension(
    member=questions.TEXTS_MEMBER, check=questions.check_digest, before=_with_texts
)
_EXTENSIONS: dict[str, tuple[_Extension, ...]] = {
    "CreateHIT": (_KEEP_APART, _QUESTION_TEXTS),
    "CreateHITWithHITType": (_KEEP_APART, _QUESTION_TEXTS),
    "CreateHITType": (
        _of_type(hit_types.EXPECTED_SECONDS, _seconds, _expect),
        _of_type(hit_types.WORKER_LIMITS, _limits, _limit),
        _of_type(hit_types.RECRUITING, check_recruiting, _recruit),
    ),
    "ListAssignmentsForHIT": (
        _Extension(
            member="PieceworkListTogether", check=partial(_hit_ids, most=100), add=_list_together
        ),
    ),
    "GetAccountBalance": (
        _Extension(member="PieceworkPrices", check=_yes_or_no, add=_tell_prices),
        _Extension(member="PieceworkSite", check=_yes_or_no, add=_tell_site),
        _Extension(member="PieceworkPictures", check=_names_of_pictures, add=_tell_pictures),
        _Extension(member=MARKS, check=_store_and_seen, add=_compare_marks),
        _Extension(member=questions.TEXTS_MEMBER, check=questions.check_texts, add=_keep_texts),
        _Extension(
            member="PieceworkCompensations",
            check=workers.check_compensation_page,
            add=workers.list_compensations,
        ),
        _Extension(member="PieceworkObjections", check=_after, add=assignments.list_objections),
    ),
    "SendBonus": (
        _Extension(
            member="PieceworkCompensation",
            check=workers.check_compensation_name,
            instead=workers.send_compensation,
            spared=("AssignmentId",),
        ),
    ),
}
"""HITs that exclude each other for a worker; the expected time of a HIT type, how many
HITs of its kind a worker may do, and whom another market sends; HITs listed together
with the first; bonuses without an assignment; and, with the balances, the price list,
the address of the workers' site, those of pictures, the marks by which store and
marketplace recognise each other (`state.lineage`), the compensations paid so far, and what
workers wrote about rejections."""
