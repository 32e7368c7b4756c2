import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { MemorySink, Recorder, type Run } from "@orangebox/recorder"
import { type Recording, type Tape, tapeOf } from "../src/index.js"

/** A run recorded by the real recorder, as plain data. */
export async function recordRun(agent: (run: Run) => unknown): Promise<Recording & { readonly tape: Tape }> {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", environment: "local", capture: "full", sink })
  const run = recorder.startRun({ entrypoint: "agent", input: "go" })
  try {
    await agent(run)
    run.complete({ output: "done" })
  } catch (error) {
    run.fail(error)
  }
  recorder.close()
  return recordingOf(sink)
}

export function recordingOf(sink: MemorySink): Recording & { readonly tape: Tape } {
  const recording = { events: sink.events, bodies: sink.bodies }
  return { ...recording, tape: tapeFrom(recording) }
}

export function tapeFrom(recording: Recording, runId?: string): Tape {
  const reading = tapeOf(recording.events, recording.bodies, runId === undefined ? {} : { runId })
  if (!reading.ok) throw new Error(reading.problems[0]?.reason)
  return reading.tape
}

export type Answering = (request: { body: string; url: string; count: number }, response: ServerResponse) => void

/** A model server on this machine, for as long as the work takes. `asked` says how often it was reached. */
export async function withUpstream<T>(
  answer: Answering,
  work: (url: string, asked: () => number) => Promise<T>,
): Promise<T> {
  let count = 0
  const server: Server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () =>
      answer({ body: Buffer.concat(pieces).toString("utf8"), url: request.url ?? "", count: ++count }, response),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    return await work(url, () => count)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

export const messages = (texts: readonly string[], more: object = {}): string =>
  JSON.stringify({
    model: "claude-x",
    max_tokens: 100,
    ...more,
    messages: texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content })),
  })

export const anthropicAnswer = (text: string): string =>
  JSON.stringify({
    id: `msg_${text.length}`,
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 2 },
  })

export async function post(fetch: typeof globalThis.fetch, url: string, body: string): Promise<string> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body,
  })
  return `${response.status} ${await response.text()}`
}
