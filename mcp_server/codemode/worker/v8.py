"""A V8 isolate through the C library of mini-racer 0.14.

The Python layer of that package would bring an event loop and host callbacks into the worker; nine functions are enough.
"""

import ctypes
import platform
import queue
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

LIBRARY: Final = "libmini_racer.dylib" if platform.system() == "Darwin" else "libmini_racer.so"


class Kind(IntEnum):
    """Types of values that the library gives back, as in its `mini_racer.cc`."""

    STRING = 5
    THROWN = 200
    SYNTAX = 201
    OUT_OF_MEMORY = 202
    TERMINATED = 204
    OTHER = 0


_WITH_TEXT = frozenset({Kind.STRING, Kind.THROWN, Kind.SYNTAX, Kind.OUT_OF_MEMORY, Kind.TERMINATED})


class Result(NamedTuple):
    """What an evaluation gave: its kind and, for texts and errors, UTF-8 (lone surrogates as they are)."""

    kind: Kind
    text: bytes


class _Content(ctypes.Union):
    _fields_ = (("pointer", ctypes.c_void_p), ("integer", ctypes.c_int64))


class _Value(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("content", _Content), ("length", ctypes.c_size_t), ("type", ctypes.c_uint8))


_ValuePointer = ctypes.POINTER(_Value)
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_uint64, _ValuePointer)


class Engine:
    """V8 in this process, started once.

    There is one callback for all isolates: each needs a piece of executable memory, which a confined worker cannot get.
    """

    def __init__(self, folder: str, flags: tuple[str, ...]) -> None:
        self.library = _load(folder, flags)
        self.receivers: dict[int, Isolate] = {}
        self.callback = _Callback(self._receive)

    def _receive(self, number: int, pointer: Any) -> None:
        receiver = self.receivers.get(number)
        if receiver is not None:
            receiver.receive(pointer)


def _load(folder: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    library = ctypes.CDLL(str(Path(folder, LIBRARY)))
    number, size, byte = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_uint8
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "mr_init_v8": (None, [ctypes.c_char_p, ctypes.c_char_p]),
        "mr_init_context": (number, [_Callback]),
        "mr_free_context": (None, [number]),
        "mr_alloc_string_val": (_ValuePointer, [number, ctypes.c_char_p, number, byte]),
        "mr_free_value": (None, [number, _ValuePointer]),
        "mr_eval": (number, [number, _ValuePointer, number]),
        "mr_set_object_item": (_ValuePointer, [number, _ValuePointer, _ValuePointer, _ValuePointer]),
        "mr_cancel_task": (None, [number, number]),
        "mr_set_hard_memory_limit": (None, [number, size]),
        "mr_hard_memory_limit_reached": (ctypes.c_bool, [number]),
    }
    for name, (returns, takes) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = returns, takes
    library.mr_init_v8(" ".join(flags).encode(), str(Path(folder, "icudtl.dat")).encode())
    return library


class Isolate:
    """One fresh realm with a heap of its own; V8 runs it on its own thread, without Python's lock."""

    def __init__(self, engine: Engine, heap_bytes: int) -> None:
        self._engine = engine
        self._library = engine.library
        self._complete: queue.SimpleQueue[list[Result]] = queue.SimpleQueue()
        self._tasks: list[int] = []
        self._expected = 0
        self._results: list[Result] = []
        self._keeping = False
        self._kept: Any = None
        self._context = self._library.mr_init_context(engine.callback)
        self._library.mr_set_hard_memory_limit(self._context, heap_bytes)
        engine.receivers[self._context] = self

    def evaluate(self, *sources: bytes) -> list[Result]:
        """Return the results of `sources`, run one after another with pending promise jobs in between.

        All are handed over before the first answer is awaited, and the last answer wakes this thread: that saves two
        changes of threads for each.
        """
        self._await_later(len(sources))
        handles = [self._post(source) for source in sources]
        results = self._complete.get()
        for handle in handles:
            self._library.mr_free_value(self._context, handle)
        return results

    def keep(self, source: bytes) -> Any:
        """Return a handle of the object that `source` evaluates to; it lives as long as the isolate."""
        self._keeping = True
        self._await_later(1)
        handle = self._post(source)
        self._complete.get()
        self._library.mr_free_value(self._context, handle)
        return self._kept

    def hand_over(self, target: Any, name: bytes, text: bytes) -> None:
        """Set a property of a kept object to `text`: for large texts far cheaper than a literal in a program."""
        key, value = (self._string(part) for part in (name, text))
        done = self._library.mr_set_object_item(self._context, target, key, value)
        for handle in (key, value, done):
            self._library.mr_free_value(self._context, handle)

    def interrupt(self) -> None:
        """Stop what runs now, uncatchably for the program; a loop of promise jobs does not stop."""
        tasks, answered = self._tasks, len(self._results)
        if answered < len(tasks):
            self._library.mr_cancel_task(self._context, tasks[answered])

    def out_of_memory(self) -> bool:
        """Return whether the heap reached its limit, which a terminated promise job does not tell otherwise."""
        return bool(self._library.mr_hard_memory_limit_reached(self._context))

    def free(self) -> None:
        """Give back the isolate; whatever still runs in it is ended."""
        self._library.mr_free_context(self._context)
        del self._engine.receivers[self._context]

    @staticmethod
    def memory(buffer: Any) -> tuple[int, int]:
        """Return the address and the length in bytes of a kept ArrayBuffer."""
        return int(buffer.contents.content.pointer), int(buffer.contents.length)

    def _await_later(self, count: int) -> None:
        self._tasks, self._expected, self._results = [], count, []

    def _string(self, text: bytes) -> Any:
        return self._library.mr_alloc_string_val(self._context, text, len(text), Kind.STRING)

    def _post(self, source: bytes) -> Any:
        handle = self._string(source)
        self._tasks.append(self._library.mr_eval(self._context, handle, self._context))
        return handle

    def receive(self, pointer: Any) -> None:
        """Take over one result, on V8's thread."""
        value = pointer.contents
        kind = Kind(value.type) if value.type in _KINDS else Kind.OTHER
        text = ctypes.string_at(value.content.pointer, value.length) if kind in _WITH_TEXT else b""
        if self._keeping:
            self._kept, self._keeping = pointer, False
        else:
            self._library.mr_free_value(self._context, pointer)
        results = self._results
        results.append(Result(kind, text))
        if len(results) == self._expected:
            self._complete.put(results)


_KINDS = frozenset(int(kind) for kind in Kind)
