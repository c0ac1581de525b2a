"""The BMC's own words in an error answer, whatever shape it gave them (DSP0266, "Error responses")."""

from collections.abc import Iterator
from typing import Any

import orjson

EXTENDED_INFO = "@Message.ExtendedInfo"
LONGEST = 500


def words_of(content: bytes) -> str:
    """All messages of an error body, joined; empty when it has none that can be read."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return ""
    unique = dict.fromkeys(text.strip() for text in _texts(body) if text.strip())
    return "; ".join(unique)[:LONGEST]


def extended_info(body: Any) -> Iterator[dict[str, Any]]:
    """Every message object of an answer: in `error`, at the top, as a list or as a single object."""
    if not isinstance(body, dict):
        return
    for holder in (body.get("error"), body):
        info = holder.get(EXTENDED_INFO) if isinstance(holder, dict) else None
        for one in info if isinstance(info, list) else [info]:
            if isinstance(one, dict):
                yield one
            elif isinstance(one, str):
                yield {"Message": one}


def _texts(body: Any) -> Iterator[str]:
    found = False
    for info in extended_info(body):
        text = info.get("Message") or info.get("MessageId")
        if isinstance(text, str):
            found = True
            yield text
    error = body.get("error") if isinstance(body, dict) else body
    if isinstance(error, dict) and not found:
        error = error.get("message") or error.get("code")
    if isinstance(error, str) and not found:
        yield error
