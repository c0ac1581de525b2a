"""Raw output as evidence, capped."""

LIMIT_BYTES = 16 * 1024
_GAP = "\n[... {} bytes left out ...]\n"


def cap(text: str, limit_bytes: int = LIMIT_BYTES) -> str:
    """Return at most `limit_bytes` of UTF-8: head and tail, as the first and last lines say the most."""
    content = text.encode("utf-8", "replace")
    if len(content) <= limit_bytes:
        return content.decode("utf-8")
    half = (limit_bytes - len(_GAP) - 20) // 2
    gap = _GAP.format(len(content) - 2 * half)
    return content[:half].decode("utf-8", "ignore") + gap + content[-half:].decode("utf-8", "ignore")
