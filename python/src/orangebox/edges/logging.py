"""
What an application says through the standard `logging`, as logs of a step::

    import logging
    from orangebox.edges.logging import StepHandler

    logging.getLogger("agent").addHandler(StepHandler(step))
"""

from __future__ import annotations

import logging
from typing import Any

_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))
_OWN = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime", "taskName"}


class StepHandler(logging.Handler):
    """Takes a step or a recorder. Attributes are what the caller gave as `extra`."""

    def __init__(self, step: Any, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._log = step.log

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level = next((name for least, name in _LEVELS if record.levelno >= least), "debug")
            attributes = {name: value for name, value in record.__dict__.items() if name not in _OWN}
            attributes["logger"] = record.name
            if record.exc_info and record.exc_info[1] is not None:
                attributes["err"] = record.exc_info[1]
            self._log.write(level, record.getMessage(), attributes)
        except Exception:
            self.handleError(record)
