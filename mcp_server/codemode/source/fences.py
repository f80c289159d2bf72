"""The code inside an answer that also holds prose: what stands in Markdown fences, everything else blanked."""

import re
from dataclasses import dataclass

from mcp_server.codemode.source.text import Text, blanks

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\r\n`]*)(?=[\r\n]|\Z)", re.MULTILINE)
_ONE_LINE = re.compile(
    r"\s*(?P<mark>`{3,})(?:javascript|js|typescript|ts)[ \t]+(?P<code>[^\r\n]*?)(?P=mark)`*\s*"
)
_JAVASCRIPT = frozenset(
    {"js", "javascript", "mjs", "cjs", "jsx", "node", "ts", "typescript", "mts", "cts", "tsx", "ecmascript"}
)


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    language: str
    opening: int


def unfence(source: Text) -> str:
    """The units of the text with all but the fenced code blanked; the text itself if it has no fence.

    Blocks marked as JavaScript or TypeScript win over unmarked ones, and several are taken together, in order.

    Raises:
        SourceError: every fence is marked as another language.
    """
    units = source.units
    if "```" not in units and "~~~" not in units:
        return units
    if one_line := _ONE_LINE.fullmatch(units):
        return _keep(units, [one_line.span("code")])
    blocks = _blocks(units)
    if not blocks:
        return units
    chosen = [block for block in blocks if block.language in _JAVASCRIPT]
    chosen = chosen or [block for block in blocks if not block.language]
    if not chosen:
        language = blocks[0].language
        message = f"The fenced block is marked `{language}`. Send JavaScript or TypeScript."
        raise source.error("nothing_to_run", blocks[0].opening, message)
    return _keep(units, [(block.start, block.end) for block in chosen])


def _blocks(units: str) -> list[_Block]:
    blocks: list[_Block] = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(units):
        if opening is None:
            opening = fence
        elif _closes(fence, opening):
            blocks.append(_block(opening, fence.start()))
            opening = None
    if opening is not None:
        blocks.append(_block(opening, len(units)))
    return blocks


def _closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    return not fence["info"].strip() and fence["mark"].startswith(opening["mark"])


def _block(opening: re.Match[str], end: int) -> _Block:
    words = re.split(r"[\s{,:]", opening["info"].strip().lower(), maxsplit=1)
    return _Block(opening.end(), end, words[0].lstrip("."), opening.start("mark"))


def _keep(units: str, spans: list[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts += [blanks(units[done:start]), units[start:end]]
        done = end
    return "".join([*parts, blanks(units[done:])])
