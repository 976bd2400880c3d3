from __future__ import annotations

import builtins
import inspect

import pytest

from proband import errors
from proband.errors import CODES, Codes, ProbandError, codes

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, ProbandError)]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_is_in_the_table(kind: type[ProbandError]) -> None:
    assert kind in CODES
    assert CODES[kind].exit > 0
    assert 400 <= CODES[kind].http < 600


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not ProbandError])
def test_every_error_subclasses_a_builtin_other_than_exception(kind: type[ProbandError]) -> None:
    bases = [base for base in kind.__mro__ if base.__module__ == builtins.__name__]
    assert bases[0] not in (Exception, BaseException, object)


def test_the_table_has_no_strangers() -> None:
    assert set(CODES) == set(CLASSES)


def test_a_subclass_has_the_codes_of_its_nearest_relative() -> None:
    class NewError(errors.TooLargeError):
        pass

    assert codes(NewError("x")) == Codes(exit=3, http=413)
    assert codes(ProbandError("x")) == Codes(exit=1, http=500)
