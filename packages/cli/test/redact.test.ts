import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createRuleset, explain, redactText } from "@orangebox/redaction"
import fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { ByteTextDecoder, byteLengthOf, encodeByteText } from "../src/redact/byte-text.js"
import { StreamExplainer } from "../src/redact/explain-stream.js"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
let env: Record<string, string>

beforeEach(() => {
  scratch = scratchFolder()
  env = { XDG_CONFIG_HOME: join(scratch.path, "xdg") }
})
afterEach(() => scratch.remove())

const here = (args: readonly string[], input?: string | Uint8Array) =>
  orangebox(args, { cwd: scratch.path, env, ...(input === undefined ? {} : { input }) })

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(scratch.path, name), content)
  return name
}

/** Looks like a token and opens nothing. */
const token = (seed = 7): string =>
  `ghp_${Array.from({ length: 36 }, (_, i) => "abcdefghijkLMNOPQRSTUVWXYZ0123456789".charAt((i * seed + seed * seed) % 36)).join("")}`

test("[X-06] redact prints a file as it would be stored, whatever bytes are in it", async () => {
  const secret = token()
  const bytes = Buffer.concat([Buffer.from(`a\0b ${secret} `), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(" ü\n")])
  const { stdout, stderr, exitCode } = await here(["redact", "--json", file("mixed.bin", bytes)])
  expect(exitCode).toBe(0)
  const { files } = jsonOf<{ files: { base64: string; undecodable_bytes: number; masks: { rule: string }[] }[] }>({
    stdout,
    stderr,
    exitCode,
  })
  const stored = Buffer.from(files[0]!.base64, "base64")
  const mask = Buffer.from(`ghp…redacted…${secret.slice(-3)}`)
  expect(stored).toEqual(
    Buffer.concat([Buffer.from("a\0b "), mask, Buffer.from([0x20, 0xff, 0xfe, 0x80]), Buffer.from(" ü\n")]),
  )
  expect(files[0]).toMatchObject({ undecodable_bytes: 3, masks: [{ byte_offset: 4, rule: "github-token" }] })
})

test("[X-06] redact reads stdin and several files, and never prints the secret", async () => {
  const one = file("one.txt", `first ${token(5)}\n`)
  const piped = await here(["redact", one, "-"], `second ${token(11)}\n`)
  expect(piped.exitCode).toBe(0)
  expect(piped.stdout).toMatch(/^first ghp…redacted….{3}\nsecond ghp…redacted….{3}\n$/)
  expect(piped.stderr).toContain("1 mask in 47 B")
})

test("[X-06] --explain lists each mask with line, column, byte, rule, its meaning and its tag", async () => {
  const secret = token()
  const name = file("note.txt", `größe\n  key: ${secret}\n`)
  const { stdout, exitCode } = await here(["redact", "--explain", name])
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(
    /^note\.txt:2:8 {2}github-token {2}ghp…redacted….{3} {2}GitHub tokens.* {2}byte 15 {2}tag [0-9a-f]{24}\n$/,
  )
  expect(stdout).not.toContain(secret)
})

test("[X-06] --check is for hooks: exit code 1 and the place when something would be masked, silence when not", async () => {
  const bad = await here(["redact", "--check"], `+  token = "${token()}"\n`)
  expect(bad).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("1:13  github-token") })
  expect(await here(["redact", "--check"], "+  nothing here\n")).toEqual({ exitCode: 0, stdout: "", stderr: "" })
})

test("[X-08] personal data is masked with --pii, by the configuration, and under the audit profile", async () => {
  const text = "write to bob@mail.example-host.org\n"
  expect((await here(["redact"], text)).stdout).toBe(text)
  expect((await here(["redact", "--pii"], text)).stdout).toBe("write to bob…redacted…org\n")
  file("orangebox.config.json", '{"profile":"audit"}')
  expect((await here(["redact"], text)).stdout).toBe("write to bob…redacted…org\n")
  file("orangebox.config.json", '{"redaction":{"pii":true}}')
  expect((await here(["redact"], text)).stdout).toBe("write to bob…redacted…org\n")
})

test("[X-06] --rules lists every rule, the user's with them, and says which are on", async () => {
  file("orangebox.config.json", '{"redaction":{"values":[{"id":"badge","pattern":"EMP-\\\\d{4}","about":"Badges"}]}}')
  const { rules } = jsonOf<{ rules: { id: string; pack: string; is_on: boolean }[] }>(
    await here(["redact", "--rules", "--json"]),
  )
  expect(rules.find(({ id }) => id === "user-badge")).toMatchObject({ pack: "user", is_on: true, about: "Badges" })
  expect(rules.find(({ id }) => id === "pii-email")).toMatchObject({ pack: "pii", is_on: false })
  const { stdout } = await here(["redact", "--rules"])
  for (const { id } of rules) expect(stdout).toContain(id)
  expect((await here(["redact"], "badge EMP-1234\n")).stdout).toBe("badge E…redacted…4\n")
})

