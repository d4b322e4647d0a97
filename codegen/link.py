"""Object files into one image that runs at any address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import PipelineError
from . import elf
from .elf import AARCH64, X86_64, ObjectFile, Relocation, Symbol
from .image import Image
from .relocations import MACHINES, Target

_SLOT = 8


def is_known(code: bytes) -> bool:
    """Whether an ELF object file is for a machine that :func:`link` knows."""
    return int.from_bytes(code[18:20], "little") in MACHINES


def link(objects: Mapping[str, bytes]) -> Image:
    """One image of several objects. Each sees its own symbols only, and what the process has.

    Raises:
        PipelineError: an object is damaged, for an unknown machine, or has a relocation that is not known.
    """
    files = {name: elf.read_object(code, name) for name, code in objects.items()}
    machines = {file.machine for file in files.values()}
    if len(machines) != 1 or not machines <= set(MACHINES):
        known = f"{X86_64} (x86-64) and {AARCH64} (aarch64)"
        raise PipelineError(f"object files for machines {sorted(machines)}, expected one of {known}")
    return _Linker(files, machines.pop()).link()


@dataclass
class _Linker:
    files: Mapping[str, ObjectFile]
    machine: int
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    """(object, section) -> offset in the image."""
    slots: dict[tuple[str, str], int] = field(default_factory=dict)
    """(object or empty, symbol) -> offset of the slot with its address."""
    stubs: dict[str, int] = field(default_factory=dict)
    """Function of the process -> offset of code that jumps to it."""
    imports: list[tuple[int, str]] = field(default_factory=list)
    absolute: list[tuple[int, int]] = field(default_factory=list)

    def link(self) -> Image:
        target = MACHINES[self.machine]
        code_end = self._place(0, is_code=True)
        slots, stubs = self._needs(target)
        for name in stubs:
            self.stubs[name] = code_end
            code_end += target.stub_bytes
        code_bytes = -(-code_end // target.page_bytes) * target.page_bytes
        data_end = -(-self._place(code_bytes, is_code=False) // _SLOT) * _SLOT
        for slot in slots:
            self.slots[slot] = data_end
            data_end += _SLOT
        image = bytearray(data_end)
        for (name, index), offset in self.places.items():
            data = self.files[name].sections[index].data
            image[offset : offset + len(data)] = data
        self._fill(image, target)
        return Image(
            self.machine,
            bytes(image),
            code_bytes,
            self._symbols(),
            tuple(self.imports),
            tuple(self.absolute),
        )

    def _place(self, end: int, *, is_code: bool) -> int:
        """Give the sections of one kind their offsets from ``end`` on; returns where they end."""
        for name, file in self.files.items():
            for index, section in file.sections.items():
                if section.is_code == is_code:
                    end = -(-end // section.alignment) * section.alignment
                    self.places[name, index] = end
                    end += len(section.data)
        return end

    def _needs(self, target: Target) -> tuple[list[tuple[str, str]], list[str]]:
        """The slots and the stubs that the relocations ask for."""
        slots: dict[tuple[str, str], None] = {}
        stubs: dict[str, None] = {}
        for name, file in self.files.items():
            for relocation in file.relocations:
                symbol = self._symbol(name, relocation)
                how = target.kinds.get(relocation.type)
                if how is None:
                    raise PipelineError(
                        f"object file '{name}': relocation {relocation.type} against '{symbol.name}' is not "
                        f"known for {target.name}"
                    )
                if how.is_call and symbol.section is None:
                    stubs[symbol.name] = None
                    slots["", symbol.name] = None
                elif how.is_slot:
                    slots[self._slot(name, symbol)] = None
        return list(slots), list(stubs)

    def _symbol(self, name: str, relocation: Relocation) -> Symbol:
        symbols = self.files[name].symbols
        if relocation.symbol >= len(symbols):
            raise PipelineError(f"object file '{name}' is damaged: no symbol {relocation.symbol}")
        return symbols[relocation.symbol]

    @staticmethod
    def _slot(name: str, symbol: Symbol) -> tuple[str, str]:
        return ("" if symbol.section is None else name, symbol.name)

    def _offset(self, name: str, symbol: Symbol) -> int:
        """Where a symbol of an object is in the image."""
        if symbol.section is None or (name, symbol.section) not in self.places:
            raise PipelineError(f"object file '{name}': '{symbol.name}' is neither in it nor called")
        if symbol.offset > len(self.files[name].sections[symbol.section].data):
            raise PipelineError(f"object file '{name}' is damaged: '{symbol.name}' lies outside its section")
        return self.places[name, symbol.section] + symbol.offset

    def _fill(self, image: bytearray, target: Target) -> None:
        addresses = {
            self._slot(name, symbol): self._offset(name, symbol)
            for name, file in self.files.items()
            for symbol in file.symbols
            if symbol.section is not None and self._slot(name, symbol) in self.slots
        }
        for slot, offset in self.slots.items():
            if slot in addresses:
                self.absolute.append((offset, addresses[slot]))
            else:
                self.imports.append((offset, slot[1]))
        for function, offset in self.stubs.items():
            target.write_stub(image, offset, self.slots["", function])
        for name, file in self.files.items():
            for relocation in file.relocations:
                self._relocate(image, target, name, relocation)

    def _relocate(self, image: bytearray, target: Target, name: str, relocation: Relocation) -> None:
        how = target.kinds[relocation.type]
        symbol = self._symbol(name, relocation)
        place = self.places[name, relocation.section] + relocation.offset
        if relocation.offset + how.bytes > len(self.files[name].sections[relocation.section].data):
            raise PipelineError(f"object file '{name}' is damaged: a relocation lies outside its section")
        if how.is_absolute:
            if symbol.section is None:
                self.imports.append((place, symbol.name))
            else:
                self.absolute.append((place, self._offset(name, symbol) + relocation.addend))
            return
        if how.is_slot:
            value = self.slots[self._slot(name, symbol)]
        elif how.is_call and symbol.section is None:
            value = self.stubs[symbol.name]
        else:
            value = self._offset(name, symbol)
        try:
            how.write(image, place, value + relocation.addend)
        except OverflowError as error:
            raise PipelineError(f"object file '{name}': '{symbol.name}' is out of reach: {error}") from error

    def _symbols(self) -> dict[str, int]:
        return {
            f"{name}:{symbol.name}": self._offset(name, symbol)
            for name, file in self.files.items()
            for symbol in file.symbols
            if symbol.section is not None and not symbol.is_local
        }
