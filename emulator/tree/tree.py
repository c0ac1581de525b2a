"""All resources of one kind of server that are there from the start, as templates that its machines share."""

import re
from collections.abc import Callable, Iterable

import orjson

from emulator.tree.document import Document, Entry

_MARK = re.compile(rb"\$\{([a-z_]+)(?::([^}]*))?\}")

_TYPE = re.compile(rb'"@odata.type":"#([^"]+)"')

Resolve = Callable[[str, str], str]


class Tree:
    """Documents by path, each kept as JSON; rendered for one machine when it is asked for."""

    def __init__(self, documents: Iterable[Entry], *, folds_case: bool = False) -> None:
        """`folds_case`: a path matches in any case, as BMCs need whose links disagree. ValueError for a repeat."""
        self._fold: Callable[[str], str] = str.lower if folds_case else str
        self._templates: dict[str, bytes] = {}
        for path, document in documents:
            if self._fold(path) in self._templates:
                raise ValueError(f"two resources at {path}")
            self._templates[self._fold(path)] = orjson.dumps(document)

    def __contains__(self, path: str) -> bool:
        """Whether there is a resource at `path` (without a trailing slash)."""
        return self._fold(path) in self._templates

    def __len__(self) -> int:
        """How many resources there are."""
        return len(self._templates)

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths."""
        return tuple(self._templates)

    @property
    def schemas(self) -> frozenset[str]:
        """The types of all resources, without the leading `#`."""
        return frozenset(kind.decode() for template in self._templates.values() for kind in _TYPE.findall(template))

    def render(self, path: str, resolve: Resolve) -> Document | None:
        """The document at `path` for one machine, or None; `resolve` takes a mark's name and its argument."""
        template = self._templates.get(self._fold(path))
        if template is None:
            return None
        document: Document = orjson.loads(_filled(template, resolve) if b"${" in template else template)
        return document


def _filled(template: bytes, resolve: Resolve) -> bytes:
    def fill(found: re.Match[bytes]) -> bytes:
        value = resolve(found[1].decode(), (found[2] or b"").decode())
        return orjson.dumps(value)[1:-1]

    return _MARK.sub(fill, template)
