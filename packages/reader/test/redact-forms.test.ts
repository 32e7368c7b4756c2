import { writeBinaryEvent } from "@orangebox/redaction"
import { expect, test } from "vitest"
import { isDamagedStream, searchForValue } from "../src/redact-stored/search.js"

const VALUE = ["Zk7", "wQ2m", "R9xT", "4vLp"].join("")
const search = searchForValue(VALUE)
const isIn = (text: string): boolean => search.isIn(Buffer.from(text), "text/plain")

test("[X-09] a value is found with colours in it, in base64 of base64 and in hex of capitals", () => {
  const coloured = `\x1b[32m${VALUE.slice(0, 5)}\x1b[0m${VALUE.slice(5)}`
  expect(isIn(`see ${coloured} now`)).toBe(true)
  expect(isIn(JSON.stringify({ out: coloured }))).toBe(true)
  expect(search.redact(`see ${coloured} now`)).not.toContain(VALUE.slice(5))
  expect(isIn(Buffer.from(VALUE).toString("hex").toUpperCase())).toBe(true)
  for (const before of ["", "a", "ab", "note: "]) {
    const once = Buffer.from(`${before}${VALUE} and more`).toString("base64")
    for (const around of ["", "x", "xy"]) {
      expect(isIn(Buffer.from(`${around}${once} end`).toString("base64")), before + around).toBe(true)
    }
  }
  expect(isIn("nothing of the kind \x1b[31mhere\x1b[0m")).toBe(false)
})

test("[X-09] a value cut over the messages of a binary event stream is found", () => {
  const event = (text: string): Buffer => {
    const inner = JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })
    return writeBinaryEvent(
      Buffer.alloc(0),
      Buffer.from(JSON.stringify({ bytes: Buffer.from(inner).toString("base64") })),
    )
  }
  const stream = Buffer.concat([event("it is "), event(VALUE.slice(0, 6)), event(VALUE.slice(6)), event(" ok")])
  expect(search.isIn(stream, "application/vnd.amazon.eventstream")).toBe(true)
  expect(search.isIn(event("nothing"), "application/vnd.amazon.eventstream")).toBe(false)
  expect(isDamagedStream(stream, "application/vnd.amazon.eventstream")).toBe(false)

  // Wherever it is cut or a byte of it is wrong, what is left whole is still put together, and the damage is seen.
  const messages = [event("it is "), event(VALUE.slice(0, 6)), event(VALUE.slice(6)), event(" ok"), event(" then")]
  const long = Buffer.concat(messages)
  const from = messages[0]!.length
  const to = from + messages[1]!.length + messages[2]!.length
  for (let at = 0; at < long.length; at++) {
    const wrong = Buffer.from(long)
    wrong[at]! ^= 0x11
    expect(isDamagedStream(wrong, "application/vnd.amazon.eventstream"), `${at}`).toBe(true)
    if (at < from || at >= to) expect(search.isIn(wrong, "application/vnd.amazon.eventstream"), `${at}`).toBe(true)
    const cut = long.subarray(0, at)
    if (at >= to) expect(search.isIn(cut, "application/vnd.amazon.eventstream"), `${at}`).toBe(true)
  }
})
