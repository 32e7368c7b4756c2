import { existsSync, mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

interface Listed {
  readonly snapshots: readonly {
    kind: string
    path: string
    absent: string | null
    written: { outcome: string } | null
  }[]
}

/** A fault in a run whose data lies there, recorded by a program that works in `workspace/inner`. */
async function recordFault(folder: string): Promise<void> {
  const cwd = join(scratch.path, "workspace", "inner")
  mkdirSync(cwd, { recursive: true })
  const recorder = Recorder.open({ app: "placed", folder, cwd, bodies: "on_fault" })
  const run = recorder.startRun({ entrypoint: "fix" })
  const step = run.step("plan")
  await step.model({ provider: "p", model: "m", request: "the question" }, () => "the answer")
  await step.tool({ name: "t", args: {} }, () => Promise.reject(new Error("no"))).catch(() => {})
  step.end()
  run.complete()
  recorder.close()
}

test.each([".orangebox", "workspace/.orangebox", "workspace/inner/data", "elsewhere/data"])(
  "[F-04] [F-08] with the data in %s, what a fault wrote is where its path says",
  async (place) => {
    const folder = join(scratch.path, place)
    await recordFault(folder)
    const { snapshots } = jsonOf<Listed>(
      await orangeboxHere(["snapshot", "last", "--list", "--write", "--json", "--data", folder]),
    )
    expect(snapshots.map(({ kind }) => kind).sort()).toEqual(["answer", "prompt"])
    // Seen from the folder around a data folder that was found upwards, else from where the program worked.
    const inner = join(scratch.path, "workspace", "inner")
    const holder = resolve(folder, "..")
    const workspace = place.endsWith(".orangebox") ? holder : inner
    for (const { path, written } of snapshots) {
      expect(written!.outcome).toBe("written")
      expect(existsSync(join(workspace, path))).toBe(true)
    }
  },
)

test("[F-05] [F-08] an answer that a fault stored goes with the snapshots, and its events stay", async () => {
  const folder = join(scratch.path, ".orangebox")
  await recordFault(folder)
  const list = async () =>
    jsonOf<Listed>(await orangeboxHere(["snapshot", "last", "--list", "--write", "--json", "--data", folder]))
  await orangeboxHere(["runs", "--data", folder])
  const pruned = await orangeboxHere(["prune", "--snapshot-max-age", "0s", "--data", folder])
  expect(pruned.stderr).toBe("")
  const { snapshots } = await list()
  expect(snapshots.map(({ written }) => written!.outcome)).toEqual(["absent", "absent"])
})
