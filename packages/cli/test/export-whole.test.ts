import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readPortable, writePortable } from "@orangebox/replay"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

const KILLED = fileURLToPath(new URL("children/killed-mid-answer.mjs", import.meta.url))

describe("[O-10] a file holds what the store knows of a run, not only its events", () => {
  let scratch: Scratch
  let data: string
  let runId: string
  let file: string
  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    file = join(scratch.path, "killed.obxrun")
    spawnSync(process.execPath, [KILLED, data])
    const { runs } = jsonOf<{ runs: { run_id: string; entrypoint: string }[] }>(await stored("runs", "--json"))
    runId = runs.find(({ entrypoint }) => entrypoint === "lead")!.run_id
    await stored("export", runId, "-o", file)
  })
  afterAll(() => scratch.remove())

  const stored = (...args: string[]): Promise<Finished> => orangeboxHere([...args, "--data", data])
  const isAlike = ({ stdout, stderr, exitCode }: Finished): Finished => ({
    stdout: stdout.replaceAll(`--data ${data} `, "").replaceAll(` --data ${data}`, "").replaceAll(file, runId),
    stderr: stderr.replaceAll(file, runId),
    exitCode,
  })

  test.each([
    ["show", (at: string) => ["show", at, "--all"]],
    ["show as JSON", (at: string) => ["show", at, "--json"]],
    ["the answer that was cut off", (at: string) => ["step", `${at}#3`, "--body", "response"]],
    ["verify", (at: string) => ["verify", at]],
    ["diff", (at: string) => ["diff", at, at]],
    ["replay", (at: string) => ["replay", at]],
    ["replay as JSON", (at: string) => ["replay", at, "--json"]],
  ])("[O-10] of a killed run with a sub-agent, %s says the same", async (_, args) => {
    const ofStore = isAlike(await stored(...args(runId)))
    expect(isAlike(await orangeboxHere(args(file)))).toEqual(ofStore)
  })

  // A word that is still being written waits for its end, because it could become a secret.
  test("[O-10] what had come of an answer, and the sub-agent's run, are in it; a copy of the file is the same file", async () => {
    const { header, notes, bodies, events } = await readPortable(readFileSync(file))
    expect(header).toMatchObject({ v: 2, run_id: runId, runs: [runId, expect.stringMatching(/^run_/)] })
    const [stream] = notes.partial_streams
    expect(Buffer.from(bodies.get(stream!.body!)!).toString()).toBe("The moon rises soon, and ")
    expect(events.some((event) => event.event_type === "process_crashed")).toBe(true)
    const said = await orangeboxHere(["step", `${file}#3`, "--body", "response"])
    expect(said.stdout).toContain("The moon rises soon, and ")
    const copy = join(scratch.path, "copy.obxrun")
    await orangeboxHere(["export", file, "-o", copy])
    expect(readFileSync(copy).equals(readFileSync(file))).toBe(true)
  })

  test("[P-07] without the sub-agent's run a replay is refused with COVERAGE_GAP and its name", async () => {
    const { header, events, bodies, notes } = await readPortable(readFileSync(file))
    const [, child] = header!.runs
    const path = join(scratch.path, "alone.obxrun")
    writeFileSync(
      path,
      Buffer.concat([
        ...writePortable(
          events.filter(({ run_id }) => run_id === runId),
          bodies,
          { notes },
        ),
      ]),
    )
    const { stdout, stderr, exitCode } = await orangeboxHere(["replay", path])
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 })
    expect(stderr).toMatch(
      new RegExp(`cannot be replayed: COVERAGE_GAP[\\s\\S]*it started ${child}, which is not here`),
    )
  })

  test("[O-10] events that were lost, and bodies that were pruned or redacted, are told of as where it was recorded", async () => {
    const folder = join(scratch.path, "pruned")
    await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
    await orangeboxHere(["collect", "--data", folder])
    await orangeboxHere(["prune", "--max-body-bytes", "1", "--data", folder])
    const path = join(scratch.path, "pruned.obxrun")
    await orangeboxHere(["export", "-o", path, "--data", folder])
    const words = async (...args: string[]): Promise<string> => {
      const { stdout, stderr, exitCode } = await orangeboxHere(args)
      return `${stdout}${stderr}${exitCode}`.replaceAll(path, "last").replaceAll(` --data ${folder}`, "")
    }
    const body = ["--body", "result"]
    expect(await words("step", `${path}#4`, ...body)).toBe(await words("step", "last#4", ...body, "--data", folder))
    expect(await words("replay", path)).toMatch(/RESPONSE_ABSENT.*pruned/)

    const { events, bodies, header } = await readPortable(readFileSync(path))
    const gap = { run_id: header!.run_id, code: "dropped", reason: "the disk was full", lost: 7 }
    const notes = { partial_streams: [], gaps: [gap], absent_bodies: [], redactions: [] }
    writeFileSync(path, Buffer.concat([...writePortable(events, bodies, { notes })]))
    expect(await words("show", path)).toContain("7 lost")
  })
})
