"""
Records what `httpx2` clients send and receive, below a step::

    from orangebox.edges.httpx2 import recording_client

    client = Anthropic(http_client=recording_client(step))
"""

from __future__ import annotations

import httpx2

from .httpx_transport import edge_for

recording_client, recording_async_client, RecordingTransport, AsyncRecordingTransport = edge_for(httpx2)

__all__ = ["AsyncRecordingTransport", "RecordingTransport", "recording_async_client", "recording_client"]
