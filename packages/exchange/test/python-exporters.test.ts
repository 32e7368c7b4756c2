import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { type Event, validate, validateRun } from "@orangebox/contract"
import { afterEach, describe, expect, test } from "vitest"
import { openDoor } from "./otlp.js"
import { pythonOf } from "./python-peers.js"

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const python = pythonOf("otel")
const SCRIPT = fileURLToPath(new URL("children/instrumented.py", import.meta.url))

describe.skipIf(python === undefined)("[I-01] the official Python SDK", () => {
  for (const library of ["openinference", "openllmetry"]) {
    test(`with the instrumentation of ${library} tells of a real call against a scripted model`, async () => {
      const model = await listen((request, response) =>
        request.resume().on("end", () =>
          response.setHeader("content-type", "application/json").end(
            JSON.stringify({
              id: "chatcmpl-1",
              object: "chat.completion",
              created: 1,
              model: "gpt-5-2026",
              choices: [{ index: 0, message: { role: "assistant", content: "It is." }, finish_reason: "stop" }],
              usage: {
                prompt_tokens: 100,
                completion_tokens: 20,
                total_tokens: 120,
                prompt_tokens_details: { cached_tokens: 60 },
              },
            }),
          ),
        ),
      )
      const door = openDoor()
      const receiver = await listen((request, response) => {
        const pieces: Buffer[] = []
        request.on("data", (piece: Buffer) => pieces.push(piece))
        request.on("end", async () => {
          const { status, headers, body } = await door.door.handle(request.url!, request.headers, Buffer.concat(pieces))
          response.writeHead(status, headers).end(body)
        })
      })
      const child = spawn(python!, [SCRIPT, library, model, receiver], { stdio: ["ignore", "inherit", "inherit"] })
      const [exitCode] = (await once(child, "close")) as [number]
      expect(exitCode).toBe(0)
      const [events] = [...(await door.runs()).values()] as [Event[]]
      expect(events.flatMap((event) => validate(event))).toEqual([])
      expect(validateRun(events).filter(({ severity }) => severity === "error")).toEqual([])
      expect(events[0]!.payload).toMatchObject({ app_id: `py-${library}`, entrypoint_name: "answer the question" })
      const called = events.find(({ event_type }) => event_type === "model_called")!
      const result = events.find(({ event_type }) => event_type === "model_result")!
      expect(called.payload).toMatchObject({ model_id: "gpt-5" })
      expect(door.sink.textOf((called.payload as { request_ref: string }).request_ref)).toContain("Is it sunny?")
      expect(result.payload).toMatchObject({
        output_summary: "It is.",
        token_usage: { prompt: 100, completion: 20, cache_read: 60 },
      })
    })
  }
})
