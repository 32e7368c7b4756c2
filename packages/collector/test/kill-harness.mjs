// Kills collectors, at named places and at random moments, while writers append; then compares what the writers were told is safe with
// what is stored. Plain JavaScript on the built packages, so that `scripts/torture.mjs` runs it as the tests do.
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { catchUp } from "@orangebox/collector"
import { listJournals } from "@orangebox/journal"
import { openStoreReader } from "@orangebox/store"
import { sampleBody } from "./sample-body.mjs"

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * @typedef {object} KillReport
 * @property {number} kills         collectors that were killed
 * @property {number} writers       writers that were killed
 * @property {number} acknowledged  records the writers were told are written
 * @property {number} stored        of those runs, in the store
 * @property {string[]} losses      one sentence for each thing that is not as it must be
 * @property {Record<string, number>} places  how often a collector died at each named place
 */

/** Every named place in the collector and in the store's commits. Pruning has its own in the store's tests. */
export function namedPlaces() {
  const names = new Set()
  for (const dist of ["../dist", "../../store/dist"]) {
    for (const file of readdirSync(here(dist), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".js")) continue
      const text = readFileSync(join(here(dist), file), "utf8")
      for (const [, name] of text.matchAll(/failpoint\("([^"]+)"\)/g)) names.add(name)
    }
  }
  return [...names].filter((name) => /^(collect|close|tidy|commit|bodies):/.test(name)).sort()
}

/**
 * @param {{ kills: number, writers?: number, firstPlace?: number, onKill?: (report: KillReport) => void }} options
 * @returns {Promise<KillReport>}
 */
export async function killCollectors({ kills, writers = 1, firstPlace = 0, onKill = () => {} }) {
  const stage = mkdtempSync(join(tmpdir(), "orangebox-collector-kill-"))
  const dataFolder = join(stage, "data")
  /** @type {KillReport} */
  const report = { kills: 0, writers: 0, acknowledged: 0, stored: 0, losses: [], places: {} }
  const all = []
  const living = []
  const startWriter = async () => {
    const writer = await startEndlessWriter(dataFolder)
    all.push(writer)
    living.push(writer)
  }
  const killWriter = async () => {
    const writer = living.shift()
    await writer.kill()
    report.writers++
    await startWriter()
  }
  try {
    for (let i = 0; i < writers; i++) await startWriter()
    const places = namedPlaces()
    while (report.kills < kills) {
      const turn = report.kills
      // Every other collector dies at a named place, on its first, second or third pass there; the rest whenever.
      const nth = firstPlace + turn / 2
      const place = turn % 2 === 0 ? places[nth % places.length] : undefined
      if (place?.startsWith("close:") || turn % 6 === 0) await killWriter()
      const pass = 1 + (Math.floor(nth / places.length) % 3)
      const diedAt = await runCollectorUntilKilled(dataFolder, place && `${place}@${pass}`)
      report.kills++
      if (diedAt !== undefined) report.places[diedAt] = (report.places[diedAt] ?? 0) + 1
      onKill(report)
    }
    for (const writer of living) await writer.kill()
    await inspect(dataFolder, all, report)
    return report
  } finally {
    for (const writer of living) await writer.kill()
    rmSync(stage, { recursive: true, force: true })
  }
}

function startEndlessWriter(dataFolder) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [here("children/writer.mjs"), dataFolder, "endless"], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const closed = new Promise((done) => child.on("close", done))
    const writer = {
      acknowledged: 0,
      kill: async () => {
        child.kill("SIGKILL")
        await closed
      },
    }
    let carry = ""
    child.on("error", reject)
    child.stdout.setEncoding("latin1").on("data", (text) => {
      const lines = (carry + text).split("\n")
      carry = lines.pop()
      for (const line of lines) {
        if (line.startsWith("{")) {
          Object.assign(writer, JSON.parse(line))
          resolve(writer)
        } else writer.acknowledged = Number(line)
      }
    })
  })
}

