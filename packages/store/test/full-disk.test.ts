import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isAbsent, openStore } from "@orangebox/store"
import { expect, onTestFinished, test } from "vitest"
import { ordinaryRun, type RecordedRun } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

/** A disk of eight megabytes; undefined where none can be had. */
function smallDisk(): string | undefined {
  const mounted = join(temporaryFolder(), "small")
  mkdirSync(mounted)
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", mounted]).status !== 0) return undefined
  onTestFinished(() => void spawnSync("umount", ["-l", mounted]))
  return mounted
}

test("[L-01] on a full disk a batch is refused whole, and taken when there is room again", async (context) => {
  const mounted = smallDisk()
  if (mounted === undefined) return context.skip("mounting a small disk needs more rights than this process has")
  const filler = join(mounted, "filler")
  writeFileSync(filler, Buffer.alloc(5 * 1024 * 1024))
  const { store } = openStore(join(mounted, "store"))
  const taken: RecordedRun[] = []
  let refused: RecordedRun | undefined
  for (let no = 1; no < 2000 && refused === undefined; no++) {
    const run = ordinaryRun({ no })
    try {
      await store.commit(run.batch({ offsets: [{ file: "j", offset: no }] }))
      taken.push(run)
    } catch (error) {
      expect(error).toMatchObject({ code: "STORE_FULL" })
      refused = run
    }
  }
  expect(refused).toBeDefined()
  expect((await store.offsets()).get("j")).toBe(taken.length)
  expect(await store.getRun(refused!.runId)).toBeUndefined()
  await expect(store.commit(refused!.batch())).rejects.toMatchObject({ code: "STORE_FULL" })

  rmSync(filler)
  expect(await store.commit(refused!.batch())).toMatchObject({ events: 7 })
  for (const run of [...taken, refused!]) {
    for (const body of run.bodies) expect(isAbsent(await store.readBody(body.hash))).toBe(false)
  }
  expect(await store.integrity({ bodies: "all" })).toEqual([])
  await store.close()
})
