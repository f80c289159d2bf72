"""From the neutral sentence that a client reads back to the exception that a tool raised."""

import logging
from types import TracebackType
from typing import Self

from mcp_server.testing.replies import Result

LOGGER = "mcp_server.calls"


class RaisedExceptions(logging.Handler):
    """Within the block, collects unexpected exceptions of tools by the reference id that clients are told."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._found: dict[str, BaseException] = {}

    def __enter__(self) -> Self:
        logging.getLogger(LOGGER).addHandler(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        logging.getLogger(LOGGER).removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the exception of a record that names a reference."""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and isinstance(record.args, tuple) and record.args:
            self._found[str(record.args[-1])] = error

    def reraise(self, result: Result) -> Result:
        """Return the result, unless a tool raised it.

        Raises:
            Exception: what the tool raised.
        """
        for reference, error in self._found.items():
            if result.is_error and reference in result.text:
                raise error
        return result
