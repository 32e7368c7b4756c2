import { InputError } from "@orangebox/contract"

/** What a time stamp (RFC 3161) says. Who vouches for it is not looked at: that takes the authority's certificates. */
export interface TimeStamp {
  /** The hash of what was stamped, in hex. */
  readonly imprint: string
  readonly at: string
}

const SEQUENCE = 0x30
const OCTETS = 0x04
const GENERALIZED_TIME = 0x18
const CONTEXT_0 = 0xa0

/**
 * Reads a response of a time-stamp authority, as `openssl ts -reply` writes it:
 * `TimeStampResp { status, ContentInfo { oid, [0] SignedData { version, digests, { oid, [0] OCTET STRING TSTInfo } … } } }`.
 */
export function readTimeStamp(bytes: Uint8Array, where: string): TimeStamp {
  try {
    const response = members(only(members(bytes), SEQUENCE))
    const signedData = members(only(members(only(members(at(response, 1, SEQUENCE)), CONTEXT_0)), SEQUENCE))
    const wrapped = members(only(members(at(signedData, 2, SEQUENCE)), CONTEXT_0))
    const info = members(only(members(only(wrapped, OCTETS)), SEQUENCE))
    const imprint = only(members(at(info, 2, SEQUENCE)), OCTETS)
    return { imprint: Buffer.from(imprint).toString("hex"), at: momentOf(only(info, GENERALIZED_TIME)) }
  } catch (cause) {
    throw new InputError("TIME_STAMP", {
      what: "the file is no time stamp (a response of RFC 3161, in DER)",
      where,
      next: "Ask an authority for one of the signature's file: openssl ts -query -sha256 -cert -data FILE",
      cause,
    })
  }
}

interface Member {
  readonly tag: number
  readonly content: Uint8Array
}

/** The members of a constructed value. */
function members(bytes: Uint8Array): Member[] {
  const found: Member[] = []
  for (let from = 0; from < bytes.length; ) {
    const [length, start] = lengthAt(bytes, from + 1)
    if (start + length > bytes.length) throw new RangeError("a length leads beyond the end")
    found.push({ tag: bytes[from]!, content: bytes.subarray(start, start + length) })
    from = start + length
  }
  return found
}

/** @returns the length, and where the content begins */
function lengthAt(bytes: Uint8Array, at: number): [number, number] {
  const first = bytes[at]
  if (first === undefined) throw new RangeError("a length is missing")
  if (first < 0x80) return [first, at + 1]
  const digits = first & 0x7f
  if (digits === 0 || digits > 4) throw new RangeError("a length is not in DER")
  let length = 0
  for (const digit of bytes.subarray(at + 1, at + 1 + digits)) length = length * 256 + digit
  return [length, at + 1 + digits]
}

function only(list: readonly Member[], tag: number): Uint8Array {
  const found = list.find((member) => member.tag === tag)
  if (!found) throw new RangeError(`no value of type ${tag}`)
  return found.content
}

function at(list: readonly Member[], place: number, tag: number): Uint8Array {
  const found = list[place]
  if (found?.tag !== tag) throw new RangeError(`no value of type ${tag} at place ${place}`)
  return found.content
}

/** `20261118093000Z`, with a fraction perhaps. */
function momentOf(content: Uint8Array): string {
  const text = Buffer.from(content).toString("latin1")
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z$/.exec(text) ?? []
  if (second === undefined) throw new RangeError("no time in UTC")
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
}
