import type { ServerResponse } from "node:http"
import type { Refusal } from "./route.js"

/** Answers in our own name, and says so: a client must never take this for the upstream's word. */
export function refuse(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = JSON.stringify({
    error: { type: "orangebox_proxy", code: refusal.code, message: `orangebox proxy: ${refusal.message}` },
  })
  response.writeHead(refusal.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-orangebox-proxy": refusal.code,
    connection: "close",
  })
  response.end(body)
}
