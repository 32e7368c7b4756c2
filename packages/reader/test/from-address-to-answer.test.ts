import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { bodyHash } from "@orangebox/contract"
import { actionsOf } from "@orangebox/decisions"
import { Recorder } from "@orangebox/recorder"
import { writePortable } from "@orangebox/replay"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { findRun, findTarget, gatherRun, type ReaderOptions, readRunsAt, readStore, verifyAt } from "../src/index.js"
import { bodiesNamedIn, loadBodies, withBodies } from "../src/run/bodies.js"

const LARGE = "y".repeat(50_000)

let data: string
let runId: string
let options: ReaderOptions
const warnings: string[] = []

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "orangebox-reader-"))
  const recorder = Recorder.open({ app: "pusher", folder: data })
  const run = recorder.startRun({ entrypoint: "push", input: "push it" })
  runId = run.runId
  await run.tool({ name: "Bash", args: { command: "git push" } }, () => LARGE)
  run.complete({ output: "Done." })
  recorder.close()
  options = { data, onWarning: (message) => void warnings.push(message) }
})
afterAll(() => rmSync(data, { recursive: true }))

/** One answer about the run of an address, wherever it stands. */
const at = <T>(address: string, read: Parameters<typeof readRunsAt<T>>[2]): Promise<T> =>
  readRunsAt(options, [address], read)

describe("the bytes behind refs", () => {
  test("each is its bytes, or why they are not there", async () => {
    await readStore(options, async ({ store }) => {
      const run = await findRun(store, "last")
      const never = bodyHash(Buffer.from("never recorded"))
      const { bytes, absent, leftOut } = await loadBodies(store, [...bodiesNamedIn(run.events).keys(), never])
      expect([...bytes.values()].map(({ length }) => length)).toContain(50_000)
      expect([...absent.values()]).toMatchObject([{ hash: never, absent: "unknown" }])
      expect(leftOut).toEqual({ bodies: 0, bytes: 0 })
    })
  })

  test("of a run too large to hold the smallest bodies are read, and what was left out is counted", async () => {
    await readStore(options, async ({ store }) => {
      const { recorded, leftOut } = await withBodies(store, await findRun(store, "last"), 10_000)
      expect(leftOut).toEqual({ bodies: 1, bytes: 50_000 })
      const [action] = actionsOf(recorded).actions
      expect(action).toMatchObject({ commands: [{ text: "git push" }], unread: ["result"] })
    })
  })
})

describe("a run in the store and the same run in a file", () => {
  let file: string

  beforeAll(async () => {
    file = join(data, "pushed.obxrun")
    const pieces = await at("last", async (reading) => {
      const gathered = await gatherRun(reading!, await findRun(reading!.reader, reading!.address), () => {})
      return [...writePortable(gathered.events, gathered.bodies, gathered)]
    })
    writeFileSync(file, Buffer.concat(pieces))
  })

  test("are found, loaded and verified alike", async () => {
    const answers = await Promise.all(
      [runId, file].map((address) =>
        at(address, async (reading) => {
          const { view, digest } = await findRun(reading!.reader, reading!.address)
          const { findings, bodies, trail } = await verifyAt(reading!)
          return {
            runId: view.runId,
            steps: view.steps.map(({ n, kind }) => [n, kind]),
            digest,
            findings,
            bodies,
            trail,
          }
        }),
      ),
    )
    expect(answers[0]).toMatchObject({ runId, findings: [] })
    expect(answers[1]).toEqual(answers[0])
    expect(warnings).toEqual([])
  })

  test("a file that was cut off is read as far as it goes, and its damage is a finding", async () => {
    const cut = join(data, "cut.obxrun")
    const whole = readFileSync(file)
    writeFileSync(cut, whole.subarray(0, whole.length - 200))
    const { findings } = await at(cut, (reading) => verifyAt(reading!))
    expect(findings.length).toBeGreaterThan(0)
  })

  test.each([
    ["nothing-like-it", "UNKNOWN_ID"],
    ["last#99", "STEP_NUMBER"],
    ["./no-such.obxrun", "NO_FILE"],
  ])("%s is an error that says what there is", async (address, code) => {
    await expect(at(address, (reading) => findRun(reading!.reader, reading!.address))).rejects.toMatchObject({ code })
  })
})

describe("ids that no recorder gives", () => {
  const odd = ["not a run", "run_lower", "run_!!", "../../run"]

  test.each(odd)(
    "a run that was recorded as %s is found by it, and so are its steps, in the store and in a file",
    async (id) => {
      const folder = mkdtempSync(join(tmpdir(), "orangebox-reader-odd-"))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const recorder = Recorder.open({ app: "odd", folder })
      const run = recorder.startRun({ entrypoint: "odd" })
      await run.tool({ name: "Bash", args: {} }, () => "x")
      run.complete()
      recorder.close()
      const [name] = readdirSync(join(folder, "journal")).filter((file) => file.endsWith(".ndjson"))
      const path = join(folder, "journal", name!)
      const lines = readFileSync(path, "utf8").split("\n").slice(0, -1)
      writeFileSync(path, lines.map((line) => renamed(line, { [run.runId]: id, [run.id]: "../step" })).join(""))

      const found = async (address: string): Promise<unknown> =>
        readRunsAt({ data: folder }, [address], async (reading) => {
          const target = await findTarget(reading!.reader, reading!.address)
          return [target.kind, target.runId]
        })
      expect(await found(id)).toEqual(["run", id])
      expect(await found(`${id}#2`)).toEqual(["step", id])
      expect(await found("../step")).toEqual(["step", id])
      await expect(found("../other")).rejects.toMatchObject({ code: "NO_FILE" })

      const file = join(folder, "odd.obxrun")
      const pieces = await readRunsAt({ data: folder }, [id], async (reading) => {
        const gathered = await gatherRun(reading!, await findRun(reading!.reader, reading!.address), () => {})
        return [...writePortable(gathered.events, gathered.bodies, gathered)]
      })
      writeFileSync(file, Buffer.concat(pieces))
      expect(await found(file)).toEqual(["run", id])
      expect(await found(`${file}#2`)).toEqual(["step", id])
    },
  )
})

/** The line with other ids, and the checksum that belongs to it. */
function renamed(line: string, ids: Readonly<Record<string, string>>): string {
  let rest = line.slice(line.indexOf(",") + 1)
  for (const [before, after] of Object.entries(ids))
    rest = rest.replaceAll(JSON.stringify(before), JSON.stringify(after))
  return `{"crc":"${crc32(rest).toString(16).padStart(8, "0")}",${rest}\n`
}
