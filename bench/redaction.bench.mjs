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
import { CONTEXTS, cell, DRESSES, leaks, SECRETS } from "./secret-grid.mjs"

export const title = "Redaction"

const { createRuleset, describeRules, explain, redactBytes, redactText, SeenText, StreamRedactor } = await import(
  new URL("../packages/redaction/dist/index.js", import.meta.url).href
)
const key = new Uint8Array(32).fill(1)
const ruleset = createRuleset({ key })
const corpora = new URL("../../shared/corpora/", import.meta.url).pathname

export async function run() {
  return [
    ...labelled(),
    ...unseenSources(),
    ...generated(),
    ...traces(),
    ...speed(),
    ...worstCases(),
    ...(await repeatedBody()),
  ]
}

const STRICT_KINDS = ["llm", "vcs", "cloud", "jwt", "private_key"]

/** Recall per kind, and clean rows with a mask. A secret is found when it does not stand in the redacted text any more. */
function labelled() {
  if (LABELLED === undefined) return [row("labelled rows", "skipped: ../shared/corpora/secrets-dev.jsonl.gz is absent")]
  const recall = (what, rows, bound) =>
    share(what, foundIn(rows, ruleset), rows.length, `≥ ${bound} %`, (percent) => percent >= bound)
  const clean = LABELLED.filter(({ label }) => label === "clean")
  return [
    recall("open rows: secrets found", SECRET_ROWS, 90),
    ...kindsOf(SECRET_ROWS).map(([kind, rows]) =>
      STRICT_KINDS.includes(kind)
        ? recall(`open rows: ${kind}`, rows, 97)
        : share(`open rows: ${kind}`, foundIn(rows, ruleset), rows.length),
    ),
    share("open rows: masks that hide a labelled secret", ...masksOnSecrets(SECRET_ROWS)),
    share(
      "open rows: clean ones with a mask",
      clean.filter(({ text }) => redactText(text, ruleset).masks.length > 0).length,
      clean.length,
      "≤ 2 %",
      (percent) => percent <= 2,
    ),
  ]
}

/** How many masks there are in rows with a secret, and how many of them hide some of it: the others hide a user, a second secret, or nothing of worth. */
function masksOnSecrets(rows) {
  const masks = rows.flatMap(({ text, secret }) =>
    explain(text, ruleset).map(({ start, end }) => ({ start, end, at: text.indexOf(secret), length: secret.length })),
  )
  const hiding = masks.filter(({ start, end, at, length }) => at >= 0 && start < at + length && end > at)
  return [hiding.length, masks.length]
}

/** Each source in turn, without the rules that were written from it alone: what is found of a source that nobody has seen. */
function unseenSources() {
  if (LABELLED === undefined) return []
  const sources = [...new Set(SECRET_ROWS.map(({ source }) => source))].sort()
  const found = new Set()
  const bySource = sources.map((source) => {
    const rows = SECRET_ROWS.filter((one) => one.source === source)
    const without = describeRules()
      .filter(({ from }) => from.length === 1 && from[0] === source)
      .map(({ id }) => id)
    const others = createRuleset({ key, without })
    for (const one of rows) if (isFound(one, others)) found.add(one)
    const count = rows.filter((one) => found.has(one)).length
    return share(`unseen: ${source}, without ${without.length} rules`, count, rows.length)
  })
  const recall = (what, rows, bound) => {
    const count = rows.filter((one) => found.has(one)).length
    return bound === undefined
      ? share(what, count, rows.length)
      : share(what, count, rows.length, `≥ ${bound} %`, (percent) => percent >= bound)
  }
  return [
    recall("unseen sources, all together", SECRET_ROWS, 88),
    ...bySource,
    ...kindsOf(SECRET_ROWS).map(([kind, rows]) =>
      recall(`unseen sources: ${kind}`, rows, STRICT_KINDS.includes(kind) ? 95 : undefined),
    ),
  ]
}

/** Secrets of our own making in every context and every dress. */
function generated() {
  const byDress = Object.keys(DRESSES).map((dress) => {
    let found = 0
    let total = 0
    for (const [i, context] of Object.keys(CONTEXTS).entries()) {
      for (const [j, kind] of Object.keys(SECRETS).entries()) {
        const one = cell(context, dress, kind, 1 + i * 100 + j)
        if (!leaks(redactText(one.text, ruleset).text, one)) found++
        total++
      }
    }
    return { dress, found, total }
  })
  const sum = (of) => byDress.reduce((all, one) => all + one[of], 0)
  const worst = byDress.reduce((least, one) => (one.found / one.total < least.found / least.total ? one : least))
  return [
    share(
      `generated: ${Object.keys(SECRETS).length} secrets × ${Object.keys(CONTEXTS).length} contexts × ${byDress.length} dresses`,
      sum("found"),
      sum("total"),
      "≥ 97 %",
      (percent) => percent >= 97,
    ),
    share(`generated, the dress least found (${worst.dress})`, worst.found, worst.total),
  ]
}

