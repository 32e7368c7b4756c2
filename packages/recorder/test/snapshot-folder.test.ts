import { expect, test } from "vitest"
import { snapshotFolderOf } from "../src/faults/snapshot-folder.js"

test.each([
  ["/w/.orangebox", "/w", ".orangebox/snapshots"],
  ["/w/.orangebox", "/w/packages/one", ".orangebox/snapshots"],
  ["/w/data", "/w", "data/snapshots"],
  ["/w/deep/data", "/w", "deep/data/snapshots"],
  ["/elsewhere/data", "/w/one", "../../elsewhere/data/snapshots"],
  ["/home/user/.orangebox", "/w", "../home/user/.orangebox/snapshots"],
  ["../data", "/w/one", "../data/snapshots"],
  ["/w", "/w", "snapshots"],
  ["/.orangebox", "/w/one", ".orangebox/snapshots"],
])("[F-04] [F-08] the snapshots of the data folder %s, seen from %s, lie in %s", (dataFolder, cwd, seen) => {
  expect(snapshotFolderOf(dataFolder, cwd)).toBe(seen)
})
