import { MemorySink, type Run } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import { type Exchange, hasCorpora, readCassettes } from "../../dialects/test/corpus/cassette.js"
import { replayByEngine, replayRecorder } from "../src/index.js"
import { recordRun, withUpstream } from "./recorded.js"

/** Cassettes are many and much alike; every third one still has every provider, streams, errors and repeated questions. */
const EVERY = 3

describe.skipIf(!hasCorpora)("recorded traffic of others (skipped where the corpora are absent)", () => {
  const cassettes = new Map<string, Exchange[]>()
  for (const { exchanges } of ["cassettes-pydantic-ai", "cassettes-openllmetry"].map(readCassettes)) {
    for (const exchange of exchanges) {
      const cassette = cassettes.get(exchange.file) ?? []
      cassette.push(exchange)
      cassettes.set(exchange.file, cassette)
    }
  }
  const chosen = [...cassettes].filter((_, index) => index % EVERY === 0)

  test("[P-03] every cassette recorded and replayed gives byte-equal answers and a certificate, without its server", async () => {
    let count = 0
    for (const [file, exchanges] of chosen) {
      const answers = [...exchanges]
      const agent = (url: string) => async (run: Run) => {
        const seen: Buffer[] = []
        for (const { method, path, request } of exchanges) {
          const hasBody = method !== "GET" && method !== "HEAD"
          const response = await run.fetch(`${url}${path}`, {
            method,
            headers: { "content-type": "application/json" },
            ...(hasBody ? { body: Uint8Array.from(request) } : {}),
          })
          seen.push(Buffer.from(await response.arrayBuffer()))
          count++
        }
        run.complete({ output: "done" })
        return seen
      }
      let url = ""
      const source = await withUpstream(
        (_request, response) => {
          const { status, response: body } = answers.shift()!
          const isStream = /^(?:event|data|id|:)/.test(body.subarray(0, 8).toString())
          response.writeHead(status, { "content-type": isStream ? "text/event-stream" : "application/json" })
          response.end(body)
        },
        (address) => {
          url = address
          return recordRun(agent(address))
        },
      )
      expect(replayByEngine(source.tape, source).certification, file).toMatchObject({ issued: true })

      const recorder = replayRecorder(source.tape, {
        app: "test",
        environment: "local",
        capture: "full",
        sink: new MemorySink(),
      })
      const served = await agent(url)(recorder.startRun({ entrypoint: "agent", input: "go" }))
      recorder.close()
      for (const [index, { response }] of exchanges.entries()) {
        expect(served[index]!.equals(response), `${file} #${index}`).toBe(true)
      }
      expect(recorder.certify(source), file).toMatchObject({ issued: true })
    }
    console.log(`${chosen.length} cassettes, ${count / 2} exchanges replayed byte for byte`)
  })
})
