"""What happened, where, and what to do next: every error a user can see carries the three, and a code that never changes."""

from __future__ import annotations


class OrangeboxError(Exception):
    def __init__(self, code: str, what: str, where: str | None = None, next: str | None = None) -> None:
        place = "" if where is None else f" ({where})"
        advice = "" if next is None else f". {next}"
        super().__init__(f"{what}{place}{advice}")
        self.code = code
        self.what = what
        self.where = where
        self.next = next


class SystemError(OrangeboxError):  # noqa: A001 - the word of the contract
    """The audit class of failure: something that had to be durable is not."""

    def __init__(self, what: str, where: str | None = None, next: str | None = None) -> None:
        super().__init__("SYSTEM_ERROR", what, where, next)
