"""Tests of qualification types: a form, how long it may take, perhaps a key."""

from typing import Any

from marketplace.exceptions import invalid_parameters
from marketplace.forms.answer_key import check_against
from marketplace.forms.schema import read_form
from marketplace.requester import hit_types
from marketplace.state.transaction import Transaction

_YEAR_SECONDS = 31_536_000
_WITH_TEST = ("AnswerKey", "TestDurationInSeconds")

Given = dict[str, Any]


def keep(transaction: Transaction, given: Given) -> int | None:
    """The row id of the test that a request brings; None if it brings none.

    Form, key and duration are one thing: whoever changes one sends all.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if "Test" not in given:
        for name in _WITH_TEST:
            if name in given:
                raise invalid_parameters(f"{name} needs Test in the same request.")
        return None
    if "TestDurationInSeconds" not in given:
        raise invalid_parameters("Test needs TestDurationInSeconds.")
    duration = hit_types.in_range(
        "TestDurationInSeconds",
        given["TestDurationInSeconds"],
        low=1,
        high=_YEAR_SECONDS,
    )
    form = read_form(given["Test"])
    if "AnswerKey" in given:
        check_against(given["AnswerKey"], form)
    return transaction.execute(
        "INSERT INTO tests (form, answer_key, duration_seconds) VALUES (?, ?, ?)",
        given["Test"],
        given.get("AnswerKey"),
        duration,
    )


def check_no_automatic_grant(*, has_test: bool, auto_granted: bool) -> None:
    """A type is granted to whoever asks, or after a test; never both.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if has_test and auto_granted:
        raise invalid_parameters("A type with a Test cannot be AutoGranted.")
