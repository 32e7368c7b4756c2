import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { readPortable } from "@orangebox/replay"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record } from "./recorded-run.js"
import { recordAgent, recordAgents, recordOnTheWire } from "./two-runs.js"

interface ExportJson {
  readonly run_id: string
  readonly digest: string
  readonly bytes: number
  readonly bodies: number
  readonly missing_bodies: readonly { readonly reason: string; readonly byte_size: number | null }[]
}

describe("[O-10] orangebox export", () => {
  let scratch: Scratch
  let data: string
  let elsewhere: string
  let runId: string
  let file: string
  let exported: ExportJson
  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    elsewhere = join(scratch.path, "elsewhere")
    mkdirSync(elsewhere)
    ;[runId] = (await recordAgents(data, {}, { advice: "write 5" })) as [string]
    file = join(elsewhere, "run.obxrun")
    exported = jsonOf(await orangeboxHere(["export", runId, "-o", file, "--json", "--data", data]))
  })
  afterAll(() => scratch.remove())

  test("[O-10] the file holds the run with its bodies, under the digest that show prints, for its owner's eyes", async () => {
    const { header, problems, bodies } = await readPortable(readFileSync(file))
    expect(problems).toEqual([])
    expect(header).toMatchObject({ run_id: runId, digest: exported.digest })
    expect(bodies.size).toBe(exported.bodies)
    expect(exported).toMatchObject({ run_id: runId, bytes: statSync(file).size, missing_bodies: [] })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await orangeboxHere(["show", runId, "--data", data])).stdout).toContain(exported.digest)
  })

  test.each([
    ["show", (at: string) => ["show", at, "--all"]],
    ["show as JSON", (at: string) => ["show", at, "--json"]],
    ["step", (at: string) => ["step", `${at}#5`]],
    ["step --body", (at: string) => ["step", `${at}#5`, "--body", "request"]],
    ["a body by its hash", (at: string) => ["step", at, "--body", "sha256:"]],
    ["context", (at: string) => ["context", `${at}#5`]],
    ["verify", (at: string) => ["verify", at]],
  ])("[O-10] %s says of the file what it says of the run", async (name, args) => {
    const hash = name.includes("hash") ? [...(await readPortable(readFileSync(file))).bodies.keys()][0]! : ""
    const call = async (at: string, ...more: string[]) => {
      const words = args(at).map((word) => (word === "sha256:" ? hash : word))
      const { stdout, stderr, exitCode } = await orangeboxHere([...words, ...more])
      return { exitCode, stderr, stdout: stdout.replaceAll(`--data ${data} `, "").replaceAll(file, runId) }
    }
    const fromStore = await call(runId, "--data", data)
    expect(fromStore.exitCode).toBe(0)
    expect(await call(file)).toEqual(fromStore)
  })

  test("[O-10] a folder where nothing was ever recorded is enough to read it, by a relative path", async () => {
    const shown = await orangebox(["show", "run.obxrun"], { cwd: elsewhere })
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" })
    expect(shown.stdout).toContain("next: orangebox step run.obxrun#")
    const compared = await orangebox(["diff", "run.obxrun", "./run.obxrun"], { cwd: elsewhere })
    expect(compared).toMatchObject({ exitCode: 0, stderr: "" })
    expect(readdirSync(elsewhere)).toEqual(["run.obxrun"])
  })

  test("[O-10] a file and a stored run are compared like two stored runs", async () => {
    const [ofFile, ofStore] = await Promise.all(
      [file, runId].map((a) => orangeboxHere(["diff", a, "last", "--json", "--data", data])),
    )
    expect(ofFile!.exitCode).toBe(1)
    expect(ofFile!.stdout).toBe(ofStore!.stdout)
  })

  test("[O-10] a file of a file is the same file", async () => {
    const copy = join(scratch.path, "copy.obxrun")
    await orangeboxHere(["export", file, "-o", copy])
    expect(readFileSync(copy).equals(readFileSync(file))).toBe(true)
  })

  test("[O-10] without a name it is called after the run; through a pipe it is the same bytes", async () => {
    const folder = join(scratch.path, "named")
    mkdirSync(folder)
    const { stdout } = await orangebox(["export", runId, "--data", data], { cwd: folder })
    expect(stdout).toContain(`next: orangebox show ${runId}.obxrun`)
    const named = readFileSync(join(folder, `${runId}.obxrun`))
    expect(named.equals(readFileSync(file))).toBe(true)
    const piped = await orangebox(["export", runId, "-o", "-", "--data", data])
    expect(piped.stdout.startsWith("OBXRUN1\n")).toBe(true)
    expect(piped.stderr).toContain(exported.digest)
  })

  test("[O-10] a file that is there stays as it is, unless --force says otherwise, and no half-written one is left", async () => {
    const path = join(scratch.path, "precious.txt")
    writeFileSync(path, "precious")
    const refused = await orangeboxHere(["export", runId, "-o", path, "--data", data])
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
    expect(refused.stderr).toMatch(/already there[\s\S]*--force/)
    expect(readFileSync(path, "utf8")).toBe("precious")
    expect((await orangeboxHere(["export", runId, "-o", path, "--force", "--data", data])).exitCode).toBe(0)
    expect(readFileSync(path).equals(readFileSync(file))).toBe(true)
    const nowhere = await orangeboxHere(["export", runId, "-o", join(scratch.path, "no", "folder"), "--data", data])
    expect(nowhere).toMatchObject({ exitCode: 2 })
    expect(readdirSync(scratch.path).filter((name) => name.endsWith(".part"))).toEqual([])
  })

  test("[O-10] bodies that were recorded as hashes are missing by name, and the file is whole without them", async () => {
    const folder = join(scratch.path, "hashed")
    const recorder = Recorder.open({ app: "agent", folder, capture: "hashed" })
    await recordAgent(recorder)
    recorder.close()
    const path = join(scratch.path, "hashed.obxrun")
    const { missing_bodies } = jsonOf<ExportJson>(
      await orangeboxHere(["export", "-o", path, "--json", "--data", folder]),
    )
    expect(missing_bodies.length).toBeGreaterThan(0)
    expect(new Set(missing_bodies.map(({ reason }) => reason))).toEqual(new Set(["hashed"]))
    const { stdout } = await orangeboxHere(["export", "-o", path, "--force", "--data", folder])
    expect(stdout).toMatch(/! not in the file: \d+ bodies recorded as hashes only/)
    expect((await orangeboxHere(["verify", path])).exitCode).toBe(0)
    expect((await orangeboxHere(["diff", path, path])).exitCode).toBe(0)
  })

  test("[O-10] bodies that were pruned are missing by name; verify of the file counts them as verify of the store does", async () => {
    const folder = join(scratch.path, "pruned")
    await recordAgents(folder, {})
    await orangeboxHere(["collect", "--data", folder])
    const pruned = await orangeboxHere(["prune", "--max-body-bytes", "1", "--data", folder, "--json"])
    expect(pruned.exitCode, pruned.stderr).toBeLessThan(2)
    const path = join(scratch.path, "pruned.obxrun")
    const said = await orangeboxHere(["export", "-o", path, "--data", folder])
    expect(said.stdout).toMatch(/! not in the file: \d+ bodies pruned, /)
    const verified = await orangeboxHere(["verify", path])
    expect(verified.stdout).toMatch(/\d \+\d+ gone/)
    expect(verified.exitCode).toBe(0)
    const body = await orangeboxHere(["step", `${path}#5`, "--body", "request"])
    expect(body.exitCode).toBe(2)
    expect(body.stderr).toMatch(/not here: pruned on 20\d\d/)
  })

  test("[O-10] an agent recorded on the wire travels as well", async () => {
    const folder = join(scratch.path, "wire")
    await recordOnTheWire(folder, ["one", "two", "three"])
    const path = join(scratch.path, "wire.obxrun")
    expect((await orangeboxHere(["export", "-o", path, "--data", folder])).exitCode).toBe(0)
    const [ofFile, ofStore] = await Promise.all([
      orangeboxHere(["show", path, "--all"]),
      orangeboxHere(["show", "--all", "--data", folder]),
    ])
    expect(ofFile!.stdout.replaceAll(path, "last")).toBe(ofStore!.stdout.replaceAll(`--data ${folder} `, ""))
  })

  describe("[O-10] damage is named with its place", () => {
    const damagedFile = (name: string, damage: (bytes: Buffer) => Uint8Array): string => {
      const path = join(scratch.path, `${name}.obxrun`)
      if (!existsSync(path)) writeFileSync(path, damage(readFileSync(file)))
      return path
    }
    const cut = (): string => damagedFile("cut", (bytes) => bytes.subarray(0, Math.floor(bytes.length * 0.8)))
    const flipped = (): string =>
      damagedFile("flipped", (bytes) => {
        bytes[Math.floor(bytes.length * 0.8)]! ^= 1
        return bytes
      })

    test.each([
      ["cut short", cut],
      ["with one bit changed", flipped],
    ])("[O-10] a file %s is shown as far as it goes, with a finding", async (_, path) => {
      const shown = await orangeboxHere(["show", path()])
      expect(shown.exitCode).toBe(1)
      expect(shown.stdout).toContain("set the retries")
      expect(shown.stdout).toMatch(/the file is damaged at byte \d+, (\d+) of \1 events were read/)
      expect(shown.stderr).toMatch(/obxrun, byte \d+: /)
      const verified = await orangeboxHere(["verify", path()])
      expect(verified.exitCode).toBe(1)
      expect(verified.stdout).toMatch(
        /BAD[\s\S]*(cut_short|damaged_body) "byte \d+"[\s\S]*cannot be read: behind the damage/,
      )
      for (const command of [
        ["diff", path(), file],
        ["export", path(), "-o", join(scratch.path, "never.obxrun")],
      ]) {
        const refused = await orangeboxHere(command)
        expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
        expect(refused.stderr).toMatch(/where .*obxrun, byte \d+/)
      }
      expect(existsSync(join(scratch.path, "never.obxrun"))).toBe(false)
    })

    test("[O-10] a file that lost events counts them as lost, in text and JSON, and has no digest to show", async () => {
      const folder = join(scratch.path, "long")
      await record(folder, (recorder) => {
        const run = recorder.startRun({ entrypoint: "long" })
        for (let n = 0; n < 2100; n++) run.log.info(`line ${n}`)
        run.complete()
      })
      const path = join(scratch.path, "long.obxrun")
      await orangeboxHere(["export", "-o", path, "--data", folder])
      writeFileSync(path, readFileSync(path).subarray(0, -200))
      const { stdout } = await orangeboxHere(["show", path])
      expect(stdout).toMatch(/lost 102 events: "the file is damaged at byte \d+, 2000 of 2102 events were read"/)
      expect(stdout).toContain("102 lost")
      expect(stdout).not.toMatch(/^digest/m)
      const shown = jsonOf<object>(await orangeboxHere(["show", path, "--json"]))
      expect(shown).toMatchObject({
        run: { digest: null },
        total: { lost: 102 },
        damaged_file: {
          events_read: 2000,
          events_written: 2102,
          damage: [expect.stringMatching(/^byte \d+: a section of events/)],
        },
      })
      const verified = jsonOf<object>(await orangeboxHere(["verify", path, "--json"]))
      expect(verified).toMatchObject({ ok: false, runs: [{ digest: null }] })
    })

    test("[O-10] a file whose only section of events is damaged says so: nothing of it can be trusted", async () => {
      const path = damagedFile("early", (bytes) => bytes.subarray(0, 800))
      const { stdout, stderr, exitCode } = await orangeboxHere(["show", path])
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 })
      expect(stderr).toContain("a section of events is cut short")
    })

    test.each([
      ["is no export", () => damagedFile("other", () => Buffer.from("hello")), /does not begin like an exported run/],
      ["is empty", () => damagedFile("empty", () => Buffer.alloc(0)), /does not begin like an exported run/],
      ["ends in its header", () => damagedFile("header", (bytes) => bytes.subarray(0, 20)), /header cannot be read/],
      [
        "is of a newer version",
        () =>
          damagedFile("newer", (bytes) =>
            Buffer.from(bytes.toString("latin1").replace('{"v":1,', '{"v":7,'), "latin1"),
          ),
        /format version 7, this build reads up to 2[\s\S]*Upgrade/,
      ],
      [
        "is of a newer kind",
        () =>
          damagedFile("magic", (bytes) =>
            Buffer.from(bytes.toString("latin1").replace("OBXRUN1", "OBXRUN2"), "latin1"),
          ),
        /kind OBXRUN2, this build reads OBXRUN1/,
      ],
      ["is not there", () => join(scratch.path, "absent.obxrun"), /there is no such file/],
      ["is a folder", () => `${scratch.path}/`, /this is no file/],
    ])("[O-10] a file that %s is bad input, in a sentence", async (_, path, message) => {
      for (const command of [
        ["show", path()],
        ["diff", path(), file],
        ["verify", path()],
      ]) {
        const { stdout, stderr, exitCode } = await orangeboxHere(command)
        expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 })
        expect(stderr).toMatch(message)
      }
    })
  })

  test("[O-10] a run that the exported one started has an address in the file, and the hints name it", async () => {
    const folder = join(scratch.path, "family")
    let inner = ""
    await record(folder, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "outer" })
      const started = run.step("delegate").startRun({ entrypoint: "inner" })
      started.step("work").end()
      started.fail(new Error("inner failed"))
      inner = started.runId
      run.complete()
    })
    const path = join(scratch.path, "family.obxrun")
    await orangeboxHere(["export", "last", "-o", path, "--data", folder])
    const { stdout } = await orangeboxHere(["diagnose", path])
    expect(stdout).toContain(`next: orangebox show ${path}:${inner}`)
    expect((await orangeboxHere(["show", `${path}:${inner}`])).stdout).toContain("inner failed")
    expect((await orangeboxHere(["step", `${path}:${inner.slice(0, -2)}#2`])).stdout).toContain("#2 work")
    const beyond = await orangeboxHere(["show", `${path}#9`])
    expect(beyond.stderr).toContain(`orangebox show ${path}`)
    const unknown = await orangeboxHere(["show", `${path}:run_0000`])
    expect(unknown.exitCode).toBe(2)
    expect(unknown.stderr).toContain(inner)
  })
})
