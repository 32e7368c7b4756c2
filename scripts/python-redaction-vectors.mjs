// What the TypeScript redactor makes of some thousand texts, for the Python one to be held against: masks, tags, offsets. Drawn at run time and
// written where the caller says, never into the repository, so that no scanner that reads it finds a key.
//
//     node scripts/python-redaction-vectors.mjs vectors.json
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { CONTEXTS, cell, DRESSES, drawer, SECRETS } from "../bench/secret-grid.mjs"
import { textDeltas } from "../packages/dialects/bundle/index.js"
import {
  ByteStreamRedactor,
  createRuleset,
  FrameRedactor,
  KnownValues,
  redactBytes,
  redactOctets,
  redactText,
  redactValue,
} from "../packages/redaction/bundle/index.js"

const KEY = Buffer.alloc(32, 7)
const plain = createRuleset({ key: KEY })
const personal = createRuleset({ key: KEY, pii: true, publicKeys: true })
const masksOf = (masks) => masks.map(({ offset, length, rule, tag }) => [offset, length, rule, tag])

const texts = []
const contexts = Object.keys(CONTEXTS)
const dresses = Object.keys(DRESSES)
const kinds = Object.keys(SECRETS)
let turn = 0
for (const context of contexts) {
  for (const dress of dresses) {
    const kind = kinds[turn++ % kinds.length]
    texts.push(cell(context, dress, kind, turn).text)
  }
}
for (const context of contexts) for (const kind of kinds) texts.push(cell(context, "plain", kind, ++turn).text)
// What is no secret must be left alone by both: our own pages and sources, in pieces.
for (const file of ordinaryFiles()) {
  const text = readFileSync(file, "utf8")
  for (let at = 0; at < Math.min(text.length, 24_000); at += 6000) texts.push(text.slice(at, at + 6000).toWellFormed())
}
texts.push(
  "",
  "x",
  "😀".repeat(40),
  "\ud83d\ude00 password=“tr0ub4dor”",
  `😀 GITHUB_TOKEN=ghp${"_"}${drawer(5)(36)} 😀`,
)

/** Streams: SSE frames and plain text, cut where the seed says. */
const streams = []
for (let seed = 1; seed <= 60; seed++) {
  const draw = drawer(seed)
  const { text } = cell(contexts[seed % contexts.length], "plain", kinds[seed % kinds.length], seed)
  const said = `The answer ${draw(6)} is here. ${text} And more follows, ${draw(8)}.`
  const isFramed = seed % 3 !== 0
  const body = Buffer.from(isFramed ? framesOf(said, seed) : said)
  const pieces = []
  for (let at = 0, i = 0; at < body.length; i++) {
    const length = 1 + ((seed * 31 + i * 17) % 90)
    pieces.push(body.subarray(at, at + length))
    at += length
  }
  streams.push({ framing: isFramed ? "sse" : null, pieces })
}

const vectors = {
  texts: texts.map((text) => {
    const { text: redacted, masks } = redactText(text, plain)
    return { text, redacted, masks: masksOf(masks) }
  }),
  personal: texts
    .filter((_, i) => i % 7 === 0)
    .map((text) => {
      const { text: redacted, masks } = redactText(text, personal)
      return { text, redacted, masks: masksOf(masks) }
    }),
  // With a memory of values: each batch in order, by one ruleset.
  known: batches(texts, 25).map((batch) => {
    const ruleset = createRuleset({ key: KEY, known: new KnownValues() })
    return batch.map((text) => {
      const { bytes, masks } = redactBytes(Buffer.from(text), ruleset)
      return { text, redacted: Buffer.from(bytes).toString("base64"), masks: masksOf(masks) }
    })
  }),
  values: texts
    .filter((_, i) => i % 23 === 0)
    .map((text, i) => {
      const value = { settings: { api_key: text.slice(0, 40), list: [text, i, null, { password: text.slice(3, 19) }] } }
      const { value: redacted, masks } = redactValue(value, plain)
      return { value, redacted, masks: masks.map((mask) => [mask.path, ...masksOf([mask])[0]]) }
    }),
  octets: texts
    .filter((_, i) => i % 41 === 0)
    .map((text) => {
      const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(text)])
      const { bytes: redacted, masks } = redactOctets(bytes, plain)
      return {
        bytes: bytes.toString("base64"),
        redacted: Buffer.from(redacted).toString("base64"),
        masks: masksOf(masks),
      }
    }),
  streams: streams.map(({ framing, pieces }) => {
    const ruleset = createRuleset({ key: KEY, known: new KnownValues() })
    const redactor =
      framing === null ? new ByteStreamRedactor(ruleset) : new FrameRedactor(ruleset, framing, textDeltas)
    const given = [...pieces, undefined].map((piece, i) => {
      const arrival = { atMicros: i }
      const out = piece === undefined ? redactor.finish(arrival) : redactor.push(piece, arrival)
      return out.map(({ bytes, masks }) => [Buffer.from(bytes).toString("base64"), masksOf(masks)])
    })
    return { framing, pieces: pieces.map((piece) => piece.toString("base64")), given }
  }),
}
writeFileSync(process.argv[2], JSON.stringify(vectors))
const { texts: a, personal: b, known: c, values: d, octets: e, streams: f } = vectors
console.log(
  `${a.length} texts, ${b.length} with personal data, ${c.flat().length} with known values, ${d.length} values, ${e.length} octets, ${f.length} streams`,
)

function framesOf(said, seed) {
  const frames = []
  for (let at = 0, i = 0; at < said.length; i++) {
    const piece = said.slice(at, at + 1 + ((seed + i * 7) % 11))
    at += piece.length
    const delta =
      seed % 2 === 0
        ? { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } }
        : { choices: [{ index: 0, delta: { content: piece } }] }
    frames.push(`data: ${JSON.stringify(delta)}\n\n`)
  }
  return `${frames.join("")}data: [DONE]\n\n`
}

function ordinaryFiles() {
  const pages = readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
  const sources = readdirSync("packages/recorder/src")
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `packages/recorder/src/${name}`)
  return ["README.md", "package.json", "biome.json", ...pages, ...sources]
}

function batches(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}
