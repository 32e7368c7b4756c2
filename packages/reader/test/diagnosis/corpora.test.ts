import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { detectDialect } from "@orangebox/dialects"
import { Recorder, type Run } from "@orangebox/recorder"
import { describe, expect, onTestFinished, test } from "vitest"
import { type Exchange, hasCorpora, readCassettes } from "../../../dialects/test/corpus/cassette.js"
import { diagnoseRun, findRun, readStore } from "../../src/index.js"
import { type Call, corpusSessions, type Session } from "./corpus-turns.js"
import { folder } from "./diagnosed.js"

const THE_FIVE = ["crash", "corrupted_history", "double_delivery", "misroute", "cache_bust"]

/** A model that answers with what it is told to, and the recorder of an agent that asks it. */
async function stage() {
  const answer = { status: 200, body: Buffer.alloc(0) }
  const server = createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      const isJson = /^\s*[[{]/.test(answer.body.subarray(0, 8).toString("latin1"))
      response.writeHead(answer.status, { "content-type": isJson ? "application/json" : "text/event-stream" })
      response.end(answer.body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const recorder = Recorder.open({ app: "corpus", folder, cwd: folder, capture: "full", environment: "local" })
  return { answer, recorder, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

type Stage = Awaited<ReturnType<typeof stage>>

/** The findings that say that something is bad, of each run. */
async function badFindings(runs: ReadonlyMap<string, string>): Promise<string[]> {
  return readStore({ data: folder }, async ({ store }) => {
    const bad: string[] = []
    for (const [runId, name] of runs) {
      const { findings } = await diagnoseRun(store, store, await findRun(store, runId), { data: folder })
      const worst = findings.find(({ severity }) => severity === "fatal" || severity === "harm")
      if (worst) bad.push(`${worst.detector} ${worst.kind ?? ""} #${worst.cause} in ${name}`)
      for (const { detector, severity } of findings)
        if (THE_FIVE.includes(detector) && severity !== "notice") bad.push(`THE FIVE: ${detector} in ${name}`)
    }
    return bad
  })
}

function expectClean(what: string, runs: number, bad: readonly string[]): void {
  console.log(
    `${what}: ${runs} runs, ${bad.length} with a fatal or harm finding${bad.map((one) => `\n  ${one}`).join("")}`,
  )
  expect(bad.filter((one) => one.startsWith("THE FIVE"))).toEqual([])
  expect(bad.length, bad.join("\n")).toBeLessThanOrEqual(Math.floor(runs * 0.01))
}

describe.skipIf(!hasCorpora)(
  "[G-03] runs that others published and nobody called broken (skipped where the corpora are absent)",
  () => {
    test("recorded traffic of client libraries", { timeout: 600_000 }, async () => {
      const { answer, recorder, origin } = await stage()
      const runs = new Map<string, string>()
      for (const corpus of ["cassettes-pydantic-ai", "cassettes-openllmetry"]) {
        const byFile = new Map<string, Exchange[]>()
        for (const exchange of readCassettes(corpus).exchanges) {
          byFile.set(exchange.file, [...(byFile.get(exchange.file) ?? []), exchange])
        }
        for (const [file, exchanges] of byFile) {
          // What a provider refused, at once or in its stream, was recorded to show a failure; of what also uses other endpoints the calls alone are not the run.
          if (exchanges.some(({ status }) => status >= 400) || file.includes("stream_error")) continue
          if (!exchanges.every(isModelCall)) continue
          const run = recorder.startRun({ entrypoint: "cassette", input: file })
          for (const { path, request, status, response } of exchanges) {
            Object.assign(answer, { status, body: response })
            await (await run.fetch(origin + path, { method: "POST", body: new Uint8Array(request) })).arrayBuffer()
          }
          run.complete()
          runs.set(run.runId, file)
        }
      }
      recorder.close()
      expect(runs.size).toBeGreaterThan(100)
      expectClean("cassettes", runs.size, await badFindings(runs))
    })

    test("transcripts, trajectories and evaluation logs", { timeout: 600_000 }, async () => {
      const theStage = await stage()
      const runs = new Map<string, string>()
      for (const session of corpusSessions()) runs.set(await played(theStage, session), session.name)
      theStage.recorder.close()
      expect(runs.size).toBeGreaterThan(60)
      expectClean("sessions", runs.size, await badFindings(runs))
    })
  },
)

const isModelCall = (exchange: Exchange): boolean =>
  exchange.method === "POST" && detectDialect({ ...exchange, requestBody: exchange.request })?.endpoint === "generate"

/** A session done again: every request holds what was said so far, every tool gives back what it gave. */
async function played({ answer, recorder, origin }: Stage, { name, turns }: Session): Promise<string> {
  const run = recorder.startRun({ entrypoint: "session", input: name })
  const messages: object[] = []
  const asked = new Map<string, Call>()
  const tools = [...new Set(turns.flatMap((turn) => (turn.by === "model" ? turn.calls.map((call) => call.name) : [])))]
  for (const turn of turns) {
    if (turn.by === "person") messages.push({ role: "user", content: turn.text })
    else if (turn.by === "tool") {
      const call = asked.get(turn.id)
      // What was asked before the session began has no place in it.
      if (call === undefined) continue
      await useTool(run, call, turn)
      messages.push({ role: "tool", tool_call_id: turn.id, content: turn.text })
    } else {
      for (const call of turn.calls) asked.set(call.id, call)
      const calls = turn.calls.map(({ id, name: tool, args }) => ({
        ...{ id, type: "function", function: { name: tool, arguments: JSON.stringify(args) } },
      }))
      const message = { role: "assistant", content: turn.text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
      await askModel(run, { answer, origin }, messages, tools, message)
      messages.push(message)
    }
  }
  run.complete({ output: "done" })
  return run.runId
}

async function askModel(
  run: Run,
  { answer, origin }: Pick<Stage, "answer" | "origin">,
  messages: readonly object[],
  names: readonly string[],
  message: object,
): Promise<void> {
  const reply = {
    ...{ id: "chatcmpl-1", object: "chat.completion", model: "gpt-4o" },
    choices: [{ index: 0, message, finish_reason: "tool_calls" in message ? "tool_calls" : "stop" }],
    usage: { prompt_tokens: 500, completion_tokens: 20, total_tokens: 520 },
  }
  Object.assign(answer, { status: 200, body: Buffer.from(JSON.stringify(reply)) })
  const tools = names.map((name) => ({ type: "function", function: { name, parameters: { type: "object" } } }))
  const body = JSON.stringify({ model: "gpt-4o", messages, ...(tools.length > 0 ? { tools } : {}) })
  await (await run.fetch(`${origin}/v1/chat/completions`, { method: "POST", body })).arrayBuffer()
}

async function useTool(run: Run, call: Call, { text, isError }: { text: string; isError: boolean }): Promise<void> {
  await run
    .tool({ name: call.name, args: call.args, callId: call.id }, () => {
      if (isError) throw new Error(text.slice(0, 400))
      return text
    })
    .catch(() => {})
}