const LABELLED = labelledRows()
const SECRET_ROWS = LABELLED?.filter(({ label }) => label === "secret") ?? []

function labelledRows() {
  const path = join(corpora, "secrets-dev.jsonl.gz")
  if (!existsSync(path)) return undefined
  return gunzipSync(readFileSync(path))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
}

const isFound = ({ text, secret }, rules) => !redactText(text, rules).text.includes(secret)
const foundIn = (rows, rules) => rows.filter((one) => isFound(one, rules)).length
const kindsOf = (rows) =>
  [...new Set(rows.map(({ kind }) => kind))].sort().map((kind) => [kind, rows.filter((one) => one.kind === kind)])

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
  "fixtures-vercel-ai",
  "inspect-logs",
  "otlp-samples",
  "responses-gemini-cli",
]
const PROTOCOL_ID =
  /\b(?:toolu_|call_|msg_|chatcmpl-|resp_|req_|rs_|fc_|run_|gen-)[A-Za-z0-9_-]{10,}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bsha(?:256|512)[:-][A-Za-z0-9+/=]{40,}/g

/** Masks in recorded traces, each printed once on request (`MASKS=1`), so that a person can say what it hides. */
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
    if (process.env.MASKS !== undefined) printMasks(name, texts)
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

function printMasks(name, texts) {
  const seen = new Set(
    texts.flatMap((text) =>
      explain(text, ruleset).map(
        ({ rule, start, masked }) => `${rule}: ${text.slice(Math.max(0, start - 40), start)}${masked}`,
      ),
    ),
  )
  for (const line of seen) console.error(`${name} ${JSON.stringify(line)}`)
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
      streamed(text.slice(0, 200_000), 64)
      return 200_000
    }),
  ]
}

function throughput(what, texts, bound, work = (text) => redactText(text, ruleset) && text.length) {
  let best = 0
  for (let round = 0; round < 5; round++) {
    let length = 0
    const ms = processorTime(() => {
      for (const text of texts) length += work(text)
    })
    best = Math.max(best, length / 1000 / ms)
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
  "beginnings of colours": "\x1b]",
  "written colours": "\\\\u001b[",
  "encoded colours": "%1b]X",
  "percent signs": "%41",
  "zero bytes": "a\0",
  entities: "&#97;",
  "gutters of a key": `-----BEGIN PRIVATE KEY-----\n${"12→a".repeat(40)}\n`,
  "block scalars": "password: |\n  ",
  "names and values": "- name: api_key\n  value: ",
  "parts of a form": 'name="password"\n\n',
  "full lines": `${"password=".repeat(9)}abcdefg\n`,
  "base64 of base64": Buffer.from(Buffer.from("the password is a1b2c3d4e5 ".repeat(40)).toString("base64")).toString(
    "base64",
  ),
  "base64 behind slashes": "/Zm9vYmFy",
  "escaped quotes": '\\\\\\"token\\\\\\":\\\\\\"',
  ellipses: "…redacted…",
  emoji: "😀 token: ",
}

/** In processor time: a machine that does other work as well would be measured with it. */
function worstCases() {
  const hostile = Object.entries(HOSTILE).map(([what, unit]) => ({
    what,
    text: unit.repeat(Math.ceil(1_000_000 / unit.length)).slice(0, 1_000_000),
  }))
  const slowest = (how, work) => {
    const costs = hostile.map(({ what, text }) => ({ what, ms: processorTime(() => work(text)) }))
    const worst = costs.reduce((worst, one) => (one.ms > worst.ms ? one : worst))
    return row(
      `slowest of ${costs.length} hostile megabytes, ${how} (${worst.what})`,
      `${worst.ms.toFixed(0)} ms`,
      "≤ 1,000 ms",
      worst.ms <= 1000,
    )
  }
  return [
    slowest("whole", (text) => redactText(text, ruleset)),
    slowest("streamed in pieces of 64 characters", (text) => streamed(text, 64)),
    slowest("streamed in pieces of 5 characters", (text) => streamed(text, 5)),
    row(
      "an explanation of a 1 MB text",
      `${processorTime(() => explain("word ".repeat(200_000), ruleset)).toFixed(0)} ms`,
    ),
  ]
}

function streamed(text, width) {
  const redactor = new StreamRedactor(ruleset)
  for (let at = 0; at < text.length; at += width) redactor.push(text.slice(at, at + width))
  redactor.finish()
}

function processorTime(work) {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function repeatedSpeed(bytes, nanos) {
  const speed = (1000 * bytes) / nanos
  return row("redaction, most of it remembered", `${speed.toFixed(0)} MB/s`, "≥ 100 MB/s", speed >= 100)
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
    repeatedSpeed(bodies[0].length, found.remembered),
    // Recording without redaction may take 2 × of the 4 ×; this is the share that is left.
    row("redaction, remembered : SHA-256 + write", times(ratio), "≤ 2 ×", ratio <= 2),
  ]
}
