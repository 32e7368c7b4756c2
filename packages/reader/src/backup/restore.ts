import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { BackupManifest, InputError, type OrangeboxError } from "@orangebox/contract"
import { copyPrivateFile, ensurePrivateFolder } from "@orangebox/journal"
import { openStoreReader } from "@orangebox/store"
import { dataPath, type ReaderOptions } from "../open/data-folder.js"
import { MANIFEST, manifestFiles } from "./manifest-files.js"
import { runsOf } from "./stored-runs.js"

export interface Restored {
  readonly folder: string
  readonly runs: number
}

/** Lays a backup out as a data folder where there is none, once every file has its hash and every run its digest. */
export async function restore(backup: string, options: ReaderOptions): Promise<Restored> {
  const from = resolve(backup)
  const folder = dataPath(options.data)
  const manifest = readManifest(from)
  refuseToReplace(folder)
  compareFiles(from, manifest)
  const draft = `${folder}.${process.pid}.part`
  try {
    ensurePrivateFolder(draft)
    for (const { path } of manifest.files) {
      mkdirSync(dirname(join(draft, path)), { recursive: true, mode: 0o700 })
      copyPrivateFile(join(from, path), join(draft, path))
    }
    compareFiles(draft, manifest)
    await compareRuns(draft, manifest)
    mkdirSync(join(draft, "journal"), { mode: 0o700 })
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return { folder, runs: manifest.runs.length }
}

/** An empty folder may be replaced; anything else is somebody's. */
function refuseToReplace(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return
  throw new InputError("FOLDER_EXISTS", {
    what: "there is a data folder already, and a backup replaces none",
    where: folder,
    next: "Name another with --data, or move this one away",
  })
}

function readManifest(from: string): BackupManifest {
  const path = join(from, MANIFEST)
  try {
    const read = BackupManifest.safeParse(JSON.parse(readFileSync(path, "utf8")))
    if (read.success && read.data.files.every(({ path }) => isInside(path))) return read.data
  } catch {
    // Told below: it is not there, or is no JSON.
  }
  throw new InputError("NOT_A_BACKUP", {
    what: existsSync(path) ? "its description cannot be read" : "this is no backup: it has no description",
    where: path,
    next: "Name a folder that orangebox backup made; one that was not finished has none",
  })
}

const isInside = (path: string): boolean =>
  !path.startsWith("/") && !path.includes("\\") && !path.split("/").includes("..")

function compareFiles(folder: string, manifest: BackupManifest): void {
  const found = new Map(manifestFiles(folder).map(({ path, sha256 }) => [path, sha256]))
  for (const { path, sha256 } of manifest.files) {
    if (found.get(path) === sha256) continue
    throw damagedBackup(
      join(folder, path),
      found.has(path) ? "is not as it was when the backup was made" : "is missing",
    )
  }
}

async function compareRuns(folder: string, manifest: BackupManifest): Promise<void> {
  const store = openStoreReader(join(folder, "store"))
  try {
    const found = new Map((await runsOf(store)).map(({ run_id, digest }) => [run_id, digest]))
    for (const { run_id, digest } of manifest.runs) {
      if (found.get(run_id) !== digest) throw damagedBackup(run_id, "has another digest than when the backup was made")
    }
  } finally {
    await store.close()
  }
  // What SQLite keeps beside a database that is read.
  for (const name of readdirSync(join(folder, "store")))
    if (/-(wal|shm)$/.test(name)) rmSync(join(folder, "store", name))
}

const damagedBackup = (where: string, what: string): OrangeboxError =>
  new InputError("BACKUP_DAMAGED", {
    what: `a part of the backup ${what}`,
    where,
    next: "Restore another backup; nothing was changed",
  })
