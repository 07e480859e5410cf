"""The one error of this room: a sentence for the person who ran the command."""


class ClusterError(Exception):
    """Something went wrong that a person can act on; the message says what, in sentences."""
