import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { request } from "node:http"
import { createServer } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ClickhouseSettings, ClickhouseStore } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ordinaryRun } from "../recorded.js"
import { freePort, noServer, TestServer } from "./server.js"

describe.skipIf(noServer !== undefined)("a cluster that cannot be used says why, and what to do", () => {
  let server: TestServer
  let settings: ClickhouseSettings
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bad-"))
  beforeAll(async () => {
    server = await TestServer.start()
    settings = server.settings()
    const store = new ClickhouseStore(settings)
    await store.migrate()
    await store.close()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const check = async (given: Partial<ClickhouseSettings>, code: string): Promise<void> => {
    const store = new ClickhouseStore({ ...settings, ...given })
    await expect(store.commit(ordinaryRun().batch())).rejects.toMatchObject({
      code,
      advice: expect.stringMatching(/journals/),
    })
    await store.close()
  }

  test("[Z-01] wrong password, missing database, nobody there: each is named", async () => {
    await check({ user: "default", password: "wrong" }, "STORE_DENIED")
    await check({ database: "not_there" }, "STORE_NO_DATABASE")
    await check({ url: `http://127.0.0.1:${await freePort()}` }, "STORE_AWAY")
  })

  test("[Z-01] a password does not cross a network in the clear because of a missing letter", () => {
    expect(() => new ClickhouseStore({ ...settings, url: "http://clickhouse.example:8123" })).toThrow(/unencrypted/)
    expect(
      () => new ClickhouseStore({ ...settings, url: "http://clickhouse.example:8123", allowInsecure: true }),
    ).not.toThrow()
    expect(() => new ClickhouseStore({ ...settings, url: "ftp://clickhouse.example" })).toThrow(/https/)
    expect(() => new ClickhouseStore({ ...settings, database: "a; DROP TABLE b" })).toThrow(/name of a database/)
  })

  test("[Z-01] collectors of an older and a newer schema write side by side; one that is too old stops and says so", async () => {
    const own = server.settings()
    const store = new ClickhouseStore(own)
    await store.migrate()
    const schema = (version: number, least: number): Promise<string> =>
      server.query(
        `INSERT INTO ${own.database}.fact_rows (kind, key, version, at, json) VALUES ('schema', 'schema', ${version}, 0, '{"version":${version},"min_writer":${least},"min_reader":${least}}')`,
      )
    await server.query(`ALTER TABLE ${own.database}.run_rows ADD COLUMN novelty String DEFAULT 'of a later version'`)
    await schema(2, 1)
    const older = new ClickhouseStore(own)
    await older.commit(ordinaryRun().batch())
    expect((await older.listRuns()).total).toBe(1)
    await schema(3, 3)
    const tooOld = new ClickhouseStore(own)
    await expect(tooOld.commit(ordinaryRun({ no: 2 }).batch())).rejects.toMatchObject({ code: "STORE_VERSION" })
    await expect(tooOld.listRuns()).rejects.toMatchObject({ code: "STORE_VERSION" })
    await expect(tooOld.migrate()).rejects.toMatchObject({ code: "STORE_VERSION" })
    for (const one of [store, older, tooOld]) await one.close()
  })

  test("[Z-01] [X-09] what the server quotes of recorded values is not passed on", async () => {
    const store = new ClickhouseStore(settings)
    const run = ordinaryRun({ no: 7 })
    // A number where the server wants one, and a text with a secret in it instead.
    const row = { ...run.events[0]!, writerId: "w" }
    await store.commit({ events: [row] })
    const secret = "hunter2-the-secret"
    const refused = await server.query(`SELECT toInt32('${secret}')`).catch((error: Error) => error.message)
    expect(refused).toContain(secret)
    const { explained } = await import("../../src/clickhouse/explain-error.js")
    const told = explained(Object.assign(new Error(refused), { code: "6", type: "CANNOT_PARSE_TEXT" }), settings)
    expect(told.message).toContain("CANNOT_PARSE_TEXT")
    expect(told.message).not.toContain(secret)
    await store.close()
  })

  test("[Z-01] TLS: an unknown authority and a certificate for another name are refused, a known one is used", async () => {
    const make = (name: string): { key: string; cert: string } => {
      const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
      execFileSync(
        "openssl",
        [
          "req",
          "-x509",
          "-newkey",
          "rsa:2048",
          "-nodes",
          "-keyout",
          key,
          "-out",
          cert,
          "-days",
          "2",
          "-subj",
          `/CN=${name}`,
          "-addext",
          `subjectAltName=DNS:${name}`,
        ],
        { stdio: "ignore" },
      )
      return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
    }
    for (const name of ["localhost", "elsewhere.example"]) {
      const certificate = make(name)
      const proxy = createServer(certificate, (asked, answer) => {
        const passed = request(
          { host: "127.0.0.1", port: server.port, path: asked.url, method: asked.method, headers: asked.headers },
          (got) => {
            answer.writeHead(got.statusCode ?? 502, got.headers)
            got.pipe(answer)
          },
        )
        asked.pipe(passed)
      })
      await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
      const url = `https://localhost:${(proxy.address() as { port: number }).port}`
      await check({ url }, "STORE_TLS")
      if (name === "localhost") {
        const store = new ClickhouseStore({ ...settings, url, certificateAuthority: certificate.cert })
        expect(await store.commit(ordinaryRun({ no: 9 }).batch())).toMatchObject({ events: 7 })
        await store.close()
      } else await check({ url, certificateAuthority: certificate.cert }, "STORE_TLS")
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    }
  })
})
