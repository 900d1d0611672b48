"""Dataclasses that are made quickly: the same as Python's own, with fewer methods compiled.

Python's decorator compiles six methods for each class that is frozen and has slots. A search
imports some 140 of them, which took a third of the time until the first answer of a new process.
Here one method is compiled, `__init__`; the others are functions that all classes share.
Checkers see Python's own decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["dataclass"]

_T = TypeVar("_T")

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type[_T]], type[_T]]:
        """A class with fields and slots, and with the methods that come of its fields.

        Methods that the class writes itself stay.
        """
        if not slots:
            raise TypeError("a class without slots has Python's own decorator")

        def made(cls: type[_T]) -> type[_T]:
            written = {name for name, method in vars(cls).items() if method is not None}
            with_fields = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
            told = fields(with_fields)
            compared = attrgetter(*names) if (names := _compared(told)) else _nothing
            methods = {
                "__init__": _initializer(with_fields, told),
                "__repr__": _representation,
                "__eq__": _equality(compared),
                "__hash__": _hash(compared) if frozen else None,
            }
            if frozen:
                methods |= _FROZEN
            for name, method in methods.items():
                if name not in written:
                    setattr(with_fields, name, method)
            return with_fields

        return made


def _initializer(cls: type, told: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """The method that gives a new value its fields, as Python's own would."""
    known: dict[str, Any] = {}
    parameters, lines = [], []
    for one in told:
        name = one.name
        # A frozen value refuses to be set like others, so each slot is set by itself.
        known[f"_set_{name}"] = getattr(cls, name).__set__
        given = name
        if one.default is not MISSING:
            known[f"_default_{name}"] = one.default
            parameters.append(f"{name}=_default_{name}")
        elif one.default_factory is not MISSING:
            known[f"_make_{name}"], known["_missing"] = one.default_factory, MISSING
            parameters.append(f"{name}=_missing")
            given = f"_make_{name}() if {name} is _missing else {name}"
        else:
            parameters.append(name)
        lines.append(f" _set_{name}(self, {given})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = f"def __init__({', '.join(('self', *parameters))}):\n"
    exec(head + "\n".join(lines or [" pass"]), known)  # noqa: S102 - the names are the class's own
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {one.name: one.type for one in told} | {"return": None}
    return made


def _compared(told: tuple[dataclasses.Field[Any], ...]) -> list[str]:
    """The fields that tell one value from another."""
    return [one.name for one in told if one.compare]


def _nothing(_: object) -> tuple[()]:
    return ()


def _equality(read: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def equal(self: Any, other: object) -> Any:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash(read: Callable[[Any], Any]) -> Callable[[Any], int]:
    return lambda self: hash(read(self))


@recursive_repr()
def _representation(self: Any) -> str:
    shown = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, held in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, held)


_FROZEN: dict[str, Callable[..., Any]] = {
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    # Without these a frozen value with slots cannot be pickled.
    "__getstate__": _state,
    "__setstate__": _set_state,
}
