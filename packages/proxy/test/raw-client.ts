import { connect, type Socket } from "node:net"

/** What came over a bare connection until it ended, and how it ended. */
export interface RawAnswer {
  readonly bytes: Buffer
  readonly ending: "closed" | "reset"
}

/** Speaks to a port without an HTTP client in between, so that nothing is made nicer than it is. */
export function rawRequest(port: number, text: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let ending: RawAnswer["ending"] = "closed"
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(text))
    socket.on("data", (piece) => pieces.push(piece))
    socket.on("error", () => {
      ending = "reset"
    })
    socket.on("close", () => resolve({ bytes: Buffer.concat(pieces), ending }))
  })
}

/** The body of a chunked answer as far as it came, and whether its end did. */
export function unchunk(bytes: Buffer): { head: string; body: Buffer; isWhole: boolean } {
  const split = bytes.indexOf("\r\n\r\n")
  const head = bytes.subarray(0, split).toString("latin1")
  let at = split + 4
  const pieces: Buffer[] = []
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd < 0) return { head, body: Buffer.concat(pieces), isWhole: false }
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16)
    if (size === 0) return { head, body: Buffer.concat(pieces), isWhole: true }
    pieces.push(bytes.subarray(lineEnd + 2, Math.min(lineEnd + 2 + size, bytes.length)))
    at = lineEnd + 2 + size + 2
    if (at > bytes.length) return { head, body: Buffer.concat(pieces), isWhole: false }
  }
}
