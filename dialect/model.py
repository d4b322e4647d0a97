"""A model: a module of qnn ops with its entry function's inputs and outputs, whatever file it came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..errors import ImportModelError
from .ir_types import to_tensor_type
from .mlir import ir
from .numerics import MODES
from .tensor_info import TensorInfo as TensorInfo

ENTRY = "main"
NAME_ATTRIBUTE = "qnn.name"
"""Attribute of an entry function's argument or result: the name of the tensor in the model file."""
LENGTH_ATTRIBUTE = "qnn.length"
"""Attribute of a result of the entry function: the name of the one that says how long it is."""
NUMERICS_ATTRIBUTE = "qnn.numerics"
"""Attribute of the module: the numerics mode."""
DEFAULT_NUMERICS = "reference"


@dataclass(frozen=True, eq=False)
class Model:
    """A verified module with an entry function ``@main`` of ranked tensors. Made by :meth:`from_module`.

    The module lives in a context of its own (:attr:`context`); ``numerics`` is one of the modes in
    ``numerics.py``.
    """

    module: Any
    name: str
    numerics: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]

    @classmethod
    def from_module(cls, module: Any, name: str = "<module>") -> Model:
        """The model that ``module`` (an ``ir.Module``) is; ``name`` is its file's, for messages.

        Raises:
            ImportModelError: no function ``@main`` with a body, an argument or result that is not a ranked
            tensor,
                two inputs or two outputs of one name, or an unknown numerics mode.
        """
        with module.context:
            main = find_main(module, name)
            arguments, results = main.type.inputs, main.type.results
            inputs = _tensor_infos(arguments, _attribute_list(main, "arg_attrs"), "input", name)
            outputs = _tensor_infos(results, _attribute_list(main, "res_attrs"), "output", name)
            _check_lengths(outputs, name)
            return cls(
                module,
                name,
                _numerics(module, name),
                tuple(
                    replace(info, is_read=any(True for _ in argument.uses))
                    for info, argument in zip(
                        inputs, main.operation.regions[0].blocks[0].arguments, strict=True
                    )
                ),
                outputs,
            )

    @property
    def context(self) -> Any:
        """The MLIR context of the module."""
        return self.module.context

    @property
    def main(self) -> Any:
        """The entry function, a ``func.func``."""
        return find_main(self.module, self.name)

    def text(self, *, locations: bool = False, elide_larger_than: int | None = None) -> str:
        """The module as text that parses back, unless constants of more elements (or resource characters)
        than ``elide_larger_than`` are left out.

        ``locations`` adds the model's tensor names.
        """
        names = ("large_elements_limit", "large_resource_limit")
        limits = {} if elide_larger_than is None else dict.fromkeys(names, elide_larger_than)
        return str(self.module.operation.get_asm(enable_debug_info=locations, **limits))


def find_main(module: Any, name: str = "<module>") -> Any:
    """The function ``@main`` of a module; raises ImportModelError if there is none with a body."""
    for function in module.body.operations:
        operation = function.operation
        if operation.name != "func.func" or ir.StringAttr(operation.attributes["sym_name"]).value != ENTRY:
            continue
        if not operation.regions[0].blocks:
            raise ImportModelError(f"{name}: error: function @{ENTRY} has no body")
        return function
    raise ImportModelError(f"{name}: error: no function @{ENTRY}; a model's entry is func.func @{ENTRY}")


def module_numerics(module: Any) -> str:
    """The numerics mode a module asks for, ``reference`` if it does not say."""
    attributes = module.operation.attributes
    if NUMERICS_ATTRIBUTE not in attributes:
        return DEFAULT_NUMERICS
    attribute = attributes[NUMERICS_ATTRIBUTE]
    return str(attribute.value) if isinstance(attribute, ir.StringAttr) else str(attribute)


def _numerics(module: Any, name: str) -> str:
    mode = module_numerics(module)
    if mode not in MODES:
        raise ImportModelError(
            f"{name}: error: {NUMERICS_ATTRIBUTE}: got '{mode}', expected one of {', '.join(sorted(MODES))}"
        )
    return mode


def _attribute_list(main: Any, name: str) -> list[Any]:
    """The attribute dictionaries of arguments or results; empty if there are none."""
    attributes = main.operation.attributes
    return list(attributes[name]) if name in attributes else []


def _tensor_infos(types: list[Any], attributes: list[Any], kind: str, model: str) -> tuple[TensorInfo, ...]:
    infos: list[TensorInfo] = []
    for index, type_ in enumerate(types):
        dictionary = attributes[index] if attributes else {}
        named = NAME_ATTRIBUTE in dictionary
        name = ir.StringAttr(dictionary[NAME_ATTRIBUTE]).value if named else f"{kind}_{index}"
        try:
            counted = LENGTH_ATTRIBUTE in dictionary
            length = ir.StringAttr(dictionary[LENGTH_ATTRIBUTE]).value if counted else ""
            infos.append(TensorInfo(name, to_tensor_type(type_), length=length))
        except TypeError as error:
            raise ImportModelError(
                f"{model}: error: {kind} {index} ('{name}') of @{ENTRY}: {error}"
            ) from error
        if any(other.name == name for other in infos[:-1]):
            raise ImportModelError(f"{model}: error: two {kind}s of @{ENTRY} are named '{name}'")
    return tuple(infos)


def _check_lengths(outputs: tuple[TensorInfo, ...], model: str) -> None:
    """What says how long an output is, is an output, too: one whole number."""
    counts = {info.name for info in outputs if info.dtype.kind == "i" and info.type.elements == 1}
    for info in outputs:
        if info.length and (info.length not in counts or not info.shape):
            raise ImportModelError(
                f"{model}: error: output '{info.name}' of shape {list(info.shape)}: {LENGTH_ATTRIBUTE} is "
                f"'{info.length}', expected the name of an output of one integer"
            )
