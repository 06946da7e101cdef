"""The one error that callers are meant to read."""


class ArgumentError(ValueError):
    """An argument is out of range; the one-line message names it, its value and what is allowed."""
