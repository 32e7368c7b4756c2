// Cuts the power of a disk under a writer and looks at what is left.
//
// The disk is an ext4 image on a loop device. What has reached the image file is what a power cut would leave; what is still in the page
// cache of the mounted file system is not in it. So a cut is: stop the writer, copy the image, mount the copy, which replays its journal.
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { listJournals, tailJournal } from "@orangebox/journal"
import { setStage } from "./stage.mjs"

const IMAGE_MIB = 32

/**
 * @typedef {object} CutReport
 * @property {number} cuts
 * @property {number} acknowledged  records the writer had acknowledged, summed over the cuts
 * @property {number} synced        those that the sync policy promises to keep
 * @property {number} found         records on the disk after the cut
 * @property {number} missing       promised and not found
 * @property {number} damaged       found with other content, out of order or twice, or a problem before the end of what was promised
 */

/** @type {() => CutReport} */
export const emptyCutReport = () => ({ cuts: 0, acknowledged: 0, synced: 0, found: 0, missing: 0, damaged: 0 })

/** @returns {string | undefined} why there can be no power cuts here */
export function whyNoPowerCuts() {
  if (process.platform !== "linux") return "loop devices are a matter of Linux"
  if (process.getuid?.() !== 0) return "mounting an image needs root"
  const folder = mkdtempSync(join(tmpdir(), "orangebox-cut-"))
  try {
    mountNew(folder)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    unmountAll(folder)
  }
}

/**
 * One writer, and cuts at random moments of its work.
 *
 * @param {{ cuts: number, fsync: "never" | "interval" | "always", maxDelayMs: number, onCut?: (report: CutReport) => void }} options
 * @returns {Promise<CutReport>}
 */
export async function cutPower({ cuts, fsync, maxDelayMs, onCut = () => {} }) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-cut-"))
  const total = emptyCutReport()
  let writer
  try {
    const script = setStage(folder)("synced-appender.mjs")
    const { image, mount } = mountNew(folder)
    writer = startWriter(script, join(mount, "journal"), fsync)
    await writer.firstWord
    for (let cut = 1; cut <= cuts; cut++) {
      await sleep(Math.random() * maxDelayMs)
      await writer.stop()
      const copy = join(folder, "copy.img")
      await copyOfOneMoment(image, copy)
      const one = { ...inspectImage(folder, copy, writer.counts()), cuts: 1 }
      for (const key of Object.keys(total)) total[key] += one[key]
      onCut(total)
      writer.goOn()
    }
    return total
  } finally {
    await writer?.end()
    unmountAll(folder)
  }
}

function mountNew(folder) {
  const image = join(folder, "disk.img")
  run("truncate", ["-s", `${IMAGE_MIB}M`, image])
  run("mkfs.ext4", ["-q", "-F", image])
  const mount = join(folder, "mnt")
  mountAt(image, mount)
  return { image, mount }
}

function mountAt(image, mount) {
  mkdirSync(mount, { recursive: true })
  run("mount", ["-o", "loop", image, mount])
}

function unmountAll(folder) {
  for (const name of ["mnt", "after"]) spawnSync("umount", ["-l", join(folder, name)])
  rmSync(folder, { recursive: true, force: true })
}

function run(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr.trim()}`)
}

function startWriter(script, folder, fsync) {
  const child = spawn(process.execPath, [script, folder, fsync], { stdio: ["ignore", "pipe", "inherit"] })
  const closed = new Promise((resolve) => child.once("close", resolve))
  let bytes = Buffer.alloc(0)
  let latest = { acknowledged: 0, synced: 0 }
  child.stdout.on("data", (more) => {
    bytes = Buffer.concat([bytes, more])
    const whole = bytes.length - (bytes.length % 8)
    if (whole > 0) latest = { acknowledged: bytes.readUInt32LE(whole - 8), synced: bytes.readUInt32LE(whole - 4) }
    bytes = bytes.subarray(whole)
  })
  return {
    firstWord: Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), closed]),
    counts: () => latest,
    /** What it said before it stopped counts too, so the pipe is read until nothing more comes. */
    stop: async () => {
      child.kill("SIGSTOP")
      while (!/^State:\s+T/m.test(readFileSync(`/proc/${child.pid}/status`, "latin1"))) await sleep(1)
      for (let before = -1; before !== latest.acknowledged; await sleep(20)) before = latest.acknowledged
    },
    goOn: () => child.kill("SIGCONT"),
    end: () => {
      child.kill("SIGKILL")
      return closed
    },
  }
}

/** The kernel writes on while we copy; two copies that are the same show one moment. */
async function copyOfOneMoment(image, copy) {
  for (;;) {
    run("cp", ["--sparse=always", image, copy])
    if (spawnSync("cmp", ["-s", image, copy]).status === 0) return
    await sleep(5)
  }
}

function inspectImage(folder, copy, { acknowledged, synced }) {
  const report = { ...emptyCutReport(), acknowledged, synced }
  const mount = join(folder, "after")
  mountAt(copy, mount)
  try {
    for (const { path } of listJournals(join(mount, "journal"))) {
      for (const item of tailJournal(path)) {
        // Behind the promise the tail of a file may be anything; up to there it must be as it was written.
        if (item.kind === "problem") report.damaged += report.found < synced ? 1 : 0
        else if (item.line.kind === "event") report.damaged += isNumber(item.line.event, report.found++) ? 0 : 1
      }
    }
  } finally {
    run("umount", [mount])
  }
  report.missing = Math.max(0, synced - report.found)
  return report
}

function isNumber({ i, filler }, expected) {
  return i === expected && filler === "x".repeat((i * 37) % 900)
}
