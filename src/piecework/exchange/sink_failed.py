"""The error of a sink."""

from piecework.domain.errors import PieceworkError


class SinkFailed(PieceworkError):  # noqa: N818 - as the other errors here
    """Results could not be written to a place of the user's; the next pass tries."""
