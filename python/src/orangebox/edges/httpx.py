"""
Records what `httpx` clients send and receive, below a step::

    from orangebox.edges.httpx import recording_client

    client = OpenAI(http_client=recording_client(step))
"""

from __future__ import annotations

import httpx

from .httpx_transport import edge_for

recording_client, recording_async_client, RecordingTransport, AsyncRecordingTransport = edge_for(httpx)

__all__ = ["AsyncRecordingTransport", "RecordingTransport", "recording_async_client", "recording_client"]
