import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { decisionsMustHoldBelow } from "./every-run.js"

export interface Scratch {
  readonly path: string
  remove(): void
}

/** A folder of its own for one test. It is not removed before its runs were read into decisions, which must hold. */
export function scratchFolder(): Scratch {
  const path = mkdtempSync(join(tmpdir(), "orangebox-test-"))
  return { path, remove: () => removeFolder(path) }
}

function removeFolder(path: string): void {
  try {
    if (existsSync(path)) decisionsMustHoldBelow(path)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}
