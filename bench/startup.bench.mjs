// What it costs to begin: importing the recorder into an application, and five commands on a small store, from start to end of the process.
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Recorder } from "@orangebox/recorder"
import { row } from "./measure.mjs"

export const title = "Starting"

const ROUNDS = 21
const CLI = fileURLToPath(new URL("../packages/cli/bin/orangebox.js", import.meta.url))
const IMPORT = `const from = performance.now(); await import("@orangebox/recorder"); console.log(performance.now() - from)`
const COMMANDS = {
  "--version": ["--version"],
  runs: ["runs"],
  show: ["show", "last"],
  step: ["step", "last#2"],
  search: ["search", "date"],
}

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  try {
    recordOneRun(folder)
    const node = (...args) => {
      const from = performance.now()
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        encoding: "utf8",
        env: { ...process.env, ORANGEBOX_HOME: folder },
      })
      if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`)
      return { ms: performance.now() - from, stdout }
    }
    const imported = median(() => Number(node("--input-type=module", "-e", IMPORT).stdout))
    const bare = median(() => node("-e", "0").ms)
    const took = Object.entries(COMMANDS).map(([name, args]) => [name, median(() => node(CLI, ...args).ms)])
    return [
      row("importing @orangebox/recorder", millis(imported), "< 60 ms", imported < 60),
      row("node -e 0", millis(bare)),
      ...took.map(([name, ms]) =>
        name === "runs"
          ? row(`orangebox ${name}`, millis(ms), "< 220 ms", ms < 220)
          : row(`orangebox ${name}`, millis(ms)),
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function recordOneRun(folder) {
  const recorder = Recorder.open({ app: "bench", folder })
  const run = recorder.startRun({ entrypoint: "fix-issue", input: "Fix the failing date test" })
  const step = run.step("plan")
  for (let i = 0; i < 20; i++) step.log.info(`looked at file ${i}`, { bytes: i * 100 })
  step.end()
  run.complete({ output: "done" })
  recorder.close()
}

// The first round also brings the store up to the journal; the middle of the rest is what a user meets.
function median(measure) {
  const found = Array.from({ length: ROUNDS }, measure).slice(1)
  return found.sort((a, b) => a - b)[Math.floor(found.length / 2)]
}

const millis = (ms) => `${ms.toFixed(0)} ms`
