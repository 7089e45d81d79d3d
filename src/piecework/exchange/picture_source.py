"""The pictures of a bucket as the rows of a growing campaign."""

from dataclasses import dataclass, field

from piecework.config.sources import PictureRows
from piecework.domain.errors import ConfigError
from piecework.exchange.picture_bucket import BucketUnreadableError, PictureBucket


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturesInBucket(PictureRows):
    """All pictures under an address; one that is replaced stays the same item."""

    bucket: PictureBucket = field(compare=False)

    @property
    def name(self) -> str:
        """The address as the campaign file has it."""
        return self.bucket.address

    def names(self) -> list[str]:
        """Return the names of all pictures, sorted.

        Raises:
            ConfigError: the bucket cannot be listed.
        """
        try:
            return self.bucket.names()
        except BucketUnreadableError as fault:
            raise ConfigError([str(fault)]) from fault
