import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { diagnosisJson, diagnosisText } from "@orangebox/query"
import { Recorder, type Run } from "@orangebox/recorder"
import { estimateTokens } from "@orangebox/text"
import { afterEach, beforeEach, expect, onTestFinished } from "vitest"
import { type DiagnosisAsked, diagnoseRun, findRun, readStore } from "../../src/index.js"

export type Json = Record<string, unknown>

export let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "orangebox-diagnose-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

export type Capture = "full" | "redacted" | "hashed"

/** Records one run, and what it is diagnosed with. */
export async function diagnosed(
  work: (run: Run, recorder: Recorder) => Promise<void> | void,
  capture: Capture = "redacted",
) {
  const recorder = Recorder.open({ app: "agent", folder, cwd: folder, capture, environment: "local" })
  const run = recorder.startRun({ entrypoint: "fix", input: "fix it", conversationId: "c-1" })
  await work(run, recorder)
  recorder.close()
  return diagnosisOf(run.runId)
}

export const diagnosisOf = (runId: string, told: DiagnosisAsked = {}) =>
  readStore({ data: folder }, async ({ store }) => {
    const loaded = await findRun(store, runId)
    const diagnosis = await diagnoseRun(store, store, loaded, { data: folder, ...told })
    const text = diagnosisText(loaded.view, diagnosis, { address: "last" })
    const json = diagnosisJson(loaded.view, diagnosis, { address: "last", budget: 100_000 })
    expect(estimateTokens(text)).toBeLessThanOrEqual(800)
    for (const { evidence } of diagnosis.findings) {
      expect(evidence.length).toBeGreaterThan(0)
      for (const { n, runId: other } of evidence) if (other === null) expect(loaded.view.steps[n - 1]).toBeDefined()
    }
    const bad = json.findings.filter(({ severity }) => severity === "fatal" || severity === "harm")
    return { json, text, bad, top: json.findings[0] }
  })

/** A server that answers with one thing after the other. */
export async function serving(...answers: readonly ((response: ServerResponse) => void)[]): Promise<string> {
  let next = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => answers[Math.min(next++, answers.length - 1)]!(response))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/messages`
}

export const said =
  (content: Json[] = [{ type: "text", text: "ok" }], more: Json = {}) =>
  (response: ServerResponse) => {
    response.setHeader("content-type", "application/json")
    const usage = { input_tokens: 100, output_tokens: 5 }
    response.end(
      JSON.stringify({
        type: "message",
        id: "msg_1",
        role: "assistant",
        model: "m",
        content,
        stop_reason: "end_turn",
        usage,
        ...more,
      }),
    )
  }
export const refused = (status: number, message: string) => (response: ServerResponse) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }))
}
export const use = (id: string): Json => ({ type: "tool_use", id, name: "read", input: {} })
export const result = (id: string): Json => ({ type: "tool_result", tool_use_id: id, content: "text" })
export const asked = (...turns: Json[][]): Json => ({
  model: "claude-x",
  max_tokens: 9,
  tools: [{ name: "read", input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: "go" },
    ...turns.map((content, at) => ({ role: at % 2 === 0 ? "assistant" : "user", content })),
  ],
})
export const send = async (run: Run, url: string, body: Json): Promise<void> => {
  await (await run.fetch(url, { method: "POST", body: JSON.stringify(body) })).text()
}
