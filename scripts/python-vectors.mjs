// What the TypeScript recorder writes for some hundred programs, each made from a seed, as hashes: the Python recorder makes the same programs
// from the same seeds and has to write the same bytes. Clock, ids and key are given; nothing else may differ.
//
//     node scripts/python-vectors.mjs             # writes packages/journal/test/fixtures/python-vectors.json
//     node scripts/python-vectors.mjs --check     # says whether it is what this build writes
//     node scripts/python-vectors.mjs --show 17   # the lines of one seed, `full`; --show 17 redacted
//
// What stands in the repository was recorded in `full`: rules of redaction change, bytes do not. Both modes are compared as they are now by
// `npm run test:python`, with what `--redacted <file>` writes.
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

// A recorder learns secrets from its environment; of two machines none is the same.
for (const name of Object.keys(process.env)) if (name !== "PATH") delete process.env[name]
const { canonicalHash, canonicalJsonText, summarizeText } = await import("../packages/contract/bundle/index.js")
const { openJournal, openDataFolder } = await import("../packages/journal/bundle/index.js")
const { Recorder } = await import("../packages/recorder/bundle/index.js")
const { mcpSignature, retrieverSignature, toolSignature } = await import("../packages/dialects/bundle/index.js")

const FIXTURE = fileURLToPath(new URL("../packages/journal/test/fixtures/python-vectors.json", import.meta.url))
const SEEDS = 320

export function vectors() {
  const programs = Array.from({ length: SEEDS }, (_, seed) => sha256(linesOf(seed).join("")))
  const values = Array.from({ length: 120 }, (_, seed) => {
    const random = drawer(seed + 10_000)
    const value = random.value(0)
    const text = JSON.stringify(value)
    return [
      canonicalHash(value),
      toolSignature(random.word(), value),
      retrieverSignature({
        query: random.text(),
        index: random.word(),
        topK: random.count(9),
        filters: { a: random.word() },
      }),
      mcpSignature("tools/call", JSON.stringify({ name: "x", arguments: value, _meta: { progressToken: 1 } })),
      sha256(canonicalJsonText(text)),
      sha256(summarizeText(random.text() + random.text())),
    ].map((digest) => digest.replace("sha256:", "").slice(0, 24))
  })
  return { programs: programs.map((digest) => digest.slice(0, 32)), values }
}

