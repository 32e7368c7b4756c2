import { existsSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { DatabaseSync } from "@photostructure/sqlite"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "../command.js"
import { record, recordOrdinaryRun } from "../recorded-run.js"
import { serveHere, type TestServer } from "./http-server.js"

/** What a pane shows: a code, a sentence, and what to do. */
async function refusalOf(
  server: TestServer,
  path: string,
): Promise<{ status: number; code: string; what: string; next: string }> {
  const response = await server.ask(path)
  const problem = (await response.json()) as { status: number; code: string; what: string; next: string }
  expect(response.status).toBe(problem.status)
  expect(response.headers.get("content-type")).toBe("application/problem+json")
  expect(problem.what).not.toMatch(/\n\s+at /)
  expect(problem.next).not.toBe("")
  return problem
}

describe("[O-03] a server whose ground moves", () => {
  let scratch: Scratch
  let server: TestServer
  beforeEach(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
    server = await serveHere(scratch.path)
  })
  afterEach(async () => {
    await server?.close()
    scratch.remove()
  })

  test.each([
    ["/runs/nix", 404, "UNKNOWN_ID"],
    ["/runs/last~7", 404, "UNKNOWN_ID"],
    ["/runs/last/steps/99", 404, "STEP_NUMBER"],
    ["/runs/last/steps/0", 400, "USAGE"],
    ["/runs/last/steps/x", 400, "USAGE"],
    ["/runs/last/steps?limit=10001", 400, "USAGE"],
    ["/runs/last/steps/1/conversation", 404, "NO_CONTEXT"],
    ["/runs/last/contexts/4", 404, "NO_CONTEXT"],
    ["/runs?limit=201", 400, "USAGE"],
    ["/runs?cursor=here", 400, "STORE_CURSOR"],
    ["/runs?since=soon", 400, "USAGE"],
    ["/runs?status=fine", 400, "USAGE"],
    ["/runs?status=failed&status=crashed", 400, "USAGE"],
    ["/runs?stats=1", 400, "USAGE"],
    ["/search", 400, "USAGE"],
    ["/search?q=%20", 400, "USAGE"],
    ["/diff?a=last", 400, "USAGE"],
    ["/diff/999?a=last&b=last", 404, "NO_ITEM"],
    ["/nothing", 404, "NO_SUCH_PATH"],
    ["/runs/last/nothing", 404, "NO_SUCH_PATH"],
    ["/runs/%E0%A4%A", 404, "NO_SUCH_PATH"],
    ["/bodies/sha256:12", 400, "ADDRESS_FORM"],
  ])("%s is refused with %i %s and a sentence", async (path, status, code) => {
    expect(await refusalOf(server, path)).toMatchObject({ status, code })
  })

  test("a data folder that vanishes is said in every answer, and all works again when it is back", async () => {
    const aside = `${scratch.path}-aside`
    renameSync(scratch.path, aside)
    try {
      expect(await refusalOf(server, "/runs")).toMatchObject({ status: 503, code: "NO_DATA" })
      expect(await refusalOf(server, "/runs/last/steps")).toMatchObject({ status: 503, code: "NO_DATA" })
      expect((await fetch(server.url)).status).toBe(200)
    } finally {
      renameSync(aside, scratch.path)
    }
    expect(await server.json("/runs")).toMatchObject({ total: 1 })
  })

  test("a server that collects waits for a data folder that vanished, does not make another, and goes on when it is back", async () => {
    const collecting = await serveHere(scratch.path, { collects: true })
    const aside = `${scratch.path}-aside`
    try {
      renameSync(scratch.path, aside)
      await new Promise((resolve) => setTimeout(resolve, 1500))
      expect(existsSync(scratch.path)).toBe(false)
      expect(await refusalOf(collecting, "/runs")).toMatchObject({ status: 503, code: "NO_DATA" })
      renameSync(aside, scratch.path)
      await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder, "after it came back")))
      await expect
        .poll(async () => (await collecting.json<{ total: number }>("/runs")).total, { timeout: 15_000 })
        .toBe(2)
    } finally {
      await collecting.close()
    }
  })

  test("a store that was made anew under the same name is read, and not the one that is gone", async () => {
    expect(await server.json("/runs")).toMatchObject({ total: 1 })
    for (const file of ["trace.db", "trace.db-wal", "trace.db-shm"])
      rmSync(join(scratch.path, "store", file), { force: true })
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder, "another")))
    await orangebox(["collect", "--data", scratch.path])
    await expect.poll(async () => (await server.json<{ total: number }>("/runs")).total).toBe(2)
  })

  test("a store from a newer version is refused with what to do", async () => {
    await server.close()
    const database = new DatabaseSync(join(scratch.path, "store", "trace.db"))
    database.exec("PRAGMA user_version = 99999")
    database.close()
    await expect(serveHere(scratch.path)).rejects.toMatchObject({ code: "STORE_VERSION" })
    const told = await orangebox(["ui", "--no-open", "--json", "--data", scratch.path])
    expect([told.exitCode, told.stderr]).toEqual([expect.any(Number), expect.stringContaining("STORE_VERSION")])
    expect(told.exitCode).not.toBe(0)
    const fresh = scratchFolder()
    await record(fresh.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
    server = await serveHere(fresh.path)
    fresh.remove()
  })

  test("a run that is pruned while it is shown says so, and the list goes on without it", async () => {
    const [{ run_id }] = (await server.json<{ runs: [{ run_id: string }] }>("/runs")).runs
    expect(await server.json(`/runs/${run_id}/steps`)).toMatchObject({ run_id })
    const pruned = await orangebox(["prune", "--max-age", "0s", "--data", scratch.path])
    expect(pruned.exitCode, pruned.stderr).toBe(0)
    const refusal = await refusalOf(server, `/runs/${run_id}/steps`)
    expect([404, 410]).toContain(refusal.status)
    expect(await server.json("/runs")).toMatchObject({ total: 0 })
  })

  test("a body that was not kept is absent with its reason, and its step is shown all the same", async () => {
    const recorder = Recorder.open({ app: "shy", folder: scratch.path, capture: "hashed" })
    await recordOrdinaryRun(recorder, "nothing of this is kept")
    recorder.close()
    await expect.poll(async () => (await server.json<{ total: number }>("/runs")).total).toBe(2)
    const step = await server.json<{ bodies: { hash: string; absent: string | null; byte_size: number }[] }>(
      "/runs/last/steps/3",
    )
    const body = step.bodies.find(({ absent }) => absent !== null)!
    expect(body.byte_size).toBeGreaterThan(0)
    expect(await refusalOf(server, `/bodies/${body.hash}`)).toMatchObject({ status: 410, code: "BODY_ABSENT" })
    expect((await server.ask("/runs/last/strata")).status).toBe(200)
    expect((await server.ask("/runs/last/steps/3/conversation")).status).toBe(200)
  })

  test("a picture in a request is given as bytes, and nothing else that calls itself one", async () => {
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(100, 7)])
    const svg = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>${" ".repeat(80)}</svg>`)
    const image = (data: Buffer, media_type: string) => ({
      role: "user",
      content: [{ type: "image", source: { type: "base64", media_type, data: data.toString("base64") } }],
    })
    await record(scratch.path, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "look", input: "two pictures" })
      const messages = [image(png, "image/png"), image(svg, "image/svg+xml")]
      await run.model(
        { provider: "anthropic", model: "m", request: { model: "m", max_tokens: 5, messages } },
        () => ({}),
      )
      run.complete({ output: "seen" })
    })
    await expect.poll(async () => (await server.json<{ total: number }>("/runs")).total).toBe(2)
    const { bodies } = await server.json<{ bodies: { role: string; hash: string }[] }>("/runs/last/steps/2")
    const { hash } = bodies.find(({ role }) => role === "request")!
    const text = await (await server.ask(`/bodies/${hash}/raw`)).text()
    const second = text.lastIndexOf('{"role"')
    const answers = await Promise.all(
      [`from=0&to=${second}`, `from=${second}`].map((span) => server.ask(`/bodies/${hash}/picture?${span}`)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 404])
    expect(Buffer.from(await answers[0]!.arrayBuffer())).toEqual(png)
    expect(answers[0]!.headers.get("content-type")).toBe("application/octet-stream")
  })

  test("a call that an application recorded by hand is read by the provider it names", async () => {
    const call = await server.json<{ pieces: { part: { text: string } }[]; answer: { parts: { text: string }[] } }>(
      "/runs/last/steps/3/conversation",
    )
    expect(call.pieces.map(({ part }) => part.text)).toEqual(["count the sheep"])
    expect(call.answer.parts.map(({ text }) => text)).toEqual(["seven"])
  })

  test("what is recorded meanwhile comes by itself, and a page that listens is told which run to ask for", async () => {
    const answer = await server.ask("/live")
    const reader = answer.body!.getReader()
    let said = ""
    const listening = (async () => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done || /event: runs/.test(said)) return
        said += new TextDecoder().decode(value)
      }
    })()
    await expect
      .poll(() => said)
      .toMatch(/^id: 0\nevent: hello\ndata: {"behind_bytes":0,"problem":null,"ask_again":false}/)
    // The feed takes its first look before anything can be new.
    await new Promise((resolve) => setTimeout(resolve, 600))
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder, "later")))
    await expect.poll(() => said, { timeout: 10_000 }).toMatch(/event: runs\ndata: {"ids":\["run_/)
    const [, id] = /"ids":\["(run_\w+)"/.exec(said)!
    expect(await server.json(`/runs/${id}`)).toMatchObject({ run: { input: "later" } })
    expect(said).not.toContain("later")
    await reader.cancel()
    await listening.catch(() => {})
  })

  test("the first run of all appears by itself", async () => {
    const empty = scratchFolder()
    await record(empty.path, () => {})
    const other = await serveHere(empty.path)
    try {
      expect(await other.json("/runs")).toMatchObject({ total: 0, runs: [] })
      const answer = await other.ask("/live")
      const reader = answer.body!.getReader()
      let said = ""
      const listening = (async () => {
        for (let done = false; !done && !said.includes("event: runs"); ) {
          const next = await reader.read()
          done = next.done
          said += new TextDecoder().decode(next.value)
        }
      })()
      await expect.poll(() => said).toContain("event: hello")
      await new Promise((resolve) => setTimeout(resolve, 600))
      await record(empty.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
      await listening
      expect(said).toMatch(/event: runs\ndata: {"ids":\["run_/)
      await reader.cancel()
    } finally {
      await other.close()
      empty.remove()
    }
  })

  test("other commands may write while a page is looked at", async () => {
    const done = await orangebox([
      "override",
      "last",
      "--verdict",
      "pass",
      "--reason",
      "fine",
      "--json",
      "--data",
      scratch.path,
    ])
    expect(done.exitCode, done.stderr).toBe(0)
    expect(jsonOf(done)).toBeDefined()
  })
})
