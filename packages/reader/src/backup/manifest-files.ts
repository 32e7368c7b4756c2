import { closeSync, lstatSync, readdirSync, readSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { type BackupManifest, type BodyHash, incrementalBodyHash } from "@orangebox/contract"
import { openPrivateFile } from "@orangebox/journal"

export const MANIFEST = "backup.json"

/** Every file of a backup but its description, in the order of their names. */
export function manifestFiles(folder: string): BackupManifest["files"] {
  return filesIn(folder)
    .filter((path) => path !== MANIFEST)
    .sort()
    .map((path) => ({ path, ...measured(join(folder, path)) }))
}

function filesIn(folder: string, root = folder): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesIn(path, root) : [relative(root, path).split(sep).join("/")]
  })
}

const READ_AT_ONCE = 4 * 1024 * 1024

function measured(path: string): { byte_size: number; sha256: BodyHash } {
  const file = openPrivateFile(path, "read")
  try {
    const hash = incrementalBodyHash()
    const buffer = Buffer.allocUnsafe(Math.min(READ_AT_ONCE, Math.max(1, lstatSync(path).size)))
    let at = 0
    for (;;) {
      const length = readSync(file, buffer, 0, buffer.length, at)
      if (length === 0) return { byte_size: at, sha256: hash.digest() }
      hash.update(buffer.subarray(0, length))
      at += length
    }
  } finally {
    closeSync(file)
  }
}
