"""From an exception to what the model may know of it (contract T14). All else goes to the log, under a reference id."""

import logging
import secrets
from dataclasses import replace
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import IntegrityError
from django.http import Http404
from pydantic_core import from_json

from mcp_server.access.rates import RateExceeded
from mcp_server.calls.journal.records import CallStatus
from mcp_server.calls.results import BrokenResult, Failure, Outcome
from mcp_server.definitions.values import value
from mcp_server.exceptions import Guidance, ToolError
from mcp_server.schema.plain import Unserializable, dump_plain
from mcp_server.schema.validation import InvalidArguments

logger = logging.getLogger("mcp_server.calls")


@value()
class Ending:
    """An outcome, and the word under which it is logged."""

    outcome: Outcome
    status: CallStatus


class HandlerRaised(Exception):
    """A handler raised, as the cause of this, what would mean something else if the dispatcher raised it."""


class _TellingApart:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None and isinstance(error, TimeoutError | SystemExit):
            raise HandlerRaised from error


telling_apart = _TellingApart()
"""A block around a handler: tells its own time-out from the call's, and keeps its `sys.exit()` from ending the server.

Raises `HandlerRaised` with either as its cause.
"""


def explain(error: BaseException, tool_name: str) -> Ending:
    """Return how a call ends that raised `error`; what is unexpected is logged with its traceback."""
    if isinstance(error, Guidance):
        return Ending(Outcome(guidance=error.text), "denied")
    if isinstance(error, InvalidArguments):
        return Ending(Outcome(failure=Failure(_invalid(error, tool_name), 400)), "invalid")
    if isinstance(error, RateExceeded):
        return Ending(Outcome(failure=Failure(error.message, error.status, error.data)), "rate_limited")
    if isinstance(error, TimeoutError):
        return Ending(Outcome(failure=Failure("The tool did not finish in time.", 504)), "timeout")
    failure = _known(error)
    if failure is not None:
        return Ending(Outcome(failure=_with_plain_data(failure, tool_name)), "tool_error")
    return _crash(error, tool_name)


def _with_plain_data(failure: Failure, tool_name: str) -> Failure:
    """Return the failure with data that can be sent; what JSON cannot hold is the author's mistake, told in the log."""
    if failure.data is None:
        return failure
    try:
        return replace(failure, data=from_json(dump_plain(failure.data)))
    except Unserializable:
        logger.exception("The data of an error of tool %s cannot be sent", tool_name)
        return replace(failure, data=None)


def _crash(error: BaseException, tool_name: str) -> Ending:
    error = error.__cause__ or error if isinstance(error, HandlerRaised) else error
    reference = secrets.token_hex(5)
    logger.error("Tool %s failed, reference %s", tool_name, reference, exc_info=error)
    if isinstance(error, BrokenResult):
        message = f"{error} (reference {reference})"
    else:
        message = (
            f"The tool failed unexpectedly. Its administrator finds the cause under reference {reference}."
        )
    return Ending(Outcome(failure=Failure(message), reference=reference), "crashed")


def _invalid(error: InvalidArguments, tool_name: str) -> str:
    lines = [f"Invalid arguments for {tool_name}:"]
    lines += [f"- {item.field} {_as_predicate(item.message)}" for item in error.problems]
    known = ", ".join(error.known)
    lines.append(f"Valid arguments: {known}." if known else "The tool takes no arguments.")
    return "\n".join(lines)


def _as_predicate(message: str) -> str:
    """Return a sentence such that it follows a field's name."""
    return message if message.startswith("is ") else f"is wrong: {message}"


def _known(error: BaseException) -> Failure | None:
    if isinstance(error, ToolError):
        return Failure(error.message, error.status, error.data)
    if isinstance(error, Http404 | ObjectDoesNotExist):
        return Failure(str(error) or "Not found.", 404)
    if isinstance(error, PermissionDenied):
        return Failure(str(error) or "Permission denied.", 403)
    if isinstance(error, ValidationError):
        return _validation(error)
    if isinstance(error, IntegrityError):
        # Its text holds SQL and values.
        return Failure("The change conflicts with what is stored already.", 409)
    return _foreign(error)


def _validation(error: ValidationError) -> Failure:
    if hasattr(error, "error_dict"):
        return Failure("The values are not valid.", 400, error.message_dict)
    return Failure(" ".join(error.messages) or "The values are not valid.", 400)


def _foreign(error: BaseException) -> Failure | None:
    """Return the failure of libraries that we do not import: REST framework, httpx and requests, by their attributes."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and hasattr(error, "detail"):
        detail: Any = error.detail
        plain = detail if isinstance(detail, str) else None
        return Failure(plain or "The request was refused.", status, None if plain else detail)
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int) and hasattr(error, "request"):
        return Failure(f"A service that the tool called answered with status {status}.", status)
    return None
