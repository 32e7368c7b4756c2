import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { closeSync, existsSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs"
import { join } from "node:path"
import { brotliCompressSync, constants, crc32 } from "node:zlib"
import { bodyHash, type Event } from "@orangebox/contract"
import { readPortable } from "@orangebox/replay"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { BIN, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

let scratch: Scratch
let path: string
let header: string
let events: readonly Event[]

beforeAll(async () => {
  scratch = scratchFolder()
  const data = join(scratch.path, "data")
  await record(data, async (recorder) => void (await recordOrdinaryRun(recorder)))
  path = join(scratch.path, "hostile.obxrun")
  await orangeboxHere(["export", "last", "--output", path, "--data", data])
  const reading = await readPortable(readFileSync(path))
  events = reading.events
  header = JSON.stringify(reading.header)
})
afterAll(() => scratch.remove())

type Piece = readonly [type: string, name: string, bytes: Uint8Array]

/** A file that is right in every checksum, written piece by piece. */
function writeFile(pieces: Iterable<Piece>): void {
  const fd = openSync(path, "w")
  const digest = createHash("sha256")
  const put = (bytes: Uint8Array): void => {
    digest.update(bytes)
    writeSync(fd, bytes)
  }
  put(Buffer.from(`OBXRUN1\n${header}\n`))
  let sections = 0
  for (const [type, name, bytes] of pieces) {
    put(Buffer.from(`${type} ${bytes.length} ${crc32(bytes).toString(16).padStart(8, "0")} ${name}\n`))
    put(bytes)
    put(Buffer.from("\n"))
    sections++
  }
  writeSync(fd, `E ${sections} ${digest.digest("hex")}\n`)
  closeSync(fd)
}

const packed = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 24 } })
const linesOf = (list: readonly unknown[]): Buffer =>
  Buffer.from(list.map((one) => `${JSON.stringify(one)}\n`).join(""))

/** Runs the built command on the file as a process of its own, and tells how much memory it took at most. */
function measured(...args: string[]): { exitCode: number | null; stderr: string; megabytes: number } {
  // VmHWM, because the largest RSS that getrusage tells is handed on from the process that started this one.
  const script = `import { readFileSync } from "node:fs"
    process.on("exit", () => {
      const kilobytes = /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]
      process.stderr.write("\\npeak " + kilobytes + "\\n")
    })
    process.argv.splice(1, 1)
    await import(process.env.BIN)`
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", script, "-", "orangebox", ...args],
    { encoding: "utf8", env: { ...process.env, BIN }, maxBuffer: 2 ** 28 },
  )
  const peak = /peak (\d+)/.exec(stderr)
  return { exitCode: status, stderr, megabytes: Number(peak?.[1] ?? Number.NaN) / 1024 }
}

const own = (): Piece => ["V", "-", linesOf(events)]
/** Events that are as small as an event can be: as objects they take most. */
function* manyEvents(bytes: number): Generator<Piece> {
  const event = { ...events[1], artifact_refs: [], payload: {} }
  for (let done = 0, no = 0; done < bytes; ) {
    const lines = linesOf(
      Array.from({ length: 2000 }, () => {
        no++
        const id = `01a1ec24-5831-772a-8142-${no.toString(16).padStart(12, "0")}`
        return { ...event, event_id: id, sequence_no: no }
      }),
    )
    done += lines.length
    yield ["v", "-", packed(lines)]
  }
}

const FILES: Record<string, () => Iterable<Piece>> = {
  "three kilobytes that unpack to a quarter of a gigabyte of empty lines": () => [
    own(),
    ["v", "-", packed(Buffer.alloc(255 * 2 ** 20, "\n"))],
  ],
  "thirty megabytes of lines that are no events": () => [own(), ["v", "-", packed(Buffer.alloc(30 * 2 ** 20, "1\n"))]],
  "one line of thirty megabytes": () => [own(), ["v", "-", packed(Buffer.alloc(30 * 2 ** 20, "1"))]],
  "as many events as fit": () => [own(), ...manyEvents(31 * 2 ** 20)],
  "more events than a file may hold": () => [own(), ...manyEvents(36 * 2 ** 20)],
  "an event nested a million deep": () => [
    own(),
    ["V", "-", Buffer.from(`{"a":${"[".repeat(1e6)}${"]".repeat(1e6)}}\n`)],
  ],
  "notes of a million entries": () => [
    own(),
    [
      "n",
      "-",
      packed(
        Buffer.from(
          JSON.stringify({
            partial_streams: [],
            gaps: [],
            absent_bodies: [],
            redactions: Array.from({ length: 80_000 }, (_, no) => ({ run_id: "r", event_id: `${no}`, at_ms: 1 })),
          }),
        ),
      ),
    ],
  ],
  "notes nested deep": () => [own(), ["N", "-", Buffer.from(`{"gaps":${"[".repeat(1e6)}${"]".repeat(1e6)}}`)]],
  *"a body that unpacks to a gigabyte"() {
    yield own()
    const bytes = packed(Buffer.alloc(2 ** 30))
    yield ["b", `sha256:${"0".repeat(64)}`, bytes]
  },
  *"four hundred megabytes of bodies"() {
    yield own()
    for (let no = 0; no < 4; no++) {
      const bytes = Buffer.alloc(100 * 2 ** 20, no)
      yield ["B", bodyHash(bytes), bytes]
    }
  },
  *"more small bodies than a file may hold"() {
    yield own()
    for (let no = 0; no < 205_000; no++) {
      const bytes = Buffer.from(`${no}`)
      yield ["B", bodyHash(bytes), bytes]
    }
  },
}

describe.skipIf(!existsSync("/proc/self/status"))("[S-09] an exported file cannot exhaust memory", () => {
  test.each(Object.keys(FILES))(
    "%s",
    (name) => {
      writeFile(FILES[name]!())
      expect(statSync(path).size).toBeLessThan(2 ** 30)
      const { exitCode, stderr, megabytes } = measured("verify", path)
      expect({ exitCode, stderr: stderr.slice(0, 2000) }).toEqual({
        exitCode: 1,
        stderr: expect.not.stringMatching(/^\s+at .*\(/m),
      })
      expect(megabytes).toBeLessThan(300)
    },
    180_000,
  )

  test("reading it as a run takes no more, and says what it is not", () => {
    writeFile([own(), ...manyEvents(31 * 2 ** 20)])
    const { exitCode, megabytes } = measured("show", path)
    expect(exitCode).toBe(1)
    expect(megabytes).toBeLessThan(300)
  }, 180_000)

  test("a gigabyte of nothing", () => {
    writeFile([own()])
    truncateSync(path, 2 ** 30 - 1)
    const { exitCode, megabytes } = measured("verify", path)
    expect(exitCode).toBe(1)
    expect(megabytes).toBeLessThan(300)
  })
})