/** The named place it died at; undefined when it was killed from outside, as one is that never comes by its place. */
function runCollectorUntilKilled(dataFolder, failpoint) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...(failpoint === undefined ? {} : { ORANGEBOX_FAILPOINT: failpoint }) }
    const child = spawn(process.execPath, [here("children/collector.mjs"), dataFolder], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    })
    let complaint = ""
    let killedByUs = false
    child.stderr.on("data", (text) => {
      complaint += text
    })
    const kill = () => {
      killedByUs = true
      child.kill("SIGKILL")
    }
    // Most die at work, some while they are still opening the store.
    const diesEarly = failpoint === undefined && Math.random() < 0.2
    let timer = diesEarly ? setTimeout(kill, Math.random() * 600) : undefined
    child.stdout.once("data", () => {
      timer ??= setTimeout(kill, failpoint === undefined ? Math.random() * 150 : 2000)
    })
    child.on("error", reject)
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      if (signal !== "SIGKILL") reject(new Error(`the collector ended by itself with ${code ?? signal}: ${complaint}`))
      else resolve(killedByUs ? undefined : failpoint?.split("@")[0])
    })
  })
}

/** I1–I4 and I6 of the fault matrix, and that every dead writer's run was said to have crashed, once. */
async function inspect(dataFolder, writers, report) {
  const { behindBytes, failure } = await catchUp({ dataFolder, keep: { ageMs: 0, bytes: 0, files: 0 } })
  if (failure !== undefined) report.losses.push(`the last catching up failed: ${failure.message}`)
  if (behindBytes > 0) report.losses.push(`${behindBytes} bytes of journal were not read`)
  const left = listJournals(join(dataFolder, "journal"))
  if (left.length > 0) report.losses.push(`${left.length} finished journals were not deleted`)
  const leftovers = readdirSync(join(dataFolder, "journal"))
  if (leftovers.length > 0) report.losses.push(`files were left behind: ${leftovers.slice(0, 3).join(", ")}`)

  const store = openStoreReader(join(dataFolder, "store"))
  try {
    for (const writer of writers) await inspectRun(store, writer, report)
    for (const problem of await store.integrity({ bodies: "all" })) report.losses.push(`integrity: ${problem.reason}`)
    for (const problem of await store.problems({ limit: 100 })) {
      if (problem.code !== "torn_tail") report.losses.push(`problem: ${problem.code} ${problem.reason}`)
    }
    const { conflicts } = await store.status()
    if (conflicts > 0) report.losses.push(`${conflicts} records were stored with two contents`)
  } finally {
    await store.close()
  }
}

async function inspectRun(store, writer, report) {
  report.acknowledged += writer.acknowledged
  const { events } = await store.eventsOf(writer.runId, { limit: 10_000_000 })
  const logs = events.filter((event) => event.event_type === "log")
  report.stored += logs.length
  const say = (what) => report.losses.push(`run of process ${writer.pid}: ${what}`)
  if (logs.length < writer.acknowledged) say(`${writer.acknowledged} records acknowledged, ${logs.length} stored`)
  if (logs.length > writer.acknowledged + 5) say(`${logs.length} stored of ${writer.acknowledged} acknowledged`)
  const misplaced = logs.findIndex((event, i) => event.payload.message !== String(i) || event.sequence_no !== i + 2)
  if (misplaced !== -1) say(`record ${misplaced} is not the one that was written`)
  for (let i = 0; i < logs.length; i += 3) {
    const reading = await store.readBody(logs[i].payload.body_ref)
    if (!("bytes" in reading) || !sampleBody(i).equals(reading.bytes))
      say(`the body of record ${i} is not the one written`)
  }
  const crashes = (await store.annotationsOf(writer.runId)).filter((event) => event.event_type === "process_crashed")
  if (crashes.length !== 1) say(`it was said to have crashed ${crashes.length} times`)
  if (crashes[0]?.payload.last_open_step_id !== writer.stepId) say("the crash does not name the open step")
}
