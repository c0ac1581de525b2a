"""Answers as bytes."""

import gzip

import orjson

from emulator.redfish.http import Response


def encode(response: Response) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Body and headers of an answer."""
    body = orjson.dumps(response.document) if response.document is not None else response.content or b""
    zipped = response.zipped and response.document is not None
    if zipped:
        body = gzip.compress(body, compresslevel=1, mtime=0)
    headers = {"Content-Length": str(len(body)), "OData-Version": "4.0", "Cache-Control": "no-cache"}
    if response.document is not None:
        headers["Content-Type"] = "application/json; charset=utf-8"
    if zipped:
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    headers.update(response.headers)
    if response.status in (204, 304) or response.stream is not None:
        del headers["Content-Length"]
    return body, [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
