import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { detectDialect } from "@orangebox/dialects"
import { describe, expect, test } from "vitest"
import { readCassettes } from "../../../dialects/test/corpus/cassette.js"
import { contractProblems, recordInMemory } from "../recording.js"
import { loopback, sendPieces } from "./loopback.js"

const CORPORA = new URL("../../../../../shared/corpora/", import.meta.url).pathname
const here = describe.skipIf(!existsSync(CORPORA))

interface Exchange {
  readonly file: string
  readonly path: string
  readonly request: Buffer
  readonly status: number
  readonly response: Buffer
}

here("[K-01] recorded traffic through the fetch edge (skipped where the corpora are absent)", () => {
  test.each(["cassettes-pydantic-ai", "cassettes-openllmetry", "fixtures-vercel-ai"])(
    "%s: what is stored is what was sent",
    async (folder) => {
      const exchanges = folder.startsWith("cassettes") ? cassetteExchanges(folder) : fixtureExchanges(folder)
      expect(exchanges.length).toBeGreaterThan(10)
      let current: Exchange = exchanges[0]!
      const server = await loopback((_, response) => {
        response.writeHead(current.status, {
          "content-type": current.response[0] === 0x7b ? "application/json" : "text/event-stream",
        })
        const { response: bytes } = current
        // An odd size, so that characters and lines are cut.
        const pieces = Array.from({ length: Math.ceil(bytes.length / 1021) }, (_, i) =>
          bytes.subarray(i * 1021, (i + 1) * 1021),
        )
        return sendPieces(response, pieces.slice(0, 40).concat(bytes.subarray(Math.min(40, pieces.length) * 1021)))
      })
      for (const exchange of exchanges) {
        current = exchange
        const { recorder, sink } = recordInMemory({ strict: true })
        const run = recorder.startRun({ entrypoint: "replay" })
        const response = await run.fetch(server.url + exchange.path, { method: "POST", body: exchange.request })
        expect(Buffer.from(await response.arrayBuffer()).equals(exchange.response), exchange.file).toBe(true)
        run.complete()
        expect(contractProblems(sink), exchange.file).toEqual([])
        const called = sink.events.find((event) => event.event_type === "model_called")
        const result = sink.events.find((event) => event.event_type === "model_result")
        expect(called && Buffer.from(sink.bodies.get(called.payload.request_ref)!), exchange.file).toEqual(
          exchange.request,
        )
        expect(server.seen.at(-1)!.body.equals(exchange.request), exchange.file).toBe(true)
        const stored = result?.payload.response_ref
        if (exchange.response.length > 0)
          expect(Buffer.from(sink.bodies.get(stored!)!).equals(exchange.response), exchange.file).toBe(true)
        expect(result?.payload.http_status, exchange.file).toBe(exchange.status)
      }
      console.log(`${folder}: ${exchanges.length} exchanges`)
    },
  )
})

function cassetteExchanges(folder: string): Exchange[] {
  return readCassettes(folder).exchanges.filter(
    (exchange) => detectDialect({ ...exchange, requestBody: exchange.request })?.endpoint === "generate",
  )
}

/** Streams recorded at providers, one JSON value of the stream to a line. */
function fixtureExchanges(folder: string): Exchange[] {
  const paths: Record<string, string> = {
    anthropic: "/v1/messages",
    openai: "/v1/responses",
    "openai-compatible": "/v1/chat/completions",
    deepseek: "/v1/chat/completions",
    mistral: "/v1/chat/completions",
    xai: "/v1/chat/completions",
  }
  return Object.entries(paths).flatMap(([provider, path]) =>
    filesBelow(join(folder, provider), ".chunks.txt.gz").map((file) => {
      const lines = gunzipSync(readFileSync(file))
        .toString("utf8")
        .split("\n")
        .filter((line) => line.trim() !== "")
      const response = Buffer.from(
        lines.map((line) => (line.startsWith("data:") ? `${line}\n\n` : `data: ${line}\n\n`)).join(""),
      )
      return { file, path, request: Buffer.from('{"model":"m","stream":true,"messages":[]}'), status: 200, response }
    }),
  )
}

function filesBelow(folder: string, ending: string): string[] {
  const root = join(CORPORA, folder)
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(root, name))
    .sort()
}
