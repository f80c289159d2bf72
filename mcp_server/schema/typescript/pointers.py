"""Where a `$ref` leads inside one schema document, and which definitions contain themselves."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

UNIONS = ("allOf", "anyOf", "oneOf")


class Document:
    """One root schema; a place in it is called by its JSON pointer, "" for the root."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._targets: dict[str, frozenset[str]] = {}
        self._recursive: dict[str, bool] = {}
        self._anchors: dict[str, str] | None = None

    def place(self, reference: Any) -> str | None:
        """Return the pointer that a `$ref` value means, None when it leads out of the document or nowhere."""
        if not isinstance(reference, str):
            return None
        pointer = self._pointer(reference)
        if pointer is None:
            return None
        try:
            self.at(pointer)
        except LookupError:
            return None
        return pointer

    def at(self, pointer: str) -> Any:
        """Return the schema at `pointer`; LookupError when there is none."""
        found = self.root
        for step in pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found[int(key)] if isinstance(found, list) and key.isdecimal() else _value(found, key)
        return found

    def contains_itself(self, pointer: str) -> bool:
        """Return whether the definition at `pointer` leads back to itself."""
        if pointer not in self._recursive:
            self._recursive[pointer] = pointer in self._reachable(pointer)
        return self._recursive[pointer]

    def is_only_itself(self, pointer: str) -> bool:
        """Return whether it does so without an object or array between, so that it says nothing (`A = A | string`)."""
        seen: set[str] = set()
        waiting = list(self._heads(self.at(pointer)))
        while waiting:
            head = waiting.pop()
            if head not in seen:
                seen.add(head)
                waiting.extend(self._heads(self.at(head)))
        return pointer in seen

    def key(self, pointer: str) -> str:
        """Return what tells the definition at `pointer` from others in any document: all that it is made of, hashed."""
        places = sorted({pointer, *self._reachable(pointer)})
        text = json.dumps(
            [pointer, [(place, self.at(place)) for place in places]], sort_keys=True, default=repr
        )
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def _pointer(self, reference: str) -> str | None:
        base, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        if base and base != _identity(self.root):
            return self._marked().get(reference)
        if not fragment or fragment.startswith("/"):
            return fragment
        return self._marked().get(fragment)

    def _marked(self) -> dict[str, str]:
        if self._anchors is None:
            self._anchors = {}
            for pointer, schema in _walk(self.root, ""):
                for keyword in ("$anchor", "$dynamicAnchor", "$id"):
                    name = schema.get(keyword)
                    if isinstance(name, str):
                        self._anchors.setdefault(name, pointer)
        return self._anchors

    def _reachable(self, pointer: str) -> set[str]:
        seen: set[str] = set()
        waiting = [pointer]
        while waiting:
            for target in self._direct(waiting.pop()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return seen

    def _direct(self, pointer: str) -> frozenset[str]:
        if pointer not in self._targets:
            found = (self._reference(schema) for _, schema in _walk(self.at(pointer), pointer))
            self._targets[pointer] = frozenset(target for target in found if target is not None)
        return self._targets[pointer]

    def _heads(self, schema: Any, depth: int = 0) -> Iterator[str]:
        if not isinstance(schema, dict) or depth > 64:
            return
        target = self._reference(schema)
        if target is not None:
            yield target
        for keyword in UNIONS:
            branches = schema.get(keyword)
            for branch in branches if isinstance(branches, list) else ():
                yield from self._heads(branch, depth + 1)

    def _reference(self, schema: dict[str, Any]) -> str | None:
        return self.place(schema.get("$ref", schema.get("$dynamicRef")))


def _value(found: Any, key: str) -> Any:
    if isinstance(found, dict):
        return found[key]
    raise LookupError(key)


def _identity(root: Any) -> Any:
    return root.get("$id") if isinstance(root, dict) else None


def _walk(value: Any, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object in `value` with its pointer; without recursion, since `value` may be deep."""
    waiting = [(pointer, value)]
    while waiting:
        place, found = waiting.pop()
        if isinstance(found, dict):
            yield place, found
            waiting += [(f"{place}/{_step(key)}", item) for key, item in found.items()]
        elif isinstance(found, list):
            waiting += [(f"{place}/{number}", item) for number, item in enumerate(found)]


def _step(key: Any) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
