"""The service model that botocore ships: what an operation takes and gives.

The only place that knows where it lies. It may vanish from a later botocore, since the
service has closed; then this says so instead of failing somewhere else.
"""

from functools import cache

import botocore.loaders
from botocore.exceptions import DataNotFoundError, UnknownServiceError
from botocore.model import ServiceModel, StructureShape

SERVICE = "mturk"
API_VERSION = "2017-01-17"
TARGET_PREFIX = "MTurkRequesterServiceV20170117."


@cache
def service_model() -> ServiceModel:
    """MTurk's requester API, version 2017-01-17.

    Raises:
        RuntimeError: this botocore does not carry it any more.
    """
    loader = botocore.loaders.Loader()
    try:
        described = loader.load_service_model(SERVICE, "service-2", API_VERSION)
    except (DataNotFoundError, UnknownServiceError) as missing:
        raise RuntimeError(
            "This botocore no longer ships the service model "
            f"{SERVICE} {API_VERSION}; install the version of requirements.lock."
        ) from missing
    return ServiceModel(described, SERVICE)


def operation_names() -> tuple[str, ...]:
    """All operations of the API, in alphabetical order."""
    return tuple(sorted(service_model().operation_names))


@cache
def input_shape(operation: str) -> StructureShape | None:
    """What an operation takes; None if it takes nothing."""
    return service_model().operation_model(operation).input_shape
