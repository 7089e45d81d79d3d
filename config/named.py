"""What the text of each key of a campaign file names, stated beside the key's type.

A campaign file may come from anyone, and a pass over it must be made again whenever a
file that it names has changed. So every key with text says whether the text is opened:
`Annotated[str, Names.INPUT]`. A test walks the schema and refuses a key that does not.
A text that is opened, or that leads browsers somewhere, has no control characters.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, GetCoreSchemaHandler, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from piecework.domain.text import control_in


class Names(Enum):
    """What a text names.

    Attributes:
        NOTHING: it is shown or compared, and never opened.
        LINK: an address that piecework only shows; browsers may open it.
        DEFINITION: a file or folder with a part of the campaign's definition: a task, a
            page, another campaign file.
        INPUT: a file or folder of data that the campaign reads, or the address of one.
        OUTPUT: a file, folder or address that the campaign writes to.
        DATABASE: the URL of a database.
    """

    NOTHING = "nothing"
    LINK = "link"
    DEFINITION = "definition"
    INPUT = "input"
    OUTPUT = "output"
    DATABASE = "database"

    @property
    def is_opened(self) -> bool:
        """Whether piecework opens what it names; browsers may open a link."""
        return self not in {Names.NOTHING, Names.LINK}

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Let pydantic refuse control characters wherever this mark stands."""
        schema = handler(source)
        if self is Names.NOTHING:
            return schema
        return core_schema.no_info_after_validator_function(_without_controls, schema)


Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), Names.NOTHING]
"""Text that is shown or compared; what names a file or address has another mark."""


def as_list(value: object) -> object:
    """Return a list of a single text; other values as they are."""
    return [value] if isinstance(value, str) else value


class Named(NamedTuple):
    """A text of a file, or the place of one in a schema.

    Attributes:
        key: its key, such as `("items", "file")`; `*` stands for any name or number.
        text: the text; "" in a schema.
        names: what it names; `None` if the schema does not say.
    """

    key: tuple[str, ...]
    text: str
    names: Names | None


def texts_of(table: BaseModel) -> Iterator[Named]:
    """Yield every text of a checked file, with the key and what it names.

    >>> from piecework.config.posting_tables import GoldTable
    >>> [(named.key, named.names.name) for named in texts_of(GoldTable(file="a.csv"))]
    [(('file',), 'INPUT')]
    """
    for name, field in type(table).model_fields.items():
        yield from _texts(getattr(table, name), _hint(field), (name,), None)


def keys_of(schema: type[BaseModel]) -> Iterator[Named]:
    """Yield every key of a schema that takes text, with what it names."""
    for name, field in schema.model_fields.items():
        yield from _keys(_hint(field), (name,), None)


def _without_controls(value: object) -> object:
    if isinstance(value, str) and (control := control_in(value)):
        raise ValueError(f"a path or address cannot have the character {control!r}")
    if isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            _without_controls(each)
    return value


def _hint(field: FieldInfo) -> Any:  # noqa: ANN401 - any type annotation
    mark = _last(field.metadata)
    return Annotated[field.annotation, mark] if mark else field.annotation


def _texts(
    value: object,
    hint: Any,  # noqa: ANN401 - any type annotation
    key: tuple[str, ...],
    names: Names | None,
) -> Iterator[Named]:
    hint, names = _bare(hint, names)
    if isinstance(value, BaseModel):
        yield from (Named((*key, *inner.key), inner.text, inner.names) for inner in texts_of(value))
    elif isinstance(value, str):
        yield Named(key, value, names or _of_text(hint))
    elif isinstance(value, Mapping):
        inner = _inside(hint, dict)
        for name, each in value.items():
            yield from _texts(each, inner, (*key, str(name)), names)
    elif isinstance(value, list | tuple):
        inner = _inside(hint, list, tuple)
        for number, each in enumerate(value):
            yield from _texts(each, inner, (*key, str(number)), names)


def _keys(
    hint: Any,  # noqa: ANN401 - any type annotation
    key: tuple[str, ...],
    names: Names | None,
) -> Iterator[Named]:
    hint, names = _bare(hint, names)
    arms = get_args(hint)
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield from (Named((*key, *inner.key), "", inner.names) for inner in keys_of(hint))
    elif hint in {str, object, Any}:
        yield Named(key, "", names)
    elif get_origin(hint) in {Union, UnionType}:
        for arm in arms:
            yield from _keys(arm, key, names)
    elif get_origin(hint) in {dict, list, tuple}:
        for arm in arms[-1:] if get_origin(hint) is dict else arms[:1]:
            yield from _keys(arm, (*key, "*"), names)


def _bare(hint: Any, names: Names | None) -> tuple[Any, Names | None]:  # noqa: ANN401
    """Return a hint without `Annotated`, and what its outermost mark says."""
    while get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        names = names or _last(marks)
    return hint, names


def _last(marks: Sequence[object]) -> Names | None:
    # Python writes the marks of nested `Annotated` in one list, the outermost last.
    return next((mark for mark in reversed(marks) if isinstance(mark, Names)), None)


def _arms(hint: Any) -> Iterator[tuple[Any, Names | None]]:  # noqa: ANN401
    hint, names = _bare(hint, None)
    if get_origin(hint) not in {Union, UnionType}:
        yield hint, names
        return
    for arm in get_args(hint):
        yield from ((bare, own or names) for bare, own in _arms(arm))


def _of_text(hint: Any) -> Names | None:  # noqa: ANN401
    """Return what a text of a union names; texts of a `Literal` name nothing."""
    for arm, names in _arms(hint):
        if arm is str:
            return names
    return Names.NOTHING if any(get_args(arm) for arm, _ in _arms(hint)) else None


def _inside(hint: Any, *kinds: type) -> Any:  # noqa: ANN401
    """Return the type of what a dictionary, list or tuple holds."""
    for arm, names in _arms(hint):
        if get_origin(arm) in kinds:
            inner = get_args(arm)[-1 if dict in kinds else 0]
            return Annotated[inner, names] if names else inner
    return object
