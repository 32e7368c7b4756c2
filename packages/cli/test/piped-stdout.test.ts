import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { BIN, orangebox, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

let scratch: Scratch
beforeAll(() => {
  scratch = scratchFolder()
})
afterAll(() => scratch.remove())

/** A pipeline in a shell, as people write it; `run COMMAND` in it is orangebox run. Its exit code is that of orangebox. */
function pipeline(text: string) {
  const data = mkdtempSync(join(scratch.path, "data-"))
  const script = `set -o pipefail; run() { "${process.execPath}" "${BIN}" run --quiet --no-workspace --data "${data}" -- "$@"; }; ${text}`
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], { cwd: scratch.path, maxBuffer: 2 ** 28 })
  return { stdout, stderr: stderr.toString(), status, end: () => endOf(data) }
}

/** What the end of the only run says. */
function endOf(data: string): Record<string, unknown> {
  const folder = join(data, "journal")
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith(".ndjson"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
  const ends = lines.flatMap((line) => {
    const { e: event } = line === "" ? {} : JSON.parse(line)
    return /^run_(?:completed|failed)$/.test(event?.event_type) ? [event.payload] : []
  })
  expect(ends).toHaveLength(1)
  return ends[0]
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

describe("[P-10] a command whose stdout is piped", () => {
  test("has a pipe as before, and what it wrote is on record to the byte", () => {
    const { stdout, end } = pipeline(`run sh -c 'test -p /dev/stdout && echo piped; echo again > /dev/stdout' | cat`)
    expect(stdout.toString()).toBe("piped\nagain\n")
    expect(end()).toMatchObject({ exit_code: 0, stdout_bytes: 12, stdout_ref: `sha256:${sha256(stdout)}` })
  })

  test("writes bytes that are no text, and a hundred megabytes, which all arrive", () => {
    const binary = pipeline(`run node -e 'process.stdout.write(Buffer.from([0, 255, 10, 254, 13, 128]))' | cat`)
    expect([...binary.stdout]).toEqual([0, 255, 10, 254, 13, 128])
    expect(binary.end()).toMatchObject({ stdout_bytes: 6, stdout_ref: `sha256:${sha256(binary.stdout)}` })
    const many = pipeline(`run head -c 104857600 /dev/zero | sha256sum`)
    expect(many.stdout.toString()).toContain(sha256(Buffer.alloc(104_857_600)))
    expect(many.end()).toMatchObject({
      stdout_bytes: 104_857_600,
      stdout_digest: expect.stringMatching(/^[0-9a-f]{16}:/),
    })
    expect(many.end()).not.toHaveProperty("stdout_ref")
  })

  test("hears of it when nobody reads any more, and the record makes no claim about it", () => {
    const { stdout, status, end } = pipeline("run yes | head -n 1")
    expect([stdout.toString(), status]).toEqual(["y\n", 141])
    expect(end()).toMatchObject({ signal: "SIGPIPE" })
    expect(end()).not.toHaveProperty("stdout_bytes")
  })

  test("waits for a slow reader, loses nothing, and its exit code is its own", () => {
    const { stdout, status } = pipeline(`run sh -c 'head -c 3000000 /dev/zero; exit 7' | (sleep 1; wc -c)`)
    expect([stdout.toString().trim(), status]).toEqual(["3000000", 7])
  })

  test("leaves a process behind that goes on writing: it is heard, and not waited for", () => {
    const { stdout, end } = pipeline(`run sh -c '(sleep 2; echo late) & echo early' | cat`)
    expect(stdout.toString()).toBe("early\nlate\n")
    expect(end()).not.toHaveProperty("stdout_bytes")
  })

  test("keeps its stdout when orangebox is killed", () => {
    // What a killed process had in its hands is gone with it, so it is killed once the first line has been read.
    const read = join(scratch.path, "first-line-read")
    const { stdout } = pipeline(
      `run sh -c 'echo one; until [ -e ${read} ]; do sleep 0.05; done; kill -9 $PPID; sleep 1; echo two' | (read -r line; echo "$line"; touch ${read}; cat)`,
    )
    expect(stdout.toString()).toBe("one\ntwo\n")
  })

  test("with stdout and stderr in one pipe keeps their order, and nothing is read along", () => {
    const { stdout, end } = pipeline(`run sh -c 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done' 2>&1 | cat`)
    expect(stdout.toString().startsWith([1, 2, 3, 4, 5].map((i) => `o${i}\ne${i}\n`).join(""))).toBe(true)
    expect(end()).not.toHaveProperty("stdout_bytes")
  })

  test("is left alone where stdout is a file", () => {
    const { end } = pipeline(`run sh -c 'test -f /dev/stdout && echo file' > written.txt`)
    expect(readFileSync(join(scratch.path, "written.txt"), "utf8")).toBe("file\n")
    expect(end()).not.toHaveProperty("stdout_bytes")
  })

  test("a secret in it is masked in the record, and passed on as it is", () => {
    const secret = `ghp_${"x1Y2".repeat(9)}`
    const { stdout, end } = pipeline(`run echo token=${secret} | cat`)
    expect(stdout.toString()).toBe(`token=${secret}\n`)
    expect(end()["stdout_ref"]).not.toBe(`sha256:${sha256(stdout)}`)
  })
})

const AGENT = `
import { readFileSync } from "node:fs"
const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
  method: "POST",
  headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }),
})
await response.text()
console.log(readFileSync("says.txt", "utf8"))
`

describe("[P-10] stdout on the certificate", () => {
  const says = (text: string) => writeFileSync(join(scratch.path, "says.txt"), text)
  const data = () => ["--data", join(scratch.path, "certified")]
  const agent = ["--", process.execPath, "--input-type=module", "-e", AGENT]
  let env: { ANTHROPIC_BASE_URL: string }
  beforeAll(async () => {
    const model = await startModelServer((_, response) => answerMessage(response, { id: "msg_1", content: [] }))
    env = { ANTHROPIC_BASE_URL: model.origin }
    says("done\nall 12 tests pass")
    await orangebox(["run", "--quiet", ...data(), ...agent], { cwd: scratch.path, env })
    await model.close()
  })
  const replay = () => orangebox(["replay", "last", "--json", ...data(), ...agent], { cwd: scratch.path, env })

  test("is compared where it was piped, and another line has none", async () => {
    says("done\nall 13 tests pass")
    const other = await replay()
    expect(other.exitCode).toBe(1)
    const { blocking } = JSON.parse(other.stderr)
    expect(blocking).toEqual([
      expect.objectContaining({
        condition: "outputs",
        reason: expect.stringContaining('stdout differs: line 2 was "all 12 tests pass", it is "all 13 tests pass"'),
      }),
    ])
  })

  test("is named as compared, or as not compared", async () => {
    says("done\nall 12 tests pass")
    const run = JSON.parse((await orangebox(["runs", "--json", ...data()])).stdout).runs.at(-1).run_id
    const replayTo = (where: string) =>
      spawnSync(
        "bash",
        ["-c", `"$0" "$@" ${where}`, process.execPath, BIN, "replay", run, "--json", ...data(), ...agent],
        { cwd: scratch.path, env: { ...process.env, ...env }, encoding: "utf8" },
      )
    const same = JSON.parse(replayTo("| cat").stderr)
    expect(same.certificate.scope.compared, JSON.stringify(same.blocking)).toContain("stdout")
    expect(same.certificate.outputs.stdout).toBe(`sha256:${sha256(Buffer.from("done\nall 12 tests pass\n"))}`)
    const toFile = JSON.parse(replayTo("> out.txt").stderr)
    expect(toFile.certificate.scope.compared).not.toContain("stdout")
    expect(toFile.certificate.scope.not_compared).toContainEqual(expect.objectContaining({ what: "stdout" }))
  })
})
