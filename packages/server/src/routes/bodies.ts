import { InputError } from "@orangebox/contract"
import { sliceBody } from "@orangebox/query"
import { type FoundBody, findBody, readBodyWhole } from "@orangebox/reader"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { type Bytes, route } from "../route.js"

const HASH = { is: "text", isNeeded: true, about: "sha256:… as recorded" } as const
const MOST_SLICE = 64 * 1024

/** Whole hashes only: a body is named by who holds its record, and never looked for by a part of its name. */
function checkHash(hash: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(hash)) return hash
  throw new InputError("ADDRESS_FORM", {
    what: "this is no hash of a body",
    next: "It is sha256: and 64 digits, as a step names it",
  })
}

const SLICE = {
  form: {
    is: "word",
    words: ["text", "pretty", "folded", "hex"],
    about:
      "text where it is text, else hex; pretty: JSON indented; folded: a streamed answer as the one message it makes; offsets count bytes of the form",
  },
  from: { is: "count", about: "the byte to begin with" },
  to: { is: "count", about: `the byte behind the last; at most ${MOST_SLICE} behind from` },
} as const

export const body = route({
  path: "/bodies/{hash}",
  summary: "A slice of a body, as text that is safe to show or as hex",
  params: { hash: HASH, ...SLICE },
  answer: "BodySlice",
  isHeavy: false,
  async handle({ hash, ...slice }, { store, freshness }) {
    return { ...sliceOf(await readBodyWhole(store, "body", checkHash(hash)), slice), ...freshness }
  },
})

export const bodyOfStep = route({
  path: "/runs/{address}/steps/{n}/bodies/{role}",
  summary: "The same for a body of a step by its name; also of one that never ended, as far as it came",
  params: {
    address: ADDRESS,
    n: STEP_NUMBER,
    role: { is: "text", isNeeded: true, about: "request, response, args, result …" },
    ...SLICE,
  },
  answer: "BodySlice",
  async handle({ address, n = 0, role, ...slice }, desk) {
    const { view } = await desk.run(address)
    return { ...sliceOf(await findBody(desk.store, view, n, role), slice), ...desk.freshness }
  },
})

function sliceOf(
  { bytes, hash, mime, isPartial }: FoundBody,
  {
    form,
    from = 0,
    to = from + MOST_SLICE,
  }: { form: string | undefined; from: number | undefined; to: number | undefined },
): object {
  if (to <= from || to - from > MOST_SLICE)
    throw new InputError("USAGE", {
      what: `from ${from} to ${to} is no slice`,
      next: `to must be 1 to ${MOST_SLICE} behind from`,
    })
  const slice = sliceBody(bytes, {
    ...{ cursor: from, maxBytes: to - from, budget: Number.MAX_SAFE_INTEGER },
    ...{ pretty: form === "pretty", folded: form === "folded", hex: form === "hex" },
  })
  if (from > 0 && from >= slice.total)
    throw new InputError("BEYOND_END", {
      what: `from ${from} is behind the end: there are ${slice.total} bytes`,
      next: "Begin with a smaller one; bytes count from 0",
    })
  return {
    ...{ hash, mime, is_partial: isPartial, form: slice.form, from: slice.from, to: slice.to, total: slice.total },
    ...{ byte_size: bytes.length, next_from: slice.nextCursor ?? null, text: slice.text },
  }
}

export const rawBody = route({
  path: "/bodies/{hash}/raw",
  summary: "The bytes of a body, all or a range of them",
  params: { hash: HASH },
  answer: "",
  isBytes: true,
  isHeavy: false,
  async handle({ hash }, { store }, { range }): Promise<Bytes> {
    const { bytes } = await readBodyWhole(store, "body", checkHash(hash))
    const headers = {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${hash.slice("sha256:".length)}.bin"`,
      "accept-ranges": "bytes",
    }
    const asked = range === undefined ? undefined : rangeOf(range, bytes.length)
    if (asked === undefined) return { bytes, status: 200, headers }
    const { from, to } = asked
    return {
      bytes: bytes.subarray(from, to),
      status: 206,
      headers: { ...headers, "content-range": `bytes ${from}-${to - 1}/${bytes.length}` },
    }
  },
})

export const picture = route({
  path: "/bodies/{hash}/picture",
  summary: "The picture that a piece of a request or an answer spells: PNG, JPEG, GIF or WebP, and nothing else",
  params: {
    hash: HASH,
    from: { is: "count", about: "where the piece begins in the body, in bytes" },
    to: { is: "count", about: "the byte behind it" },
  },
  answer: "",
  isBytes: true,
  isHeavy: false,
  async handle({ hash, from = 0, to = Number.MAX_SAFE_INTEGER }, { store }): Promise<Bytes> {
    const { bytes } = await readBodyWhole(store, "body", checkHash(hash))
    const found = pictureIn(bytes.subarray(from, to))
    if (found === undefined)
      throw new InputError("NO_PICTURE", {
        what: "there is no picture here that may be shown",
        next: `PNG, JPEG, GIF and WebP of at most ${MOST_PICTURE / 1e6} MB are; read the bytes as they are`,
      })
    // Whoever shows it makes a picture of it: opened by itself it is a download, whatever it holds.
    return { bytes: found, status: 200, headers: DOWNLOAD }
  },
})

const MOST_PICTURE = 8_000_000
const DOWNLOAD = { "content-type": "application/octet-stream", "content-disposition": "attachment" }

/** By their first bytes: what somebody calls a picture may be a document with scripts in it. */
const PICTURES = [/^\x89PNG\r\n\x1a\n/, /^\xff\xd8\xff/, /^GIF8[79]a/, /^RIFF[\s\S]{4}WEBP/]
const isPicture = (bytes: Uint8Array): boolean => {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1")
  return bytes.length <= MOST_PICTURE && PICTURES.some((form) => form.test(head))
}

/** The bytes themselves, or the longest text in them that spells some. */
function pictureIn(bytes: Uint8Array): Uint8Array | undefined {
  if (isPicture(bytes)) return bytes
  const text = Buffer.from(bytes).toString("latin1")
  const spelled = [...text.matchAll(/"(?:data:[^",]{0,200},)?([A-Za-z0-9+/_=-]{64,})"/g)].map(([, data]) => data!)
  const longest = spelled.reduce((most, data) => (data.length > most.length ? data : most), "")
  const decoded = Buffer.from(longest, "base64")
  return isPicture(decoded) ? decoded : undefined
}

/** One range of bytes; what is none is as if nothing had been said, as HTTP has it. */
function rangeOf(range: string, total: number): { readonly from: number; readonly to: number } | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === "" && last === "") return undefined
  const from = first === "" ? Math.max(0, total - Number(last)) : Number(first)
  const to = first === "" || last === "" ? total : Math.min(total, Number(last) + 1)
  if (from < to) return { from, to }
  throw new InputError("BEYOND_END", {
    what: `the range is behind the end: there are ${total} bytes`,
    next: "Ask for bytes that are there",
  })
}
