import { closeSync, fsyncSync, openSync, readdirSync, unlinkSync } from "node:fs"
import { join } from "node:path"

export function packPath(folder: string, pack: number): string {
  return join(folder, `${pack}.pack`)
}

/** The ids of all packs in the folder, ascending. */
export function listPacks(folder: string): number[] {
  return readdirSync(folder)
    .map((name) => Number(/^([1-9]\d{0,14})\.pack$/.exec(name)?.[1] ?? 0))
    .filter((pack) => pack > 0)
    .sort((one, other) => one - other)
}

/**
 * Deletes the packs no row names: what a killed process had written but not committed, and what a rewrite has replaced.
 * For the one process that writes, between two of its transactions, with every pack it is writing among the named.
 */
export function removeUnnamedPacks(folder: string, named: ReadonlySet<number>): number[] {
  const unnamed = listPacks(folder).filter((pack) => !named.has(pack))
  for (const pack of unnamed) unlinkSync(packPath(folder, pack))
  return unnamed
}

/** Makes created, renamed and deleted names of a folder durable. Windows cannot open a folder and keeps names durable itself. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return
  const handle = openSync(folder, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
