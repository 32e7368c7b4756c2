import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { findMounting, type MountWay, mountWays, type StandIn } from "../src/workspace/mounted-copy.js"

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "orangebox-mounted-")))
afterAll(() => rmSync(scratch, { recursive: true }))

function standIn(name: string): StandIn {
  const at = (...parts: string[]): string => join(scratch, name, ...parts)
  for (const folder of ["original/sub/data", "copy/sub/data", "objects", "lent"])
    mkdirSync(at(folder), { recursive: true })
  writeFileSync(at("original/file"), "the original")
  writeFileSync(at("copy/file"), "the copy")
  writeFileSync(at("objects/one"), "lent")
  return {
    copy: at("copy"),
    original: at("original"),
    kept: [at("original/sub/data")],
    lent: [{ from: at("objects"), at: at("lent") }],
    folder: at("original/sub"),
  }
}

/** A way that this machine lacks cannot be tried here; that is said, not passed over. */
async function isHere(way: MountWay): Promise<boolean> {
  const found = await findMounting(standIn(`trial-${way.by.replaceAll(" ", "")}`), [way])
  if (!found) console.warn(`orangebox: "${way.by}" does not work on this machine, so it is not tested here`)
  return found !== undefined
}

const ways = mountWays()
const here = await Promise.all(ways.map(isHere))

describe.each(ways.map((way, at) => ({ by: way.by, way, isUsable: here[at]! })))("by $by", ({ by, way, isUsable }) => {
  test.skipIf(!isUsable)(
    "[P-11] a command finds the copy at the original's path, and the original stays what it is",
    async () => {
      const given = standIn(by.replaceAll(" ", "-"))
      const mounting = (await findMounting(given, [way]))!
      const script =
        'pwd; cat "$1/file" "$2/one"; echo " changed" >> "$1/file"; echo new > "$1/made"; echo kept > data/journal; id -u; exit 7'
      const [program, ...args] = mounting(["sh", "-c", script, "sh", given.original, given.lent[0]!.at])
      const { status, stdout } = spawnSync(program, args, { encoding: "utf8" })
      expect([status, stdout]).toEqual([7, `${given.folder}\nthe copylent${process.getuid?.()}\n`])
      expect(readFileSync(join(given.original, "file"), "utf8")).toBe("the original")
      expect(readFileSync(join(given.copy, "file"), "utf8")).toBe("the copy changed\n")
      expect(execFileSync("ls", [given.original], { encoding: "utf8" })).toBe("file\nsub\n")
      // The data folder is the one of the original: what is recorded there must not go away with the copy.
      expect(readFileSync(join(given.kept[0]!, "journal"), "utf8")).toBe("kept\n")
    },
  )

  test.skipIf(!isUsable)("[P-11] signals reach the command, and how it ended is told", async () => {
    const mounting = (await findMounting(standIn(`signal-${by.replaceAll(" ", "-")}`), [way]))!
    const [program, ...args] = mounting(["sh", "-c", "kill -TERM $$"])
    const { status, signal } = spawnSync(program, args)
    // bwrap waits for the command and tells its signal as a shell does.
    expect([status, signal]).toEqual(by === "bwrap" ? [128 + 15, null] : [null, "SIGTERM"])
  })
})

test("[P-11] what does not work is found out by trying it: no program, no right, no original", async () => {
  const given = standIn("refused")
  const gone: MountWay = { by: "gone", mounting: () => (command) => ["/nowhere/to/be/found", ...command] }
  const nothing: MountWay = { by: "nothing", mounting: () => (command) => ["env", ...command] }
  expect(await findMounting(given, [gone, nothing])).toBeUndefined()
  chmodSync(given.copy, 0o755)
  expect(await findMounting({ ...given, original: join(scratch, "not-here") })).toBeUndefined()
})
