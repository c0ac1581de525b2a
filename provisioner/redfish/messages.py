"""The BMC's own words in an error answer, whatever shape it gave them (DSP0266, "Error responses")."""

from collections.abc import Iterator
from typing import Any

import orjson

EXTENDED_INFO = "@Message.ExtendedInfo"
LONGEST = 500
FINE = frozenset({"Success", "Accepted", "Created", "NoOperation"})
"""Messages of the Base registry (DSP8011) that say that all is well."""


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


def ids_of(content: bytes) -> tuple[str, ...]:
    """MessageIds of all messages of an answer, without registry and version: some BMCs leave those out."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return ()
    error = body.get("error") if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    found = [one.get("MessageId") for one in extended_info(body)] + [code]
    return tuple(dict.fromkeys(one.rpartition(".")[2] for one in found if isinstance(one, str) and one))


def failure_in(content: bytes) -> str:
    """What an answer with a good status says went wrong; empty when nothing did.

    bmcweb#75: a push was answered 200, with "Success" at the top of the body and the error beside it.
    """
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(body, dict):
        return ""
    inner = body.get("error")
    wrong = [one for one in extended_info({EXTENDED_INFO: body.get(EXTENDED_INFO)}) if _severity(one) == "critical"]
    if isinstance(inner, dict):
        told = list(extended_info(inner))
        wrong += [one for one in told if not _is_fine(one)]
        if not told and not _is_fine({"MessageId": inner.get("code"), "Message": inner.get("message")}):
            wrong.append({"Message": inner.get("message"), "MessageId": inner.get("code")})
    words = (one.get("Message") or one.get("MessageId") or "an error without words" for one in wrong)
    return "; ".join(dict.fromkeys(str(one) for one in words))[:LONGEST]


def _severity(one: dict[str, Any]) -> str:
    return str(one.get("MessageSeverity") or one.get("Severity") or "").lower()


def _is_fine(one: dict[str, Any]) -> bool:
    known = str(one.get("MessageId") or "").rpartition(".")[2] in FINE
    return known or _severity(one) == "ok"


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
