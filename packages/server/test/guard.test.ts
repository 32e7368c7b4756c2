import { describe, expect, test } from "vitest"
import { allowedHosts, checkHost } from "../src/guard/host.js"
import { checkKey, freshKey } from "../src/guard/key.js"
import { Seats, withinTime } from "../src/guard/limits.js"
import { OneTimeCodes } from "../src/guard/one-time-code.js"
import { checkOrigin } from "../src/guard/origin.js"

describe("[O-03] the guards of the server, one by one", () => {
  test("a code is good for a minute and once, and no more than some are out at a time", () => {
    let now = 0
    const codes = new OneTimeCodes(() => now)
    const first = codes.issue()
    expect(codes.redeem(first)).toBe(true)
    expect(codes.redeem(first)).toBe(false)
    const second = codes.issue()
    now = 59_999
    const third = codes.issue()
    now = 60_000
    expect([codes.redeem(second), codes.redeem(third), codes.redeem("guess")]).toEqual([false, true, false])
    const many = Array.from({ length: 40 }, () => codes.issue())
    expect(many.filter((code) => codes.redeem(code))).toHaveLength(16)
  })

  test("hosts are taken by their whole name and port", () => {
    const allowed = allowedHosts(4747, ["Box.Example"])
    for (const host of ["127.0.0.1:4747", "localhost:4747", "[::1]:4747", "box.example:4747", "LOCALHOST:4747"])
      expect(checkHost(["Host", host], allowed)).toBe(host.toLowerCase())
    for (const headers of [[], ["Host", "localhost"], ["Host", "localhost:47471"], ["host", "a.localhost:4747"]])
      expect(() => checkHost(headers, allowed)).toThrow()
    expect(() => checkHost(["Host", "localhost:4747", "host", "localhost:4747"], allowed)).toThrow()
  })

  test("an origin is our own or absent", () => {
    const host = "127.0.0.1:4747"
    expect(checkOrigin({}, host)).toBeUndefined()
    expect(checkOrigin({ origin: `http://${host}`, "sec-fetch-site": "same-origin" }, host)).toBeUndefined()
    for (const headers of [
      { origin: `https://${host}` },
      { origin: "http://127.0.0.1" },
      { "sec-fetch-site": "same-site" },
    ])
      expect(() => checkOrigin(headers, host)).toThrow()
  })

  test("a key has 256 bits, and only the whole of it counts", () => {
    const key = freshKey()
    expect(Buffer.from(key, "base64url")).toHaveLength(32)
    expect(checkKey({ authorization: `Bearer ${key}` }, key, "")).toBeUndefined()
    for (const given of [key.slice(1), `${key}A`, "", key.toUpperCase()])
      expect(() => checkKey({ authorization: `Bearer ${given}` }, key, "")).toThrow()
  })

  test("a seat is given back once, and what takes too long is given up", async () => {
    const seats = new Seats(1, "requests")
    const giveBack = seats.take()
    expect(() => seats.take()).toThrow(/no more are taken/)
    giveBack()
    giveBack()
    seats.take()
    expect(() => seats.take()).toThrow()
    await expect(withinTime(new Promise(() => {}), 10)).rejects.toMatchObject({ code: "TOO_LONG" })
    expect(await withinTime(Promise.resolve("there"), 1000)).toBe("there")
  })
})
