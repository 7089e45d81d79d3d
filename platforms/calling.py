"""One call of the requester API, its failures translated; and pages of a listing."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from domain.errors import (
    ConfigError,
    PlatformRefused,
    RefusalKind,
    TransientPlatformError,
)
from platforms.pace import THROTTLED

_T = TypeVar("_T")
_PREFIX = "AWS.MechanicalTurk."
_TRANSIENT = THROTTLED | {"ServiceFault", "RequestTimeout"}
_SERVER_FAULT = 500
_KINDS: Mapping[str, RefusalKind] = {
    "HITDoesNotExist": "hit_unknown",
    "HITTypeDoesNotExist": "hit_type_unknown",
    "QualificationTypeDoesNotExist": "qualification_type_unknown",
    "HitAlreadyExists": "already_exists",
    "QualificationTypeAlreadyExists": "already_exists",
}
"""MTurk's codes, without their prefix, for the kinds that callers tell apart."""


def called(call: Callable[..., _T], **arguments: Any) -> _T:  # noqa: ANN401 - boto3's own
    """What a call gives.

    Raises:
        TransientPlatformError: the outcome is unknown.
        PlatformRefused: the platform said no.
        ConfigError: there are no credentials.
    """
    try:
        return call(**arguments)
    except ClientError as fault:
        raise _translated(fault) from fault
    except NoCredentialsError as fault:
        raise ConfigError(
            ["no access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"],
            next_step="any two words will do for `piecework serve --rehearsal`",
        ) from fault
    except BotoCoreError as fault:
        raise TransientPlatformError(
            f"the platform could not be reached: {fault}",
            next_step="run the same command again; nothing is done twice",
        ) from fault


def pages_of(pages: Any) -> Iterator[Any]:  # noqa: ANN401 - one for all paginators
    """The pages of a listing, each called for as any other call."""
    iterator = iter(pages)
    while (page := called(lambda: next(iterator, None))) is not None:
        yield page


def hear_only_the_marketplace(
    events: Any,  # noqa: ANN401 - botocore's emitter
    endpoint: str,
) -> None:
    """Let a botocore client take no answer of anybody but the marketplace for one.

    Most acts are answered with nothing, so botocore would take any page that comes with
    HTTP 200 for an act that was done: the page of a portal for money that was paid.
    """

    def check(response_dict: dict[str, Any], **_: object) -> None:
        status = response_dict["status_code"]
        if "x-amzn-requestid" in response_dict["headers"]:
            return
        if status >= _SERVER_FAULT:
            # botocore repeats the call; what a stranger says besides is not read.
            response_dict["body"] = b""
            return
        raise TransientPlatformError(
            f"{endpoint}: the answer (HTTP {status}) is not a marketplace's: a proxy, "
            "a portal or another program on that port gave it",
            next_step="look at the address and at what lies between, then run the "
            "same command again; nothing is done twice",
        )

    events.register_first("before-parse.mturk", check)


def _translated(fault: ClientError) -> PlatformRefused | TransientPlatformError:
    response: Mapping[str, Any] = fault.response
    error = response.get("Error", {})
    code, sentence = error.get("Code", ""), error.get("Message", str(fault))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    if code in _TRANSIENT or status >= _SERVER_FAULT:
        return TransientPlatformError(
            f"the platform is busy ({code}): {sentence}",
            next_step="run the same command again; nothing is done twice",
        )
    code = response.get("TurkErrorCode", "").removeprefix(_PREFIX) or code
    return PlatformRefused(sentence, code=code, kind=_KINDS.get(code, "other"))
