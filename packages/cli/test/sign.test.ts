import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { RunSignature } from "@orangebox/contract"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

interface SignedJson {
  readonly signed: readonly RunSignature[]
  readonly head: string
}

describe("[O-14] what was signed cannot be changed, reordered or deleted unnoticed", () => {
  let scratch: Scratch
  let data: string
  let key: string
  const at = (name: string) => join(scratch.path, name)
  const here = (...args: string[]): Promise<Finished> => orangeboxHere([...args, "--data", data])
  const chainFile = () => join(data, "signatures", "chain.ndjson")
  const lines = () => readFileSync(chainFile(), "utf8").trimEnd().split("\n")

  /** What `verify` says while the chain holds these lines. */
  async function verifyWith(changed: readonly string[], ...more: string[]): Promise<Finished> {
    const kept = readFileSync(chainFile())
    writeFileSync(chainFile(), changed.map((line) => `${line}\n`).join(""))
    try {
      return await here("verify", "--signed-by", `${key}.pub`, ...more)
    } finally {
      writeFileSync(chainFile(), kept)
    }
  }

  beforeAll(async () => {
    scratch = scratchFolder()
    data = at("data")
    key = at("audit.pem")
    await record(data, async (recorder) => {
      for (const input of ["one", "two", "three"]) await recordOrdinaryRun(recorder, input)
    })
    await orangeboxHere(["sign", "--new-key", key])
    await here("sign", "--all", "--key", key)
  })
  afterAll(() => scratch.remove())

  test("all runs that have ended are signed once, and hold", async () => {
    expect(lines()).toHaveLength(3)
    expect((await here("sign", "--all", "--key", key)).stdout).toBe("nothing new to sign\n")
    const { stdout, exitCode } = await here("verify", "--signed-by", `${key}.pub`)
    expect(stdout).toContain("3 signatures checked, 0 findings")
    expect(exitCode).toBe(0)
  })

  test("a line that is taken out is missed, wherever it stood", async () => {
    const [first, second, third] = lines() as [string, string, string]
    for (const rest of [
      [second, third],
      [first, third],
    ]) {
      const { stdout, exitCode } = await verifyWith(rest)
      expect(stdout).toContain("lines are missing, moved or added before it")
      expect(exitCode).toBe(1)
    }
  })

  test("what is cut off at the end is missed by somebody who noted the head", async () => {
    const { head } = jsonOf<SignedJson>(await here("verify", "--signed-by", `${key}.pub`, "--json"))
    expect((await here("verify", "--signed-by", `${key}.pub`, "--head", head)).exitCode).toBe(0)
    const cut = lines().slice(0, -1)
    expect((await verifyWith(cut)).exitCode).toBe(0)
    const { stdout, exitCode } = await verifyWith(cut, "--head", head)
    expect(stdout).toContain("signatures were taken off its end")
    expect(exitCode).toBe(1)
  })

  test("lines in another order, a changed statement and one that was written by hand are named", async () => {
    const [first, second, third] = lines() as [string, string, string]
    expect((await verifyWith([second, first, third])).exitCode).toBe(1)
    const changed = second.replace(/"events":\d+/, '"events":1')
    expect((await verifyWith([first, changed, third])).stdout).toContain("changed after it was signed")
    const twice = second.replace('"events":', '"events":1,"events":')
    expect((await verifyWith([first, twice, third])).stdout).toContain("line 2 of the chain cannot be read")
    expect((await verifyWith([first, "{}", third])).exitCode).toBe(1)
  })

  test("a run that another key signed again is not what this key vouched for", async () => {
    const other = at("other.pem")
    await orangeboxHere(["sign", "--new-key", other])
    const forged = scratchFolder()
    try {
      await record(forged.path, (recorder) => recordOrdinaryRun(recorder, "four").then(() => {}))
      await orangeboxHere(["sign", "last", "--key", other, "--data", forged.path])
      const verified = await orangeboxHere(["verify", "--signed-by", `${key}.pub`, "--data", forged.path])
      expect(verified.stdout).toContain("0 signatures checked, 0 findings")
      expect(verified.stdout).toContain("1 signature by other keys")
      const one = await orangeboxHere(["verify", "last", "--signed-by", `${key}.pub`, "--data", forged.path])
      expect([one.exitCode, one.stderr]).toEqual([2, expect.stringContaining("not signed with this key")])
    } finally {
      forged.remove()
    }
  })

  test("an exported run and its signature are checked offline, and another run's signature is not its", async () => {
    const [, , ...runs] = lines().map((line) => (JSON.parse(line) as RunSignature).statement.run_id)
    const runId = runs[0]!
    await here("export", runId, "--output", at("run.obxrun"))
    await here("sign", runId, "--key", key, "--output", at("run.obxrun.sig"))
    const nowhere = at("nowhere")
    const check = (...more: string[]) =>
      orangeboxHere(["verify", at("run.obxrun"), "--signed-by", `${key}.pub`, ...more, "--data", nowhere])
    const held = await check()
    expect([held.exitCode, held.stdout], held.stderr).toEqual([0, expect.stringContaining("is what was signed")])
    writeFileSync(at("other.sig"), `${lines()[0]}\n`)
    const other = await check("--signature", at("other.sig"))
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining("there is no signature of this run")])
  })

  test("a run that was redacted, pruned away or written anew since is named", async () => {
    const folder = scratchFolder()
    const there = (...args: string[]) => orangeboxHere([...args, "--data", folder.path])
    try {
      await record(folder.path, (recorder) => recordOrdinaryRun(recorder, "count the goats").then(() => {}))
      const { signed } = jsonOf<SignedJson>(await there("sign", "last", "--key", key, "--json"))
      await there("redact", "--stored", "--value", "count the goats")
      const redacted = await there("verify", "--signed-by", `${key}.pub`)
      expect(redacted.stdout).toMatch(/not what was signed.*redacted since/)
      expect(redacted.exitCode).toBe(1)
      const elsewhere = scratchFolder()
      try {
        await record(elsewhere.path, (recorder) => recordOrdinaryRun(recorder).then(() => {}))
        await orangeboxHere(["sign", "last", "--key", key, "--data", elsewhere.path])
        const chain = join(elsewhere.path, "signatures", "chain.ndjson")
        writeFileSync(chain, readFileSync(join(folder.path, "signatures", "chain.ndjson")))
        const gone = await orangeboxHere(["verify", "--signed-by", `${key}.pub`, "--data", elsewhere.path])
        expect(gone.stdout).toContain(`${signed[0]!.statement.run_id} the run was signed, and is not there any more`)
        expect(gone.exitCode).toBe(1)
      } finally {
        elsewhere.remove()
      }
    } finally {
      folder.remove()
    }
  })

  test("a run that goes on, a key that is none and one that others can read are refused in words", async () => {
    const folder = scratchFolder()
    try {
      await record(folder.path, (recorder) => void recorder.startRun({ entrypoint: "long", input: "x" }))
      const open = await orangeboxHere(["sign", "last", "--key", key, "--data", folder.path])
      expect([open.exitCode, open.stderr]).toEqual([2, expect.stringMatching(/has not ended/)])
    } finally {
      folder.remove()
    }
    writeFileSync(at("no.pem"), "no key", { mode: 0o600 })
    expect((await here("sign", "last", "--key", at("no.pem"))).stderr).toContain("not a private Ed25519 key")
    writeFileSync(at("open.pem"), readFileSync(key), { mode: 0o644 })
    expect((await here("sign", "last", "--key", at("open.pem"))).stderr).toContain("others can read this private key")
    expect((await here("sign", "last")).stderr).toContain("there is no key to sign with")
    expect((await here("verify", "--head", `sha256:${"0".repeat(64)}`)).exitCode).toBe(2)
  })

  const openssl = (...args: string[]) => spawnSync("openssl", args, { cwd: scratch.path, encoding: "utf8" })
  const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

  test.skipIf(!hasOpenssl)(
    "a time stamp of a signature's file is read, and one of another file is refused (needs openssl)",
    async () => {
      const [first] = lines()
      writeFileSync(at("first.sig"), `${first}\n`)
      writeFileSync(at("else.sig"), "something else\n")
      writeFileSync(
        at("tsa.cnf"),
        `[tsa]\ndefault_tsa=t\n[t]\nserial=./serial\ncrypto_device=builtin\nsigner_cert=./tsa.crt\nsigner_key=./tsa.key\nsigner_digest=sha256\ndefault_policy=1.2.3.4\ndigests=sha256\naccuracy=secs:1\nordering=no\ntsa_name=no\ness_cert_id_chain=no\n[e]\nextendedKeyUsage=critical,timeStamping\n[req]\ndistinguished_name=d\n[d]\n`,
      )
      writeFileSync(at("serial"), "01\n")
      const made = openssl(
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tsa.key", "-out", "tsa.crt"],
        ...["-subj", "/CN=stamps", "-days", "2", "-config", "tsa.cnf", "-extensions", "e"],
      )
      expect(made.status, made.stderr).toBe(0)
      for (const name of ["first", "else"]) {
        openssl("ts", "-query", "-sha256", "-cert", "-data", `${name}.sig`, "-out", `${name}.tsq`)
        const reply = openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", `${name}.tsq`, "-out", `${name}.tsr`)
        expect(reply.status, reply.stderr).toBe(0)
      }
      const check = (stamp: string) => here("verify", "--signed-by", `${key}.pub`, "--time-stamp", at(stamp))
      const stamped = await check("first.tsr")
      expect([stamped.exitCode, stamped.stdout]).toEqual([0, expect.stringMatching(/stamped 2\d{3}-/)])
      expect((await check("else.tsr")).exitCode).toBe(1)
      expect((await check("tsa.cnf")).stderr).toContain("is no time stamp")
    },
  )
})
