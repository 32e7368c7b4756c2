"""Addresses of bodies, and digests that identify a call without naming a body."""

from __future__ import annotations

import hashlib

from . import canonical_json, json_text, utf16

CANON_VERSION = 1
"""Of everything that decides a digest of a call."""
GENERIC_CANON_VERSION = 0
"""Of the form in which an application tells a question whose protocol the recorder does not read."""


def body_hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def text_hash(text: str) -> str:
    return body_hash(utf16.to_bytes(text))


def call_digest(kind: str, *parts: str) -> str:
    return text_hash("\0".join((f"obx-sig\0{CANON_VERSION}\0{kind}", *parts)))


def tool_signature(name: str, args: object) -> str:
    return call_digest("tool", name, canonical_json.canonical_json(args), "")


def tool_signature_of_text(name: str, argument_text: str) -> str:
    try:
        canonical = canonical_json.canonical_json_text(argument_text)
    except (ValueError, RecursionError):
        canonical = json_text.quoted(argument_text)
    return call_digest("tool", name, canonical, "")


def generic_signature(provider: str, asked: str) -> str:
    return text_hash(f"obx-sig\0{GENERIC_CANON_VERSION}\0model\0{provider}\0{asked}")


def retriever_signature(query: str, index: str, index_version: object, top_k: object, filters: object) -> str:
    asked = {"query": query, "index": index, "indexVersion": index_version, "topK": top_k, "filters": filters}
    return call_digest("retriever", canonical_json.canonical_json(asked))


_SESSION_META = frozenset(
    ("progressToken", "traceparent", "tracestate", "baggage", "io.modelcontextprotocol/clientInfo")
)


def mcp_signature(method: str, params_text: str) -> str:
    """An MCP request by method and params, without what is different in every session and decides nothing."""
    try:
        params = canonical_json.read("{}" if params_text == "" else params_text)
    except (ValueError, RecursionError):
        return call_digest("mcp", method, json_text.quoted(params_text))
    if isinstance(params, canonical_json.Members):
        kept = canonical_json.Members()
        for key, value in params:
            if key == "clientInfo":
                continue
            if key == "_meta" and isinstance(value, canonical_json.Members):
                value = canonical_json.Members(item for item in value if item[0] not in _SESSION_META)
                if not value:
                    continue
            kept.append((key, value))
        params = kept
    return call_digest("mcp", method, canonical_json.canonical_json(params))
