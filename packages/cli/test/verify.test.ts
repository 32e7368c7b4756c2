import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

interface Verdict {
  readonly ok: boolean
  readonly runs: readonly {
    run_id: string
    digest: string
    digest_matches: boolean | null
    findings: { code: string }[]
    open: { code: string }[]
  }[]
  readonly findings: readonly { code: string }[]
}

interface Sqlite {
  readonly DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void }
}

describe("orangebox verify", () => {
  let scratch: Scratch
  let good: string
  let runId: string
  let digest: string

  beforeAll(async () => {
    scratch = scratchFolder()
    good = join(scratch.path, "good")
    await record(good, async (recorder) => {
      runId = (await recordOrdinaryRun(recorder, `count the sheep ${"and again ".repeat(400)}`)).runId
    })
    const { stdout } = await orangeboxHere(["show", "--data", good])
    digest = /^digest (sha256:\w{64})$/m.exec(stdout)?.[1] ?? "none"
  })
  afterAll(() => scratch.remove())

  function changed(name: string, sql: string): string {
    const folder = join(scratch.path, name)
    cpSync(good, folder, { recursive: true })
    const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite") as Sqlite
    const database = new DatabaseSync(join(folder, "store/trace.db"))
    database.exec(sql)
    database.close()
    return folder
  }

  async function exported(folder: string): Promise<Verdict> {
    const path = join(folder, "run.obxrun")
    await orangeboxHere(["export", runId, "-o", path, "--data", folder])
    return jsonOf<Verdict>(await orangeboxHere(["verify", path, "--json"]))
  }

  test("[R-02] a run without a name that goes on behind its end is sound, and what came late is declared", async () => {
    const folder = join(scratch.path, "misused")
    await record(folder, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "" })
      run.complete()
      const late = run.step("")
      await late.tool({ name: "late", args: {} }, () => 2)
      late.end()
    })
    const { stdout, exitCode } = await orangeboxHere(["verify", "--data", folder])
    expect(exitCode, stdout).toBe(0)
    expect(stdout).toContain("declared: after_the_end")
    const shown = await orangeboxHere(["show", "--data", folder])
    expect(shown.stdout).toContain("unnamed")
    expect(shown.stdout).not.toContain("not recorded")
  })

  test("[O-09] every run ends with its digest, and the digest proves that nothing was changed since", async () => {
    const verdict = jsonOf<Verdict>(
      await orangeboxHere(["verify", runId, "--digest", digest, "--data", good, "--json"]),
    )
    expect(verdict).toMatchObject({ ok: true, runs: [{ digest, digest_matches: true, findings: [] }] })
  })

  test("[O-09] a word changed in the database changes the digest, and the exit code", async () => {
    const folder = changed("word", `UPDATE event_rows SET json = replace(json, 'read_file', 'reap_file')`)
    const { stdout, exitCode } = await orangeboxHere(["verify", runId, "--digest", digest, "--data", folder])
    expect(stdout).toContain(`the digest differs: expected ${digest}`)
    expect(exitCode).toBe(1)
  })

  test("[C-03] an event that was taken out is a finding: a hole in the sequence that nothing declares", async () => {
    const folder = changed("hole", "DELETE FROM event_rows WHERE json LIKE '%counted%'")
    const { stdout, exitCode } = await orangeboxHere(["verify", "--data", folder])
    expect(stdout).toMatch(/BAD +run_/)
    expect(stdout).toContain("sequence_hole")
    expect(exitCode).toBe(1)
  })

  test("[C-03] a run whose end was cut off is not taken for one that goes on", async () => {
    const folder = changed("tail", "DELETE FROM event_rows WHERE key = (SELECT max(key) FROM event_rows WHERE key > 0)")
    const { stdout, exitCode } = await orangeboxHere(["verify", runId, "--data", folder])
    expect(stdout).toMatch(/event_count .*came in/)
    expect(exitCode).toBe(1)
  })

  test("[C-05] a body whose bytes are gone makes its event invalid, by run and for the whole store", async () => {
    const folder = join(scratch.path, "packs")
    cpSync(good, folder, { recursive: true })
    for (const name of readdirSync(join(folder, "store/packs"), { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue
      const path = join(name.parentPath ?? name.path, name.name)
      writeFileSync(path, readFileSync(path).fill(0x55))
    }
    const one = jsonOf<Verdict>(await orangeboxHere(["verify", runId, "--data", folder, "--json"]))
    expect(one.ok).toBe(false)
    expect(one.runs[0]?.findings.map(({ code }) => code)).toContain("body_missing")
    expect((await exported(folder)).runs[0]?.findings).toEqual(one.runs[0]?.findings)
    const all = jsonOf<Verdict>(await orangeboxHere(["verify", "--data", folder, "--json"]))
    expect(all.findings.length).toBeGreaterThan(0)
    expect((await orangeboxHere(["verify", "--data", folder])).exitCode).toBe(1)
  })

  test("[C-03] a record that came twice with other content is a finding, in the store and in the exported file", async () => {
    const folder = changed(
      "conflict",
      `INSERT INTO conflict_rows (run, seen_at, digest, json) VALUES ('${runId}', 0, x'00', '{"event_id":"twice"}')`,
    )
    const one = jsonOf<Verdict>(await orangeboxHere(["verify", runId, "--data", folder, "--json"]))
    expect(one.runs[0]?.findings).toMatchObject([{ code: "conflict", subject: "twice" }])
    expect((await exported(folder)).runs[0]?.findings).toEqual(one.runs[0]?.findings)
  })

  test("a run that is still going on is open, which is no finding", async () => {
    const folder = join(scratch.path, "open")
    let verdict: Verdict | undefined
    await record(folder, async (recorder) => {
      recorder.startRun({ entrypoint: "long" }).step("work")
      verdict = jsonOf<Verdict>(await orangeboxHere(["verify", "--data", folder, "--json"]))
    })
    expect(verdict?.ok).toBe(true)
    expect(verdict?.runs[0]?.open.map(({ code }) => code)).toEqual(["step_open", "step_open", "run_open"])
  })

  test("a contract breach is told once, whether the journal's reader, the event or the rules of the run met it", async () => {
    const folder = join(scratch.path, "breach")
    await record(folder, (recorder) => {
      const run = recorder.startRun({ entrypoint: "breach" })
      const tool = run.startTool({ name: "read_file", args: {} })
      const odd: unknown = { read: "file" }
      tool.emit("tool_result", {
        ...{ tool_name: "read_file", status: "success", result_ref: null, latency_ms: odd as number },
        ...{ error_class: null, error_message_ref: null },
      })
      run.complete()
    })
    const verdict = jsonOf<Verdict>(await orangeboxHere(["verify", "--data", folder, "--json"]))
    expect(verdict.runs[0]!.findings).toMatchObject([{ code: "invalid", field: "payload.latency_ms" }])
    expect(verdict.findings).toEqual([])
    const { stdout } = await orangeboxHere(["verify", "--data", folder])
    expect(stdout).toContain("1 run verified, 1 finding")
    expect(stdout).not.toContain("[object Object]")
  })

  test("[D-05] [D-07] without an address every run's trail is looked at, and [E-08] its holes close the gate without being findings of the store", async () => {
    const folder = join(scratch.path, "trails")
    await record(folder, async (recorder) => {
      await recordOrdinaryRun(recorder)
      const run = recorder.startRun({ entrypoint: "holes", input: "x" })
      const request = {
        model: "m",
        messages: [
          { role: "user", content: "x" },
          { role: "assistant", content: [{ type: "tool_use", id: "toolu_9", name: "Bash", input: { command: "ls" } }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_9", content: "a b" }] },
        ],
      }
      run.startTool({ name: "read_file", args: {} })
      run.startModel({ provider: "anthropic", model: "m", request }).endModel({ response: { content: [] } })
      run.complete()
    })
    const { ok, runs } = jsonOf<{
      ok: boolean
      runs: { trail: { failures: { failure: string }[]; bypasses: object[]; left_out: object } }[]
    }>(await orangeboxHere(["verify", "--data", folder, "--json"]))
    expect(ok).toBe(false)
    const trails = runs.map(({ trail }) => [trail.failures.length > 0, trail.bypasses.length > 0])
    expect(trails).toEqual([
      [true, true],
      [false, false],
    ])
    expect(runs[0]!.trail.failures.map(({ failure }) => failure)).toContain("tool_call_without_result")
    expect(runs[0]!.trail.left_out).toEqual({ bodies: 0, bytes: 0 })
    const { stdout, exitCode } = await orangeboxHere(["verify", "--data", folder])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^HOLES +run_/m)
    expect(stdout).toMatch(/its trail has holes: \d+ observability failures? and \d+ bypass/)
    expect(stdout).toContain("; 1 run with holes in the trail")
  })
})
