"""
Tools of an agent, each call recorded as a step. The step is passed explicitly, as everywhere::

    @recorded_tool
    def read_file(path: str, *, step: Step) -> str:
        return open(path).read()

    read_file("a.txt", step=step)

or bound once, for a framework that calls them itself::

    tools = record_tools([read_file, run_tests], step)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..step import Step
from ..tool_step import ToolStep, run_tool

F = TypeVar("F", bound=Callable[..., Any])


def recorded_tool(function: F) -> F:
    """A tool that is told its step: by the keyword `step`, which it may take itself or not. Without one it runs unrecorded."""
    takes_step = "step" in inspect.signature(function).parameters

    @functools.wraps(function)
    def recorded(*args: Any, step: Step | None = None, **options: Any) -> Any:
        if step is None:
            return function(*args, **options)
        return _recorded_call(function, step, args, options, takes_step)

    return recorded  # type: ignore[return-value]


def record_tool(function: F, step: Step, *, name: str | None = None) -> F:
    """The same tool, each call recorded below the step. Signature, docstring and annotations stay, so that frameworks read them as before."""

    @functools.wraps(function)
    def recorded(*args: Any, **options: Any) -> Any:
        return _recorded_call(function, step, args, options, False, name)

    return recorded  # type: ignore[return-value]


def record_tools(tools: Iterable[Callable[..., Any]], step: Step) -> list[Callable[..., Any]]:
    return [record_tool(tool, step) for tool in tools]


def _recorded_call(
    function: Callable[..., Any],
    step: Step,
    args: tuple[Any, ...],
    options: dict[str, Any],
    takes_step: bool,
    name: str | None = None,
) -> Any:
    call = step.start_tool(name or str(getattr(function, "__name__", "tool")), _arguments_of(function, args, options))
    own = {**options, "step": call} if takes_step else options
    if not isinstance(call, ToolStep):
        return function(*args, **own)
    try:
        result = function(*args, **own)
    except BaseException as err:
        call.end_tool(err=err)
        raise
    if inspect.isgenerator(result):
        return _watched(call, result)
    if inspect.isasyncgen(result):
        return _watched_async(call, result)
    return run_tool(call, lambda: result)


def _watched(call: ToolStep, generator: Iterator[Any]) -> Iterator[Any]:
    """A tool that tells of its progress: the last thing it yields is its result."""
    last: Any = None
    try:
        for value in generator:
            last = value
            yield value
    except GeneratorExit:
        # Left by its caller: what came until then.
        call.end_tool(result=last, status="partial")
        raise
    except BaseException as err:
        call.end_tool(result=last, err=err)
        raise
    call.end_tool(result=last)


async def _watched_async(call: ToolStep, generator: AsyncIterator[Any]) -> AsyncIterator[Any]:
    last: Any = None
    try:
        async for value in generator:
            last = value
            yield value
    except GeneratorExit:
        call.end_tool(result=last, status="partial")
        raise
    except BaseException as err:
        call.end_tool(result=last, err=err)
        raise
    call.end_tool(result=last)


def _arguments_of(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """By name, as a model would have given them."""
    try:
        bound = inspect.signature(function).bind_partial(*args, **options)
    except (TypeError, ValueError):
        return {**{str(at): value for at, value in enumerate(args)}, **options}
    return {name: value for name, value in bound.arguments.items() if name not in ("self", "step")}
