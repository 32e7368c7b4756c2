"""
One journal line is `{"crc":"xxxxxxxx","k":"<kind>",…}` and a newline. The checksum is the CRC-32 of every byte after
`{"crc":"xxxxxxxx",` up to the newline.
"""

from __future__ import annotations

import base64
from zlib import crc32

from ..contract import json_text
from ..contract.json_text import quoted

FORMAT_VERSION = 1
MAX_LINE_BYTES = 64 * 1024 * 1024
TORN_MARK = b"#\n"
"""Ends a fragment that a short write left behind, before the next line starts."""
INLINE_BYTES = 512
"""Up to here a body stands in the line itself, above it goes raw into the sidecar."""


def line_of(content: bytes) -> bytes:
    """`content` is everything from `"k":` to the closing brace."""
    return b'{"crc":"%08x",%b\n' % (crc32(content), content)


def object_line(kind: str, members: dict[str, object]) -> bytes:
    return line_of(f'"k":"{kind}",{json_text.ours(members)[1:]}'.encode())


def event_line(json: str, bodies_json: str) -> bytes:
    return line_of(f'"k":"event","e":{json}{bodies_json}'.encode())


def inline_json(data: bytes) -> str:
    try:
        # Decoding is lossless only for well-formed UTF-8.
        return f'"n":{len(data)},"t":{quoted(data.decode())}'
    except UnicodeDecodeError:
        return f'"n":{len(data)},"b64":"{base64.b64encode(data).decode("ascii")}"'
