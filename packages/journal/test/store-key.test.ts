import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { openStoreKey } from "../src/index.js"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "orangebox-key-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("the key of a store", () => {
  test("[X-03] is made once, is private, and is the same for everyone who opens the folder", () => {
    const key = openStoreKey(folder)
    expect(key).toHaveLength(32)
    expect(openStoreKey(folder)).toEqual(key)
    expect(statSync(join(folder, "store.key")).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(["store.key"])
  })

  test("[X-03] processes that start at once end up with one key", () => {
    const script = `
      import { openStoreKey } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)}
      console.log(Buffer.from(openStoreKey(${JSON.stringify(folder)})).toString("hex"))`
    const starter = `
      const { spawn } = require("node:child_process")
      let out = ""
      for (let i = 0; i < 6; i++) spawn(process.execPath, ["--input-type=module", "-e", ${JSON.stringify(script)}]).stdout.on("data", (d) => { out += d })
      process.on("exit", () => process.stdout.write(out))`
    const keys = execFileSync(process.execPath, ["-e", starter], { encoding: "utf8" }).trim().split("\n")
    expect(keys).toHaveLength(6)
    expect(new Set(keys).size).toBe(1)
  })

  test("[X-03] one that is damaged, or a link to elsewhere, is refused with its place and never replaced", () => {
    writeFileSync(join(folder, "store.key"), "short", { mode: 0o600 })
    expect(() => openStoreKey(folder)).toThrow(/5 bytes instead of 32/)
    rmSync(join(folder, "store.key"))
    symlinkSync("/etc/hostname", join(folder, "store.key"))
    expect(() => openStoreKey(folder)).toThrow(/store\.key/)
  })
})
