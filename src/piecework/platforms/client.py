"""The client of a marketplace, whose calls are traced.

The header is added after the signature, so a proxy may change it, as the standard
allows. The span has the id by which the marketplace's access log names the request.
"""

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from piecework.domain.errors import ConfigError
from piecework.foundation.tracing import spans
from piecework.platforms.calling import (
    Outage,
    Pace,
    hear_only_the_marketplace,
    keep_pace,
    wait_for_the_marketplace,
)
from piecework.platforms.clocks import watch_clock
from piecework.platforms.endpoint import OWN_KEYS, VARIABLE, Credentials, known_key

if TYPE_CHECKING:
    import boto3
    from mypy_boto3_mturk import MTurkClient

_STACK, _SPAN = "piecework_span_stack", "piecework_span"
_CLIENT_FAULT = 400


def trace_calls(events: Any) -> None:  # noqa: ANN401 - botocore's emitter
    """Make a span of each call of a botocore client, if traces are sent.

    Other handlers must be registered before: they may raise.
    """
    if spans.is_sending():
        events.register_last("before-call.mturk", _begin)
        events.register_last("before-send.mturk", _add_header)
        events.register_first("after-call.mturk", _end)
        events.register("after-call-error.mturk", _fail)


def _begin(model: Any, context: dict[str, Any], **_: object) -> None:  # noqa: ANN401 - botocore's
    stack = ExitStack()
    attributes = {"rpc.system": "aws-api", "rpc.service": "MTurk", "rpc.method": str(model.name)}
    context[_SPAN] = stack.enter_context(
        spans.span(f"call {model.name}", attributes, kind="client")
    )
    context[_STACK] = stack


def _add_header(request: Any, **_: object) -> None:  # noqa: ANN401 - botocore's
    header = spans.traceparent()
    if header:
        request.headers["traceparent"] = header


def _end(parsed: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    if _STACK not in context:
        return
    metadata = parsed.get("ResponseMetadata", {})
    status = int(metadata.get("HTTPStatusCode", 200))
    context[_SPAN].note(
        {
            "http.response.status_code": status,
            "aws.request_id": str(metadata.get("RequestId", "")),
            "http.request.resend_count": int(metadata.get("RetryAttempts", 0)),
        }
    )
    if status >= _CLIENT_FAULT:
        error = parsed.get("Error", {})
        context[_SPAN].fail(str(parsed.get("TurkErrorCode") or error.get("Code", "")))
    context.pop(_STACK).close()


def _fail(exception: BaseException, context: dict[str, Any], **_: object) -> None:
    if _STACK in context:
        context[_SPAN].fail(type(exception).__name__)
        context.pop(_STACK).close()


_CONNECTIONS = 32


def turk_client(
    endpoint: str,
    *,
    access_key: str | None,
    secret_key: str | None,
    source: str = "",
    patience_seconds: float | None = None,
) -> "MTurkClient":
    """Return a client that keeps a pace, waits out outages, and checks replies.

    Without keys, it takes those of `OWN_KEYS`, else that beside the campaign
    (`platforms.endpoint`), else boto3's. A refusal of the key says where it is from: `source`,
    if it was given here.

    Raises:
        ConfigError: boto3 cannot use the AWS settings of this machine, or only one of
            `OWN_KEYS` is set.
    """
    # Most commands and most passes call no marketplace.
    import boto3  # noqa: PLC0415
    import botocore  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    keys = _own_keys(endpoint)
    if access_key is not None and secret_key is not None:
        keys = Credentials(access_key=access_key, secret_key=secret_key, source=source)
    try:
        # A separate session: boto3's default one is shared and not thread-safe.
        session = boto3.session.Session()
        used = keys or _of_boto3(session)
        client = session.client(
            "mturk",
            region_name="us-east-1",
            endpoint_url=endpoint,
            aws_access_key_id=keys.access_key if keys else None,
            aws_secret_access_key=keys.secret_key if keys else None,
            # Safe to repeat: every call that spends carries a token or is looked up
            # first. MTurk throttles without a published rate.
            config=Config(
                retries={"mode": "standard", "max_attempts": 6},
                connect_timeout=10,
                read_timeout=60,
                max_pool_connections=_CONNECTIONS,
                # botocore would build its own twice for each call, which is a fifth of
                # this process's work per call.
                user_agent=f"piecework boto3/{boto3.__version__} botocore/{botocore.__version__}",
            ),
        )
    # botocore raises its own error, except for an address that it does not accept.
    except (BotoCoreError, ValueError) as fault:
        raise ConfigError(
            [f"boto3 cannot use this machine's AWS settings: {fault}"],
            next_step="env | grep AWS_ shows them, others are in ~/.aws; correct or "
            "unset the one that is named",
        ) from fault
    wait_for_the_marketplace(client.meta.events, Outage(endpoint, patience_seconds))
    keep_pace(client.meta.events, Pace())
    hear_only_the_marketplace(client.meta.events, endpoint, used)
    trace_calls(client.meta.events)
    watch_clock(client.meta.events, endpoint)
    return client


def _own_keys(endpoint: str) -> Credentials | None:
    access_key, secret_key = (os.environ.get(name) or None for name in OWN_KEYS)
    if (access_key is None) != (secret_key is None):
        missing = OWN_KEYS[0 if access_key is None else 1]
        raise ConfigError([f"the environment variable {missing} is not set"])
    beside = known_key(os.environ)
    if access_key and secret_key:
        return Credentials(access_key=access_key, secret_key=secret_key, source=OWN_KEYS[0])
    if beside is None or beside.endpoint != endpoint:
        return None
    return Credentials(
        access_key=beside.access_key,
        secret_key=beside.secret_key,
        source=f"the file {os.environ[VARIABLE]}",
    )


def _of_boto3(session: "boto3.session.Session") -> Credentials:
    """Return the keys that boto3 finds by itself and their source; empty without any."""
    chain = session.get_credentials()
    if chain is None:
        return Credentials(access_key="", secret_key="")
    where = {
        "env": "AWS_ACCESS_KEY_ID",
        "shared-credentials-file": f"the profile {session.profile_name} of AWS's credentials file",
        "config-file": f"the profile {session.profile_name} of AWS's configuration file",
    }
    return Credentials(
        access_key=chain.access_key or "",
        secret_key="",
        source=where.get(chain.method, chain.method),
    )