/** The lines of one program: what follows the process line, without what names this process, and the sidecar as one line more. */
export function linesOf(seed, capture = "full") {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-vectors-"))
  try {
    const { journalFolder } = openDataFolder(folder)
    const clock = { wallMs: 1_790_000_000_000 + seed * 1000, monoUs: 5_000_000 }
    const journal = openJournal({
      folder: journalFolder,
      appId: "vectors",
      recorderVersion: "0",
      now: () => clock,
      fsync: "never",
    })
    const sink = {
      emit: ({ json, context, content, bodies }) =>
        void journal.append({ json, runId: context.runId, sequenceNo: content.sequenceNo, bodies }),
      commit: () => {},
      keepsBodies: () => true,
      openStream: (stream) => journal.openStream(stream),
      lastWords: () => {},
      counts: () => ({ written: 0, dropped: 0 }),
      close: () => {},
    }
    const recorder = Recorder.open({
      app: "vectors",
      capture,
      sink,
      now: () => ({ ...clock }),
      newId: countedIds(),
      key: Buffer.alloc(32, 7),
      environment: "local",
      repo: "host/owner/name",
      branch: "main",
      commit: "0123456789abcdef0123456789abcdef01234567",
      cwd: folder,
      onWarning: () => {},
    })
    play(recorder, drawer(seed), (ms) => {
      clock.wallMs += ms
      clock.monoUs += ms * 1000
    })
    journal.close({ exitCode: 0, reason: "exit" })
    return linesIn(journalFolder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function linesIn(folder) {
  const names = readdirSync(folder)
  const lines = readFileSync(
    join(
      folder,
      names.find((name) => name.endsWith(".ndjson")),
    ),
    "utf8",
  ).split("\n")
  const own = lines.slice(1, -1).filter((line) => !/"event_type":"process_(?:started|exited)"|"k":"exit"/.test(line))
  const sidecar = names.find((name) => name.endsWith(".bodies"))
  return [...own.map((line) => `${line}\n`), ...(sidecar ? [`${sha256(readFileSync(join(folder, sidecar)))}\n`] : [])]
}

function countedIds() {
  let count = 0
  const hex = (digits) => (++count).toString(16).padStart(digits, "0")
  return {
    run: () => `run_${(++count).toString().padStart(26, "0")}`,
    trace: () => hex(32),
    step: () => hex(16),
    event: () => `00000000-0000-7000-8000-${hex(12)}`,
  }
}

// From here on the same as python/tests/vector_programs.py, word for word: a change of one is a change of both.

function play(recorder, random, tick) {
  const run = recorder.startRun({
    entrypoint: random.word(),
    ...(random.count(3) > 0 ? { input: random.value(0) } : {}),
    ...(random.count(2) > 0 ? { conversationId: random.word() } : {}),
    ...(random.count(2) > 0 ? { attributes: random.attributes() } : {}),
    ...(random.count(3) > 1 ? { userSession: random.word() } : {}),
  })
  const handles = [run]
  const count = 3 + random.count(9)
  for (let i = 0; i < count; i++) {
    tick(random.count(4000))
    const handle = handles[random.count(handles.length)]
    const what = random.count(14)
    if (what === 0) handles.push(handle.child(random.word(), random.attributes(), { body: random.value(1) }))
    else if (what === 1) handle.log.info(random.text(), random.attributes())
    else if (what === 2) handle.log.warn(random.text())
    else if (what === 3) {
      const call = handle.startTool({ name: random.word(), args: random.object(1), callId: random.word() })
      tick(random.count(300))
      call.endTool({ result: random.value(1), exitCode: random.count(3) })
    } else if (what === 4) {
      const call = handle.startTool({ name: random.word(), args: random.object(1), effect: "read", timeoutMs: 1000 })
      call.endTool({ result: random.text(), status: "partial" })
    } else if (what === 5) handle.inputReceived({ channels: [random.word()], value: random.value(1), policyLabels: [] })
    else if (what === 6)
      handle.promptRendered({ prompt: random.text(), variables: random.object(1), templateId: random.word() })
    else if (what === 7)
      handle.promptAssembled({
        segments: [{ contributor: random.word(), kind: "persona", role: "system", content: random.text(), tokens: 7 }],
      })
    else if (what === 8) handle.validatorDecision({ name: random.word(), decision: "pass", reason: random.text() })
    else if (what === 9) handle.safetyDecision({ policy: random.word(), decision: "allow", version: "2" })
    else if (what === 10) handle.setAttributes(random.attributes())
    else if (what === 11)
      handle.addLink({ runId: `run_${"0".repeat(26)}`, kind: "mentions" }, random.text().slice(0, 40).toWellFormed())
    else if (what === 12)
      handle.artifact({
        id: random.word(),
        type: "diff",
        summary: random.word(),
        content: random.text(),
        path: "a/b.txt",
        linesAdded: 3,
      })
    else handle.decide({ action: "no_op", summary: random.text(), detail: random.value(1) })
  }
  for (const handle of handles.slice(1).reverse()) handle.end({ attributes: random.attributes() })
  tick(5)
  run.complete({ output: random.value(0) })
}

export function drawer(seed) {
  let state = (seed * 2654435761 + 1) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const count = (below) => next() % below
  const word = () => WORDS[count(WORDS.length)]
  const letters = (length) => Array.from({ length }, () => LETTERS[count(LETTERS.length)]).join("")
  const piece = () => {
    const what = count(12)
    if (what === 0) return `ghp${"_"}${letters(36)}`
    if (what === 1) return `DB_PASSWORD="${letters(14)}!"`
    if (what === 2) return `${letters(9)} `.repeat(count(80))
    return PIECES[count(PIECES.length)]
  }
  const text = () => Array.from({ length: 1 + count(5) }, piece).join("")
  const object = (depth) =>
    Object.fromEntries(Array.from({ length: count(4) }, (_, i) => [`${word()}${"abc"[i % 3]}`, value(depth + 1)]))
  const value = (depth) => {
    const what = count(depth > 2 ? 6 : 9)
    if (what < 3) return text()
    if (what === 3) return NUMBERS[count(NUMBERS.length)]
    if (what === 4) return count(2) === 0
    if (what === 5) return count(100_000)
    if (what === 6) return Array.from({ length: count(4) }, () => value(depth + 1))
    return object(depth)
  }
  const attributes = () =>
    Object.fromEntries(Array.from({ length: count(4) }, (_, i) => [`${word()}.${"xyz"[i % 3]}`, value(2)]))
  return { count, word, text, value, object, attributes }
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
const WORDS = ["plan", "read_file", "Fix the date", "größe", "日本語", "a.b-c", "path", "query", "x", "api_key"]
const NUMBERS = [
  0, 1, -1, 0.1, 1.5, 1e21, 1e-7, 0.00001, 123456789.123, 9007199254740991, 1e16, 1.2345678901234567e20, -2.5e-9,
]
const PIECES = [
  "plain words ",
  "Ünïcode ✓ ",
  "😀 emoji ",
  'quote " back\\slash ',
  "tab\tand\nline\r\n",
  "\u0000\u001f\u007f ",
  "\u2028sep\u2029",
  "\ud800 lone ",
  "https://user:pa55word@host/x?key=1 ",
  '{"role":"user","content":"hi"} ',
  "\u001b[31mred\u001b[0m ",
  "",
]

const sha256 = (data) => createHash("sha256").update(data).digest("hex")

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what, of, capture] = process.argv.slice(2)
  if (what === "--show") process.stdout.write(linesOf(Number(of), capture).join(""))
  else if (what === "--redacted") {
    const redacted = Array.from({ length: SEEDS / 2 }, (_, seed) =>
      sha256(linesOf(seed, "redacted").join("")).slice(0, 32),
    )
    writeFileSync(of, JSON.stringify(redacted))
  } else {
    const written = `${JSON.stringify(vectors(), null, 0)
      .replaceAll("],[", "],\n[")
      .replaceAll(/((?:"[0-9a-f]{32}",){6})/g, "$1\n")}\n`
    if (what !== "--check") writeFileSync(FIXTURE, written)
    else if (readFileSync(FIXTURE, "utf8") !== written) {
      console.error("the shared vectors are not what this build writes: node scripts/python-vectors.mjs")
      process.exitCode = 1
    }
  }
}
