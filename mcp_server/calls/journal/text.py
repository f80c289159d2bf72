"""Texts made safe for every database: no NUL, no lone surrogates, no more bytes than wanted (contract S08)."""


def safe_text(text: str) -> str:
    """Return the text without what a database refuses: NUL and lone surrogates become the replacement character."""
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # By way of UTF-16 a pair of surrogates becomes the character that it stands for.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def capped_text(text: str, max_bytes: int) -> str:
    """Return a safe text of at most `max_bytes` UTF-8 bytes and a note of what is missing."""
    text = safe_text(text)
    if len(text) * 4 <= max_bytes:
        return text
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    kept = data[:max_bytes].decode(errors="ignore")
    return f"{kept}… [{len(data) - len(kept.encode())} more bytes not recorded]"


def safe_json(value: object, depth: int = 64) -> object:
    """Return a JSON value whose texts are safe, cut off below `depth` levels."""
    if isinstance(value, str):
        return safe_text(value)
    if depth == 0 and isinstance(value, (dict, list, tuple)):
        return "…"
    if isinstance(value, dict):
        return {safe_text(str(key)): safe_json(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe_json(item, depth - 1) for item in value]
    return value
