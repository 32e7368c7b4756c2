// What redaction finds, what it hides without need, and what it costs. The labelled rows and the traces are not part of this repository; where
// they are absent, the rows say so.
import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { compare, micros, row, times } from "./measure.mjs"

export const title = "Redaction"

const { createRuleset, explain, redactBytes, redactText, SeenText, StreamRedactor } = await import(
  new URL("../packages/redaction/dist/index.js", import.meta.url).href
)
const ruleset = createRuleset({ key: new Uint8Array(32).fill(1) })
const corpora = new URL("../../shared/corpora/", import.meta.url).pathname

export async function run() {
  return [...labelled(), ...traces(), ...speed(), ...worstCases(), ...(await repeatedBody())]
}

const STRICT_KINDS = ["llm", "vcs", "cloud", "jwt", "private_key"]

/** Recall per kind, and clean rows with a mask. A secret is found when it does not stand in the redacted text any more. */
function labelled() {
  const path = join(corpora, "secrets-dev.jsonl.gz")
  if (!existsSync(path)) return [row("labelled rows", "skipped: ../shared/corpora/secrets-dev.jsonl.gz is absent")]
  const all = gunzipSync(readFileSync(path))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  const heldOut = all.filter(({ fold }) => fold === 2)
  const found = (rows) => rows.filter(({ text, secret }) => !redactText(text, ruleset).text.includes(secret)).length
  const recall = (what, rows, bound) =>
    share(what, found(rows), rows.length, `≥ ${bound} %`, (percent) => percent >= bound)
  const over = (what, rows) =>
    share(
      what,
      rows.filter(({ text }) => redactText(text, ruleset).masks.length > 0).length,
      rows.length,
      "≤ 2 %",
      (percent) => percent <= 2,
    )
  const secrets = (rows) => rows.filter(({ label }) => label === "secret")
  const clean = (rows) => rows.filter(({ label }) => label === "clean")
  const kinds = [...new Set(secrets(all).map(({ kind }) => kind))].sort()
  return [
    recall("secrets found, all folds", secrets(all), 90),
    recall("secrets found, held-out fold", secrets(heldOut), 90),
    ...kinds.map((kind) => {
      const rows = secrets(all).filter((one) => one.kind === kind)
      return STRICT_KINDS.includes(kind)
        ? recall(`secrets found: ${kind}`, rows, 97)
        : share(`secrets found: ${kind}`, found(rows), rows.length)
    }),
    over("clean rows with a mask, all folds", clean(all)),
    over("clean rows with a mask, held-out fold", clean(heldOut)),
  ]
}

function share(what, count, total, bound, holds) {
  const percent = (100 * count) / total
  return row(what, `${percent.toFixed(1)} % (${count} of ${total})`, bound, holds?.(percent))
}

const TRACES = [
  "trail",
  "trajectories",
  "transcripts",
  "cassettes-openllmetry",
  "cassettes-pydantic-ai",
  "who-and-when",
]
const PROTOCOL_ID =
  /\b(?:toolu_|call_|msg_|chatcmpl-|resp_|req_|rs_|fc_|run_|gen-)[A-Za-z0-9_-]{10,}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bsha(?:256|512)[:-][A-Za-z0-9+/=]{40,}/g

function traces() {
  return TRACES.flatMap((name) => {
    const texts = textsOf(name)
    if (texts.length === 0) return [row(`masks in ${name}`, "skipped: the corpus is absent")]
    const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6
    let masks = 0
    let ids = 0
    for (const text of texts) {
      const redacted = redactText(text, ruleset)
      masks += redacted.masks.length
      if (redacted.masks.length > 0)
        ids += (text.match(PROTOCOL_ID)?.length ?? 0) - (redacted.text.match(PROTOCOL_ID)?.length ?? 0)
    }
    const perMegabyte = masks / megabytes
    return [
      row(
        `masks in ${name} (${megabytes.toFixed(1)} MB)`,
        `${perMegabyte.toFixed(2)} per MB`,
        "≤ 2 per MB",
        perMegabyte <= 2,
      ),
      row(`protocol ids masked in ${name}`, String(ids), "0", ids === 0),
    ]
  })
}

function textsOf(name) {
  const folder = join(corpora, name)
  if (!existsSync(folder)) return []
  return filesIn(folder)
    .filter((file) => file.endsWith(".gz"))
    .map((file) => gunzipSync(readFileSync(file)))
    .filter((bytes) => isUtf8(bytes))
    .map((bytes) => bytes.toString())
}

const filesIn = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })

function speed() {
  const prose = `${"The agent read the file, thought about it for a while, and went on to the next one. ".repeat(12_000)}`
  const recorded = textsOf("trajectories")
  return [
    throughput("text without keywords", [prose], 100),
    ...(recorded.length > 0 ? [throughput("recorded trajectories", recorded, 30)] : []),
    throughput("a stream in pieces of 64 characters", [prose], undefined, (text) => {
      const redactor = new StreamRedactor(ruleset)
      for (let at = 0; at < 200_000; at += 64) redactor.push(text.slice(at, at + 64))
      redactor.finish()
      return 200_000
    }),
  ]
}

