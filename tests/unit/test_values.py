"""Our dataclasses: what Python's own do, they do alike."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from twolane.model import values


class _Written:
    """A class before any decorator: fields of all kinds that there are."""

    name: str
    size: int = 3
    tags: list[str] = dataclasses.field(default_factory=list)
    noted: str = dataclasses.field(default="", compare=False)
    secret: str = dataclasses.field(default="", repr=False)

    def __post_init__(self) -> None:
        """Ask for a name."""
        if not self.name:
            raise ValueError("no name")


def _made(decorated: Any, name: str, **options: bool) -> Any:
    cls = type(name, (), {**vars(_Written), "__qualname__": name})
    return decorated(slots=True, **options)(cls)


# Pickling looks for a class by its name.
OURS, PYTHONS = (
    _made(values.dataclass, "OURS", frozen=True),
    _made(dataclasses.dataclass, "PYTHONS", frozen=True),
)


@pytest.mark.parametrize("cls", [OURS, PYTHONS])
def test_a_frozen_value(cls: Any) -> None:
    """It is made, compared, shown, copied and matched by its fields, and never changed."""
    one = cls("a", tags=["x"])
    assert (one.name, one.size, one.tags, one.noted) == ("a", 3, ["x"], "")
    assert one == cls("a", 3, ["x"], "noted")
    assert one != cls("b", 3, ["x"])
    assert one != ("a", 3, ["x"], "")
    assert repr(one) == f"{cls.__name__}(name='a', size=3, tags=['x'], noted='')"
    assert cls("a").tags is not cls("a").tags
    assert dataclasses.replace(one, size=4) == cls("a", 4, ["x"])
    assert dataclasses.asdict(one)["tags"] == ["x"]
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert not hasattr(one, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.name
    with pytest.raises(ValueError, match="no name"):
        cls("")
    with pytest.raises(TypeError, match="name"):
        cls()
    match one:
        case cls(name, size):
            assert (name, size) == ("a", 3)
        case _:
            pytest.fail("the value did not match its fields")


def test_frozen_values_are_keys() -> None:
    """Equal values have equal hashes; one that holds a list has none, as everywhere."""

    @values.dataclass(frozen=True, slots=True)
    class Key:
        name: str
        noted: str = dataclasses.field(default="", compare=False)

    assert {Key("a"): 1}[Key("a", "noted")] == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(OURS("a"))


def test_values_that_change_are_no_keys() -> None:
    """What is not frozen can be set, and has no hash."""
    changing = _made(values.dataclass, "Changing")
    one = changing("a")
    one.name = "b"
    assert one == changing("b")
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_own_methods_stay() -> None:
    """A class that says how its values are compared and shown keeps that."""

    @values.dataclass(frozen=True, slots=True)
    class Named:
        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Named) and self.name.lower() == other.name.lower()

        def __hash__(self) -> int:
            return hash(self.name.lower())

        def __repr__(self) -> str:
            return self.name

    assert Named("A") == Named("a")
    assert {Named("A"), Named("a")} == {Named("a")}
    assert repr(Named("A")) == "A"


def test_both_tell_the_same_of_their_making() -> None:
    """Whoever looks at a class finds the parameters and types that Python's own would show."""
    ours, pythons = inspect.signature(OURS), inspect.signature(PYTHONS)
    assert list(ours.parameters) == list(pythons.parameters)
    assert [one.annotation for one in ours.parameters.values()] == [
        one.annotation for one in pythons.parameters.values()
    ]


def test_slots_are_not_optional() -> None:
    """A class without slots is refused: it would be made otherwise than it says."""
    with pytest.raises(TypeError, match="slots"):
        values.dataclass(slots=False)
