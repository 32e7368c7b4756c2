import { type ChildProcess, fork } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Event, EventType } from "@orangebox/contract"
import { listJournals, readJournalBody, tailJournal } from "@orangebox/journal"
import { expect, onTestFinished, test } from "vitest"
import type { CommandVerdict, StartedCommand } from "../src/index.js"
import { eventually } from "./recorded-proxy.js"
import { messageStream, startUpstream } from "./upstream.js"

const ANSWER = messageStream({ text: "Hello" })
const child = (name: string): string => new URL(`children/${name}`, import.meta.url).pathname

interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly verdict: CommandVerdict
}

interface Recording {
  readonly process: ChildProcess
  readonly folder: string
  readonly warnings: string[]
  stdout(): string
  started(): StartedCommand | undefined
  failed(): string | undefined
  readonly ended: Promise<Ended | undefined>
}

function record(command: readonly string[], env: Record<string, string> = {}): Recording {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-proxy-"))
  const process_ = fork(child("record.mjs"), [folder, ...command], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
    env: { PATH: process.env["PATH"], ...env },
    execArgv: [],
  })
  let stdout = ""
  let started: StartedCommand | undefined
  let failed: string | undefined
  let result: Ended | undefined
  const warnings: string[] = []
  process_.stdout!.on("data", (data: Buffer) => {
    stdout += data.toString()
  })
  process_.on("message", (message: { kind: string } & Record<string, unknown>) => {
    if (message.kind === "started") started = message as unknown as StartedCommand
    else if (message.kind === "ended") result = message as unknown as Ended
    else if (message.kind === "failed") failed = String(message["message"])
    else warnings.push(String(message["message"]))
  })
  const ended = new Promise<Ended | undefined>((resolve) => process_.on("close", () => resolve(result)))
  onTestFinished(async () => {
    process_.kill("SIGKILL")
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    process: process_,
    folder,
    warnings,
    stdout: () => stdout,
    started: () => started,
    failed: () => failed,
    ended,
  }
}

/** Everything in the journals of a data folder. */
function readFolder(folder: string) {
  const events: Event[] = []
  const bodies = new Map<string, Uint8Array>()
  let streamed = 0
  for (const file of listJournals(join(folder, "journal"))) {
    for (const item of tailJournal(file.path)) {
      if (item.kind === "problem") continue
      if (item.line.kind === "chunk") streamed++
      if (item.line.kind !== "event") continue
      events.push(item.line.event as Event)
      for (const entry of item.line.bodies) if (entry.hash) bodies.set(entry.hash, readJournalBody(file.path, entry))
    }
  }
  return {
    all: <T extends EventType>(type: T) => events.filter((event) => event.event_type === type) as Event<T>[],
    bodies,
    streamed,
  }
}

test("[K-08] a command keeps stdin, stdout and exit code, and its run is in the journal with a verdict", async () => {
  const upstream = await startUpstream((_, response) => response.end(ANSWER))
  const recording = record([process.execPath, child("agent.mjs"), "ask"], { ANTHROPIC_BASE_URL: upstream.origin })
  const ended = await recording.ended
  expect(recording.stdout()).toBe(`200 ${ANSWER.length}`)
  expect(ended).toMatchObject({ exitCode: 0, signal: null })
  const { verdict } = ended!
  expect(verdict.stats).toMatchObject({ modelCalls: 1, inputTokens: 100, outputTokens: 20, errors: 0 })
  expect(verdict).toMatchObject({ lost: 0, restarts: 0, nothingBecause: null })
  expect(verdict.stats.usd).toBeGreaterThan(0)
  const { all, bodies } = readFolder(recording.folder)
  const [started] = all("run_started")
  expect(started).toMatchObject({ run_id: verdict.runIds[0], payload: { app_id: "recorded", entrypoint_name: "node" } })
  expect(all("run_completed")).toHaveLength(1)
  const [result] = all("model_result")
  expect(Buffer.from(bodies.get(result!.payload.response_ref!)!).equals(ANSWER)).toBe(true)

  const echo = record([process.execPath, child("agent.mjs"), "echo"])
  echo.process.stdin!.end("typed by hand")
  await echo.ended
  expect(echo.stdout()).toBe("typed by hand")
})

test("[K-08] a command that calls nothing says why, and names the variables it was given", async () => {
  const recording = record([process.execPath, child("agent.mjs"), "exit", "7"])
  const ended = await recording.ended
  expect(ended).toMatchObject({ exitCode: 7 })
  expect(ended!.verdict.nothingBecause).toMatch(
    /made no request through the proxy.*ANTHROPIC_BASE_URL.*OPENAI_API_BASE/,
  )
  expect(readFolder(recording.folder).all("run_failed")[0]!.payload).toMatchObject({
    error_class: "CommandFailed",
    error_summary: "exit 7",
  })
})

test("[K-08] signals reach the command, and how it ends is how the recording ends", async () => {
  const recording = record([process.execPath, child("agent.mjs"), "wait"])
  await eventually(() => recording.stdout() === "waiting", "the command waits")
  recording.process.kill("SIGTERM")
  expect(await recording.ended).toMatchObject({ exitCode: 42, signal: null })

  const killed = record([process.execPath, child("agent.mjs"), "wait"])
  await eventually(() => killed.stdout() === "waiting", "the command waits")
  process.kill(killed.started()!.pid!, "SIGKILL")
  expect(await killed.ended).toMatchObject({ exitCode: null, signal: "SIGKILL" })
  expect(readFolder(killed.folder).all("run_failed")[0]!.payload.error_summary).toBe("killed by SIGKILL")
})

