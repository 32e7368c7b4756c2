// Kills writers at random moments and compares what they acknowledged with what is in their journals.
// Plain JavaScript, so that `scripts/torture.mjs` runs it without a build of the tests; it needs `packages/journal/dist`.
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { listJournals, livenessOf, readJournalBody, readStream, tailJournal } from "@orangebox/journal"
import { setStage } from "./stage.mjs"

/**
 * @typedef {"small" | "rotating" | "long" | "bodies" | "streamed"} Workload
 * @typedef {object} KillReport
 * @property {number} kills
 * @property {number} acknowledged  records (or chunks) the writers acknowledged before they died
 * @property {number} found         records (or chunks) in the journals
 * @property {number} missing       acknowledged and not found
 * @property {number} duplicated    found more than once, or out of order
 * @property {number} damaged       found with other content than was written, or a problem in the middle of a file
 * @property {number} tornTails     files that end in mid-line
 * @property {number} notDead       killed writers whose identity did not say dead
 */

/** @type {() => KillReport} */
export const emptyReport = () => ({
  kills: 0,
  acknowledged: 0,
  found: 0,
  missing: 0,
  duplicated: 0,
  damaged: 0,
  tornTails: 0,
  notDead: 0,
})

/**
 * Kills in waves: all writers of a wave are dead before the first journal is read, so that a parent busy reading lets no writer run on
 * for long, which would only make more to read.
 *
 * @param {{ kills: number, workload: Workload, parallel?: number, maxDelayMs?: number, onKill?: (report: KillReport) => void }} options
 * @returns {Promise<KillReport>}
 */
export async function killMany({ kills, workload, parallel = 3, maxDelayMs = 10, onKill = () => {} }) {
  const total = emptyReport()
  const stage = mkdtempSync(join(tmpdir(), "orangebox-kill-"))
  try {
    const appender = setStage(stage)("appender.mjs")
    while (total.kills < kills) {
      const folders = Array.from({ length: Math.min(parallel, kills - total.kills) }, (_, i) =>
        join(stage, `journal-${i}`),
      )
      const killed = folders.map((folder) => runUntilKilled(appender, folder, workload, Math.random() * maxDelayMs))
      for (const [i, acknowledged] of (await Promise.all(killed)).entries()) {
        const one = { ...inspect(folders[i], workload, acknowledged), kills: 1 }
        rmSync(folders[i], { recursive: true, force: true })
        for (const key of Object.keys(total)) total[key] += one[key]
        onKill(total)
      }
    }
    return total
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** The number of the last acknowledged record. Counted from the first acknowledgement on, so that most kills hit a writer at work. */
function runUntilKilled(appender, folder, workload, delayMs) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [appender, folder, workload], {
      stdio: ["ignore", "pipe", "pipe"],
    })
    let last = 0
    let carry = Buffer.alloc(0)
    let complaint = ""
    child.stderr.on("data", (bytes) => {
      complaint += bytes
    })
    child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), delayMs))
    child.stdout.on("data", (bytes) => {
      carry = Buffer.concat([carry, bytes])
      const whole = carry.length - (carry.length % 4)
      if (whole > 0) last = carry.readUInt32LE(whole - 4)
      carry = carry.subarray(whole)
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL") resolve(last)
      else reject(new Error(`the writer ended by itself with ${code ?? signal}: ${complaint}`))
    })
  })
}

function inspect(folder, workload, acknowledged) {
  const report = { ...emptyReport(), acknowledged }
  const journals = listJournals(folder)
  for (const journal of journals) {
    const tail = tailJournal(journal.path)
    for (let next = tail.next(); ; next = tail.next()) {
      if (next.done) {
        if (next.value.tornBytes > 0) report.tornTails++
        break
      }
      const item = next.value
      if (item.kind === "problem") report.damaged++
      else if (item.line.kind === "process") {
        if (livenessOf(item.line.process).state !== "dead") report.notDead++
      } else if (item.line.kind === "event") {
        if (item.line.event.i !== report.found) report.duplicated++
        report.found++
        for (const body of item.line.bodies) if (!bodyIsWhole(journal.path, body)) report.damaged++
      } else if (item.line.kind === "chunk") report.found++
    }
  }
  if (workload === "streamed" && !streamIsWhole(journals.at(-1)?.path, report.found)) report.damaged++
  report.missing = Math.max(0, acknowledged - report.found)
  return report
}

function bodyIsWhole(path, body) {
  try {
    readJournalBody(path, body)
    return true
  } catch {
    return false
  }
}

function streamIsWhole(path, chunks) {
  if (path === undefined || chunks === 0) return true
  const first = [...tailJournal(path)].find((item) => item.kind === "line" && item.line.kind === "chunk")
  const expected = Buffer.concat(
    Array.from({ length: chunks }, (_, i) => Buffer.alloc(1 + (((i + 1) * 211) % 3000), `chunk ${i + 1} `)),
  )
  const read = readStream(path, first.line.streamId)
  return read.isUnbroken && expected.equals(read.bytes)
}
