import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { OrangeboxError } from "@orangebox/contract"
import { findDataFolder, openDataFolder, openJournal } from "@orangebox/journal"
import { describe, expect, test } from "vitest"
import { temporaryFolder } from "./journal-kit.js"

const isRoot = process.getuid?.() === 0

const doors = {
  openJournal: (folder: string) =>
    openJournal({ folder, appId: "a", recorderVersion: "0" }).close({ exitCode: null, reason: "closed" }),
  openDataFolder: (folder: string) => void openDataFolder(folder),
}

describe.each(Object.entries(doors))("%s", (_, open) => {
  const refused = (folder: string): OrangeboxError => {
    try {
      open(folder)
    } catch (error) {
      if (error instanceof OrangeboxError) return error
      throw error
    }
    throw new Error("it was accepted")
  }

  test("[J-05] refuses a file, naming it and what to do", () => {
    const path = join(temporaryFolder(), "journal")
    writeFileSync(path, "a file")
    expect(refused(path)).toMatchObject({
      code: "FOLDER_REFUSED",
      what: "the folder is a file, not a folder",
      where: path,
      next: "Move it away or choose another folder",
    })
  })

  test("[J-05] refuses a symbolic link, also one to a folder of ours", () => {
    const target = temporaryFolder()
    const path = join(temporaryFolder(), "journal")
    symlinkSync(target, path)
    expect(refused(path).what).toBe("the folder is a symbolic link")
    const dangling = join(temporaryFolder(), "journal")
    symlinkSync(join(target, "nowhere"), dangling)
    expect(refused(dangling).what).toBe("the folder is a symbolic link")
    expect(existsSync(join(target, "nowhere"))).toBe(false)
  })

  test("[J-05] refuses a folder that others can write to", () => {
    for (const mode of [0o770, 0o707, 0o1777]) {
      const path = temporaryFolder()
      chmodSync(path, mode)
      expect(refused(path).what).toMatch(/^the folder can be written by others/)
      expect(refused(path).next).toBe(`Run: chmod go-w ${JSON.stringify(path)}`)
    }
  })

  test("[J-05] accepts a folder that others may only look into", () => {
    const path = temporaryFolder()
    chmodSync(path, 0o755)
    open(path)
  })

  test.skipIf(!isRoot)(
    "[J-05] refuses a folder of somebody else (skipped without root, who alone can give one away)",
    () => {
      const path = temporaryFolder()
      chownSync(path, 12_345, 12_345)
      expect(refused(path)).toMatchObject({
        what: "the folder belongs to user 12345, this process runs as 0",
        where: path,
      })
    },
  )
})

test.skipIf(!isRoot)(
  "[J-04] [J-05] a user without permission gets one clear error (skipped without root, who alone can become another user)",
  () => {
    const path = temporaryFolder()
    chmodSync(path, 0o755)
    const locked = join(path, "locked")
    mkdirSync(locked, { mode: 0o500 })
    chownSync(locked, 65_534, 65_534)
    const journal = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href
    const script = `
      const { openJournal } = await import(${JSON.stringify(journal)})
      process.setuid(65534)
      for (const folder of [${JSON.stringify(locked)}, ${JSON.stringify(join(path, "new"))}])
        try { openJournal({ folder, appId: "a", recorderVersion: "0" }) } catch (error) { console.log(error.code, error.where) }`
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })
    expect(child.stdout.split("\n")).toEqual([
      `JOURNAL_UNWRITABLE ${locked}`,
      `FOLDER_REFUSED ${join(path, "new")}`,
      "",
    ])
  },
)

test("[J-05] openDataFolder creates everything 0700, keeps it out of git, and does so again without complaint", () => {
  const path = join(temporaryFolder(), "deep", ".orangebox")
  const folder = openDataFolder(path)
  expect(folder).toEqual({ path, journalFolder: join(path, "journal"), storeFolder: join(path, "store") })
  for (const one of Object.values(folder)) expect(lstatSync(one).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(path, ".gitignore"), "utf8")).toBe("*\n")
  expect(openDataFolder(path)).toEqual(folder)
})

describe("findDataFolder", () => {
  test("takes ORANGEBOX_HOME before anything else", () => {
    const cwd = temporaryFolder()
    expect(findDataFolder({ cwd, env: { ORANGEBOX_HOME: "/somewhere/else" } })).toBe("/somewhere/else")
    expect(findDataFolder({ cwd, env: { ORANGEBOX_HOME: "relative" } })).toBe(join(cwd, "relative"))
  })

  test("finds the nearest .orangebox upwards, else names one here, and creates nothing", () => {
    const top = temporaryFolder()
    const cwd = join(top, "a", "b")
    mkdirSync(cwd, { recursive: true })
    expect(findDataFolder({ cwd, env: {} })).toBe(join(cwd, ".orangebox"))
    expect(existsSync(join(cwd, ".orangebox"))).toBe(false)
    mkdirSync(join(top, ".orangebox"))
    expect(findDataFolder({ cwd, env: { ORANGEBOX_HOME: "" } })).toBe(join(top, ".orangebox"))
  })
})

test.skipIf(process.platform !== "linux")("a folder that no file system can make is refused, not waited for", () => {
  for (const path of ["/proc/orangebox", "/proc/orangebox/deeper/still"]) {
    expect(() => openDataFolder(path)).toThrow(/cannot be/)
  }
})
