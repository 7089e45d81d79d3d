"""One call of the requester API, its failures translated; and pages of a listing."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from domain.errors import ConfigError, PlatformRefused, TransientPlatformError
from platforms.pace import THROTTLED

_T = TypeVar("_T")
_PREFIX = "AWS.MechanicalTurk."
_TRANSIENT = THROTTLED | {"ServiceFault", "RequestTimeout"}


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


def _translated(fault: ClientError) -> PlatformRefused | TransientPlatformError:
    response: Mapping[str, Any] = fault.response
    error = response.get("Error", {})
    code, sentence = error.get("Code", ""), error.get("Message", str(fault))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
    if code in _TRANSIENT or status >= 500:  # noqa: PLR2004 - HTTP's server faults
        return TransientPlatformError(
            f"the platform is busy ({code}): {sentence}",
            next_step="run the same command again; nothing is done twice",
        )
    turk_code = response.get("TurkErrorCode", "").removeprefix(_PREFIX)
    return PlatformRefused(sentence, code=turk_code or code)
