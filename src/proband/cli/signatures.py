"""Commands whose options are made of shared parts: what typer reads is a signature, and this writes one."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from typing import Any, get_type_hints


def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def parameters_of(command: Callable[..., None]) -> list[inspect.Parameter]:
    """Return the parameters of a command, their annotations read."""
    return list(inspect.signature(command, eval_str=True).parameters.values())


def signed(command: Callable[..., None], parameters: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """Let a command have these parameters, and return it."""
    signature = inspect.Signature(list(parameters))
    command.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    vars(command)["__signature__"] = signature
    return command


def packed(place: str, group: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command have the fields of a named tuple as options, and get them together in one parameter."""
    hints = get_type_hints(group, include_extras=True)
    options = [parameter(name, hints[name], group._field_defaults[name]) for name in group._fields]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def together(**given: Any) -> None:
            command(**{place: group(*(given.pop(name) for name in group._fields))}, **given)

        parts = [options if each.name == place else [each] for each in parameters_of(command)]
        return signed(together, itertools.chain(*parts))

    return decorate