test("[K-08] a command that does not exist is an error, and codex gets its hint", async () => {
  const missing = record(["no-such-command-here"])
  await missing.ended
  expect(missing.failed()).toMatch(/no-such-command-here cannot be started/)
  const codex = record([join(tmpdir(), "codex")])
  await codex.ended
  expect(codex.started()!.hints.join()).toMatch(/-c openai_base_url=/)
})

test("[K-10] a proxy that is killed in the middle of an answer leaves the request and what came, and is back on the same port", async () => {
  let calls = 0
  const upstream = await startUpstream((_, response) => {
    calls++
    if (calls > 1) return void response.end(ANSWER)
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(ANSWER.subarray(0, 300))
  })
  const recording = record([process.execPath, child("agent.mjs"), "insist"], { ANTHROPIC_BASE_URL: upstream.origin })
  await eventually(() => recording.started() && readFolder(recording.folder).streamed > 0, "a chunk in the journal")
  process.kill(recording.started()!.proxyPid!, "SIGKILL")
  const ended = await recording.ended
  expect(recording.stdout()).toBe(`200 ${ANSWER.length}`)
  expect(ended!.verdict).toMatchObject({ restarts: 1, lost: 0, stats: { modelCalls: 1 } })
  expect(recording.warnings.join()).toMatch(/died \(SIGKILL\) and is started again/)
  const { all, bodies, streamed } = readFolder(recording.folder)
  const [first, second] = all("model_called")
  expect(bodies.has(first!.payload.request_ref)).toBe(true)
  const [result] = all("model_result")
  expect(result!.run_id).toBe(second!.run_id)
  expect(streamed).toBeGreaterThan(0)
  expect(Buffer.from(bodies.get(result!.payload.response_ref!)!)).toEqual(ANSWER)
  const again = all("run_started")[1]!
  expect(again.links).toEqual([expect.objectContaining({ kind: "spawned_by", run_id: first!.run_id })])
})

test("[K-10] a command that is killed in the middle of an answer leaves the request and what came", async () => {
  const upstream = await startUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(ANSWER.subarray(0, 300))
  })
  const recording = record([process.execPath, child("agent.mjs"), "ask"], { ANTHROPIC_BASE_URL: upstream.origin })
  await eventually(() => recording.started() && readFolder(recording.folder).streamed > 0, "a chunk in the journal")
  process.kill(recording.started()!.pid!, "SIGKILL")
  await recording.ended
  const { all, bodies } = readFolder(recording.folder)
  const result = all("model_result").at(-1)!
  expect(result.payload).toMatchObject({ stream_end: "client_abort", status: "partial" })
  expect(Buffer.from(bodies.get(result.payload.response_ref!)!).equals(ANSWER.subarray(0, 300))).toBe(true)
})

test("[K-11] an instrumented agent under orangebox run is recorded once, and the command's run links to it", async () => {
  const upstream = await startUpstream((_, response) => response.end(ANSWER))
  const own = mkdtempSync(join(tmpdir(), "orangebox-proxy-own-"))
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  const recording = record([process.execPath, child("instrumented.mjs"), own], { ANTHROPIC_BASE_URL: upstream.origin })
  const ended = await recording.ended
  expect(ended!.verdict).toMatchObject({ stats: { modelCalls: 0, linkedCalls: 2 }, nothingBecause: null })
  expect(upstream.seen[0]!.rawHeaders.join().toLowerCase()).not.toContain("x-orangebox")
  const [called] = readFolder(own).all("model_called")
  expect(called!.payload.url).toBe(`${recording.started()!.origin}/obxproxy_redacted/anthropic/v1/messages`)
  const token = /[0-9a-f]{32}/.exec(recording.started()!.variables["ANTHROPIC_BASE_URL"]!)![0]
  for (const name of readdirSync(own, { recursive: true, encoding: "utf8" })) {
    const path = join(own, name)
    if (statSync(path).isFile()) expect(readFileSync(path, "latin1"), name).not.toContain(token)
  }
  const proxied = readFolder(recording.folder)
  expect(proxied.all("model_called")).toHaveLength(0)
  expect(proxied.all("link_added")[0]!.payload.link).toMatchObject({ run_id: called!.run_id, step_id: called!.step_id })
})

test("[K-11] an instrumented agent records where the command is recorded, unless its user names another folder", async () => {
  const upstream = await startUpstream((_, response) => response.end(ANSWER))
  const recording = record([process.execPath, child("instrumented.mjs")], { ANTHROPIC_BASE_URL: upstream.origin })
  await recording.ended
  const { all } = readFolder(recording.folder)
  const [called] = all("model_called")
  expect(all("link_added")[0]!.payload.link).toMatchObject({ run_id: called!.run_id, step_id: called!.step_id })

  const own = mkdtempSync(join(tmpdir(), "orangebox-proxy-own-"))
  onTestFinished(() => rmSync(own, { recursive: true, force: true }))
  const named = record([process.execPath, child("instrumented.mjs")], {
    ANTHROPIC_BASE_URL: upstream.origin,
    ORANGEBOX_HOME: own,
  })
  await named.ended
  expect(readFolder(own).all("model_called")).toHaveLength(1)
  expect(readFolder(named.folder).all("model_called")).toHaveLength(0)
})