function throughput(what, texts, bound, work = (text) => redactText(text, ruleset) && text.length) {
  let best = 0
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    let length = 0
    for (const text of texts) length += work(text)
    best = Math.max(best, length / 1000 / (performance.now() - start))
  }
  return row(
    what,
    `${best.toFixed(best < 10 ? 1 : 0)} MB/s`,
    bound ? `≥ ${bound} MB/s` : "",
    bound ? best >= bound : undefined,
  )
}

/** A megabyte of what each rule likes to look at for long. */
const HOSTILE = {
  "one letter": "a",
  "telling names": "token=",
  "telling names, quoted": 'password="',
  "names in names": "passwordtokensecretkey",
  addresses: "://a:",
  "addresses with long passwords": `://a:${"b".repeat(190)}`,
  "beginnings of keys": "-----BEGIN PRIVATE KEY-----",
  "keys without end": `-----BEGIN PRIVATE KEY-----${"A".repeat(15_000)}\n`,
  "beginnings of tokens": "eyJ",
  "tokens without end": `eyJhbGciOiJIUzI1NiJ9${"a".repeat(1900)} `,
  "dotted tokens": "eyJhbGciOiJIUzI1NiJ9.",
  prefixes: "sk-ghp_xoxb-AKIAglpat-",
  bearers: "bearer ",
  cookies: "cookie: a=",
  "cookies in a row": `cookie: ${"abcdefgh=0123456789abcdef; ".repeat(60)}`,
  "beginnings of encoded keys": "LS0tLS1CRUdJTi",
  "encoded tokens": `ZXlK${"A".repeat(11_000)} `,
  "numbers in base64": "MTIz",
  "weak passwords": "api_key=a1b2c3d4e5f6g7h8 ",
  "quotes that do not close": `password: "${"a b ".repeat(120)}`,
  "names of vendors": "sonar_token=",
  "data lines": "apiVersion: v1\ndata:\n  a: bbbbbbbbbbbb\n",
  "passwords in HTML quotes": "password=&quot;",
  "passwords of an environment": "DB_PASSWORD=abcdefg ",
  "authorization headers": `authorization: Bot ${"a".repeat(1900)} `,
  "JSON web keys": '{"kty":"RSA","n":"aaaa",',
  "numbers and bars": "123456789012345|",
  "programs with passwords": "mysql -u a ",
  backslashes: "\\",
  "escaped quotes": '\\\\\\"token\\\\\\":\\\\\\"',
  ellipses: "…redacted…",
  emoji: "😀 token: ",
}

function worstCases() {
  const costs = Object.entries(HOSTILE).map(([what, unit]) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length)).slice(0, 1_000_000)
    const start = performance.now()
    redactText(text, ruleset)
    return { what, ms: performance.now() - start }
  })
  const slowest = costs.reduce((worst, one) => (one.ms > worst.ms ? one : worst))
  return [
    row(
      `slowest of ${costs.length} hostile megabytes (${slowest.what})`,
      `${slowest.ms.toFixed(0)} ms`,
      "≤ 1,000 ms",
      slowest.ms <= 1000,
    ),
    row("an explanation of a 1 MB text", `${timed(() => explain("word ".repeat(200_000), ruleset)).toFixed(0)} ms`),
  ]
}

function timed(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** A 50 KB request that repeats the one before it but for its last message. */
async function repeatedBody() {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-bench-"))
  const file = openSync(join(folder, "bare.log"), "a")
  const message = (i) => ({
    role: i % 2 ? "assistant" : "user",
    content: `Step ${i}. ${"We looked at the file and changed the third line; the tests pass. ".repeat(15)}`,
  })
  const history = Array.from({ length: 46 }, (_, i) => message(i))
  const body = (i) =>
    Buffer.from(JSON.stringify({ model: "m", messages: [...history, { role: "user", content: `question ${i}` }] }))
  const bodies = Array.from({ length: 256 }, (_, i) => body(i))
  const seen = new SeenText()
  const found = await compare(
    {
      bare: (i) => {
        const bytes = bodies[i % bodies.length]
        hash("sha256", bytes, "hex")
        writeSync(file, bytes, 0, bytes.length)
      },
      remembered: (i) => redactBytes(bodies[i % bodies.length], ruleset, seen),
      searched: (i) => redactBytes(bodies[i % bodies.length], ruleset),
    },
    { rounds: 15, iterations: 200 },
  )
  closeSync(file)
  rmSync(folder, { recursive: true, force: true })
  const ratio = found.remembered / found.bare
  return [
    row(`SHA-256 and bare write of ${Math.round(bodies[0].length / 1000)} KB`, micros(found.bare)),
    row("redaction, searched anew", micros(found.searched)),
    row("redaction, most of it remembered", micros(found.remembered)),
    // Recording without redaction may take 2 × of the 4 ×; this is the share that is left.
    row("redaction, remembered : SHA-256 + write", times(ratio), "≤ 2 ×", ratio <= 2),
  ]
}