test.each([
  [["redact", "missing.txt"], "NO_FILE"],
  [["redact", "."], "NOT_A_FILE"],
  [["redact", "--rules", "some.txt"], "USAGE"],
])("%j is refused with what to do next", async (args, code) => {
  const { stderr, stdout, exitCode } = await orangeboxHere([...args, "--json"])
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" })
  expect(JSON.parse(stderr)).toMatchObject({ error: { code, next: expect.any(String) } })
})

test.each([
  ["does not compile", "a(", "redaction.values[0].pattern:0 does not compile"],
  ["could backtrack", "(a+)+", "redaction.values[0].pattern:2 + has no upper bound"],
])("[X-06] a rule of the configuration that %s is refused with its place", async (_, pattern, reason) => {
  file("orangebox.config.json", JSON.stringify({ redaction: { values: [{ id: "x", pattern }] } }))
  const { stderr, exitCode } = await here(["redact"], "text")
  expect(exitCode).toBe(2)
  expect(stderr).toContain(reason)
  expect(stderr).toContain(join(scratch.path, "orangebox.config.json"))
})

test("a line of many megabytes and a text of nothing but NUL come out as they went in", async () => {
  const long = Buffer.concat([Buffer.alloc(3_000_000, "x"), Buffer.from(` ${token()} `), Buffer.alloc(500_000)])
  const { stdout, exitCode } = await here(["redact", file("long.txt", long)])
  expect(exitCode).toBe(0)
  expect(stdout.length).toBe(3_000_000 + 18 + 500_000)
  expect(stdout).toContain(" ghp…redacted…")
})

test("[X-03] tags are those of the store where there is one", async () => {
  mkdirSync(join(scratch.path, ".orangebox"), { mode: 0o700 })
  const tags = []
  for (let i = 0; i < 2; i++) {
    const { masks } = jsonOf<{ masks: { tag: string }[] }>(await here(["redact", "--explain", "--json"], token()))
    tags.push(masks[0]!.tag)
  }
  expect(tags[0]).toBe(tags[1])
  expect(readFileSync(join(scratch.path, ".orangebox", "store.key"))).toHaveLength(64)
})

test("bytes become text and bytes again, cut anywhere", () => {
  const anyBytes = fc.uint8Array({ maxLength: 60 })
  const someText = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => Buffer.from(text))
  const content = fc.array(fc.oneof(anyBytes, someText), { maxLength: 6 }).map((parts) => Buffer.concat(parts))
  fc.assert(
    fc.property(content, fc.integer({ min: 1, max: 7 }), (bytes, pieceLength) => {
      const decoder = new ByteTextDecoder()
      let text = ""
      for (let at = 0; at < bytes.length; at += pieceLength) text += decoder.push(bytes.subarray(at, at + pieceLength))
      text += decoder.finish()
      expect(Buffer.from(encodeByteText(text))).toEqual(bytes)
      expect(byteLengthOf(text)).toBe(bytes.length)
    }),
  )
})

test("[X-06] explaining a stream finds what explaining the whole text finds, at the same places", () => {
  const ruleset = createRuleset({ key: Buffer.alloc(32, 1), pii: true })
  const filler = `${"lorem ipsum dolor sit amet, größer als zuvor; ".repeat(60)}\n`
  let text = ""
  for (let i = 1; i <= 150; i++) text += `${filler}line ${i} ${token(i)} and a${i}@mail.example-host.org\n`
  const whole = explain(text, ruleset)
  expect(whole.length).toBeGreaterThanOrEqual(300)
  for (const pieceLength of [997, 65_536]) {
    const explainer = new StreamExplainer(ruleset)
    const found = []
    for (let at = 0; at < text.length; at += pieceLength)
      found.push(...explainer.push(text.slice(at, at + pieceLength)))
    found.push(...explainer.finish())
    expect(found.map(({ byteOffset: _, byteLength: __, ...rest }) => rest)).toEqual(
      whole.map(({ start: _, end: __, ...rest }) => rest),
    )
    const bytes = Buffer.from(text)
    for (const { byteOffset, byteLength, masked } of found) {
      const secret = bytes.toString("utf8", byteOffset, byteOffset + byteLength)
      expect(redactText(` ${secret} `, ruleset).text).toContain(masked)
    }
  }
})
