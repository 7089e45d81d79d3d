"""Refusals: the marketplace's answers when it does not do what was asked.

The requester API and the worker site deliberately raise only these; any other exception
is a bug. Raising one always rolls back its transaction.
"""

TURK = "AWS.MechanicalTurk."
"""Prefix of every TurkErrorCode."""


class Refusal(Exception):  # noqa: N818 - a refusal, not a fault
    """The marketplace understood the request and refuses it; nothing has changed.

    Attributes:
        kind: AWS's `__type` on the requester's side, a short code on the worker's.
        message: a sentence for the caller.
        turk_code: the TurkErrorCode without its prefix, where AWS gives one.
        status: the HTTP status.
    """

    def __init__(self, kind: str, message: str, *, turk_code: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.turk_code = turk_code
        self.status = status


def request_error(code: str, message: str) -> Refusal:
    """Return the service's modelled client fault, with its TurkErrorCode."""
    return Refusal("RequestError", message, turk_code=code)


def unrecognized_client() -> Refusal:
    """The access key or session is unknown or was revoked."""
    return Refusal(
        "UnrecognizedClientException", "The security token included in the request is invalid."
    )


def does_not_exist(thing: str, key: str) -> Refusal:
    """The id is unknown or another requester's; both deliberately look alike."""
    names = {
        "HIT": "HITDoesNotExist",
        "Assignment": "AssignmentDoesNotExist",
        "QualificationType": "QualificationTypeDoesNotExist",
        "Qualification": "QualificationDoesNotExist",
        "QualificationRequest": "QualificationRequestDoesNotExist",
        "HITLayout": "HITLayoutDoesNotExist",
        "HITType": "HITTypeDoesNotExist",
    }
    return request_error(names[thing], f"{thing} {key} does not exist.")


def wrong_state(thing: str, key: str, *, state: str, allowed: str) -> Refusal:
    """The state does not allow the operation; names the state and the allowed ones."""
    code = {
        "HIT": "InvalidHITState",
        "Assignment": "InvalidAssignmentState",
        "Qualification": "InvalidQualificationState",
        "QualificationType": "InvalidQualificationTypeState",
        "QualificationRequest": "InvalidQualificationRequestState",
    }[thing]
    return request_error(
        code,
        f"This operation can be called with a status of: {allowed}. "
        f"{thing} {key} is currently in the state '{state}'.",
    )


def already_processed(token: str) -> Refusal:
    """A request token was repeated.

    The text is as seen live: for UpdateExpirationForHIT in a report (Dallinger issue
    3109 of 2021), for SendBonus in programs that look for it. The code is known only of
    ExtendHIT, the predecessor of CreateAdditionalAssignmentsForHIT, from a client of
    the API of 2012. For SendBonus and UpdateExpirationForHIT it is an analogy: AWS
    documents no code, only "an error". A repeated CreateHIT has another code.
    """
    return request_error(
        "DuplicateCall", f'The idempotency token "{token}" has already been processed.'
    )


def invalid_parameters(*faults: str) -> Refusal:
    """Parameters break the service model or its documented limits."""
    return Refusal(
        "ParameterValidationError",
        "There was a problem with the parameters of this request: " + " ".join(faults),
    )


def invalid_xml(complaint: str) -> Refusal:
    """A question is not a well-formed document of its schema."""
    return Refusal(
        "ParameterValidationError",
        "There was an error parsing the XML question or answer data in your request. "
        "Please make sure the data is well-formed and validates against the "
        f"appropriate schema. Details: {complaint}",
    )


def insufficient_funds(*, needed: str, available: str) -> Refusal:
    """The account's balance is too low; nothing was created or paid."""
    return request_error(
        "InsufficientFunds",
        "This requester has insufficient funds to complete this transaction: "
        f"it needs {needed} and {available} is available.",
    )
