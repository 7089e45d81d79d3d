"""The service model in botocore: each operation's input and output.

Only this module loads it. A later botocore may drop it, since the service has closed;
then this module raises a clear error.
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
    """Return the model of MTurk's requester API, version 2017-01-17.

    Raises:
        RuntimeError: this botocore no longer ships it.
    """
    loader = botocore.loaders.Loader()
    try:
        described = loader.load_service_model(SERVICE, "service-2", API_VERSION)
    except (DataNotFoundError, UnknownServiceError) as missing:
        raise RuntimeError(
            "This botocore no longer ships the service model "
            f"{SERVICE} {API_VERSION}; install the version in requirements.lock."
        ) from missing
    return ServiceModel(described, SERVICE)


def operation_names() -> tuple[str, ...]:
    """Return all operations of the API, in alphabetical order."""
    return tuple(sorted(service_model().operation_names))


@cache
def input_shape(operation: str) -> StructureShape | None:
    """Return an operation's input; None if it has no input."""
    return service_model().operation_model(operation).input_shape
