import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { recordedProxy } from "./recorded-proxy.js"
import { messageRequest, sendPieces, startUpstream } from "./upstream.js"

const FIXTURES = new URL("../../../../shared/corpora/fixtures-vercel-ai/", import.meta.url).pathname

/** Real answers of many providers, as event streams where they were recorded as lines of events. */
function recordedAnswers(): { name: string; bytes: Buffer; type: string }[] {
  return readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:chunks\.txt|json)\.gz$/.test(name))
    .map((name) => {
      const bytes = gunzipSync(readFileSync(join(FIXTURES, name)))
      if (name.includes(".json")) return { name, bytes, type: "application/json" }
      const events = bytes.toString("utf8").trimEnd().split("\n")
      return { name, bytes: Buffer.from(events.map((line) => `data: ${line}\n\n`).join("")), type: "text/event-stream" }
    })
}

test.skipIf(!existsSync(FIXTURES))(
  "[K-02] answers recorded from many providers pass and are stored byte for byte, in pieces of any size",
  async () => {
    const answers = recordedAnswers()
    let current = answers[0]!
    let seed = 1
    const upstream = await startUpstream(async (_, response) => {
      response.writeHead(200, { "content-type": current.type })
      const pieces: Buffer[] = []
      for (let at = 0; at < current.bytes.length; ) {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        const size = 1 + (seed % Math.max(64, current.bytes.length >> 3))
        pieces.push(current.bytes.subarray(at, at + size))
        at += size
      }
      await sendPieces(response, pieces)
      response.end()
    })
    const proxy = await recordedProxy({ anthropic: upstream.origin })
    const paths = ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/anything/else"]
    for (const [index, answer] of answers.entries()) {
      current = answer
      const response = await fetch(`${proxy.urlFor("anthropic")}${paths[index % paths.length]}`, {
        method: "POST",
        body: messageRequest([{ role: "user", content: `question ${index}` }], { tools: [] }),
      })
      expect(Buffer.from(await response.arrayBuffer()).equals(answer.bytes), answer.name).toBe(true)
      const ended = proxy
        .events()
        .findLast(({ event_type }) => event_type === "model_result" || event_type === "step_ended")!
      const ref = ended.artifact_refs.find(
        ({ artifact_type }) => artifact_type === "response" || artifact_type === "body",
      )
      expect(proxy.body(ref?.artifact_hash)?.equals(answer.bytes), answer.name).toBe(true)
    }
    expect(answers.length).toBeGreaterThan(30)
  },
)
