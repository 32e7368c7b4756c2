"""A model on loopback that answers by script, in the protocols of two providers, streamed and not."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedModel:
    def __init__(self) -> None:
        self.requests: list[tuple[str, dict, bytes]] = []
        self.text = "The leap year rule is simple."
        self.tool: tuple[str, dict] | None = None
        self.status = 200
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send(b'{"ok":true}', "application/json")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                model.requests.append((self.path, dict(self.headers), body))
                if model.status != 200:
                    return self._send(b'{"error":{"type":"overloaded","message":"later"}}', "application/json", model.status)
                asked = json.loads(body)
                if self.path.endswith("/messages"):
                    return self._anthropic(asked)
                return self._openai(asked)

            def _send(self, data: bytes, kind: str, status: int = 200, **headers):
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.send_header("x-request-id", "req_scripted")
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, frames):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for frame in frames:
                    data = frame.encode()
                    self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                    self.wfile.flush()
                self.wfile.write(b"0\r\n\r\n")

            def _openai(self, asked):
                usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
                base = {"id": "chatcmpl-1", "created": 1, "model": asked["model"]}
                tool, model.tool = model.tool, None
                message: dict = {"role": "assistant", "content": None if tool else model.text}
                if tool:
                    function = {"name": tool[0], "arguments": json.dumps(tool[1])}
                    message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
                reason = "tool_calls" if tool else "stop"
                if not asked.get("stream"):
                    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
                    data = json.dumps({**base, "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
                    if "gzip" in self.headers.get("accept-encoding", ""):
                        return self._send(gzip.compress(data), "application/json", content_encoding="gzip")
                    return self._send(data, "application/json")
                base["object"] = "chat.completion.chunk"
                frames = [
                    {**base, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
                    for piece in pieces_of(model.text)
                ]
                frames.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                frames.append({**base, "choices": [], "usage": usage})
                self._stream([*(f"data: {json.dumps(frame)}\n\n" for frame in frames), "data: [DONE]\n\n"])

            def _anthropic(self, asked):
                usage = {"input_tokens": 13, "output_tokens": 9, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 0}
                message = {
                    "id": "msg_1",
                    "type": "message",
                    "role": "assistant",
                    "model": asked["model"],
                    "content": [{"type": "text", "text": model.text}],
                    "stop_reason": "end_turn",
                    "stop_sequence": None,
                    "usage": usage,
                }
                if not asked.get("stream"):
                    return self._send(json.dumps(message).encode(), "application/json")
                start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
                events = [
                    {"type": "message_start", "message": start},
                    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                    *(
                        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
                        for piece in pieces_of(model.text)
                    ),
                    {"type": "content_block_stop", "index": 0},
                    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 9}},
                    {"type": "message_stop"},
                ]
                self._stream([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events])

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def pieces_of(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]
