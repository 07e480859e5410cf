"""The one error of this room."""

from hack.cluster.errors import ClusterError


class ImageError(ClusterError):
    """An image could not be built or loaded; the message says what to do, in sentences."""
