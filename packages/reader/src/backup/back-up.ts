import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { BackupManifest, InputError, OrangeboxError } from "@orangebox/contract"
import { copyPrivateFile, ensurePrivateFolder } from "@orangebox/journal"
import { boundCluster, copyStore, openStoreReader } from "@orangebox/store"
import { locateData, type ReaderOptions } from "../open/data-folder.js"
import { catchUpStore } from "../open/open-reading.js"
import { MANIFEST, manifestFiles } from "./manifest-files.js"
import { runsOf } from "./stored-runs.js"

/** What stands in a data folder beside its store and its journals, and cannot be made again. */
const BESIDE = ["store.key", "signatures/chain.ndjson"]

const TRIES = 3

export interface Backup {
  readonly folder: string
  readonly manifest: BackupManifest
  /** How much of the journals was not in the store yet, because another process holds it. */
  readonly behindBytes: number
}

/**
 * A copy of a data folder that may be in use, as of one moment: it is verified and described before it gets its name, so a folder of that name is
 * whole, whenever the process that made it was killed. Journals are not copied: what they hold is brought into the store first.
 */
export async function backUp(options: ReaderOptions, target: string): Promise<Backup> {
  const data = locateData(options.data)
  const folder = resolve(target)
  refuseCluster(data.storeFolder)
  refuseToReplace(folder)
  const { behindBytes } = await catchUpStore(data.path, options)
  for (let tried = 1; ; tried += 1) {
    const draft = `${folder}.${process.pid}-${tried}.part`
    try {
      makeDraft(draft)
      copyStore(data.storeFolder, join(draft, "store"))
      for (const name of BESIDE) copyBeside(join(data.path, name), join(draft, name))
      const missing = await verified(draft, options)
      if (missing === undefined) {
        const manifest = await describe(draft)
        renameSync(draft, folder)
        return { folder, manifest, behindBytes }
      }
      if (tried === TRIES) throw cannotVerify(data.storeFolder, missing)
    } catch (error) {
      throw error instanceof OrangeboxError ? error : cannotCopy(folder, error)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  }
}

function refuseCluster(storeFolder: string): void {
  const cluster = boundCluster(storeFolder)
  if (cluster === undefined) return
  throw new InputError("STORE_CLUSTER", {
    what: `the recordings of this data folder are in ${cluster.url} (database ${cluster.database}), and a backup copies files`,
    where: storeFolder,
    next: "Back the cluster up with its own BACKUP command; single runs go with: orangebox export",
  })
}

function refuseToReplace(folder: string): void {
  if (existsSync(folder)) {
    throw new InputError("FOLDER_EXISTS", {
      what: "there is something already",
      where: folder,
      next: "Name a new folder",
    })
  }
  if (!existsSync(dirname(folder))) {
    throw new InputError("NO_FOLDER", {
      what: `there is no folder to put ${basename(folder)} in`,
      where: dirname(folder),
      next: "Make it first, or name another",
    })
  }
}

function makeDraft(draft: string): void {
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  writeFileSync(join(draft, ".gitignore"), "*\n", { mode: 0o600 })
}

function copyBeside(from: string, to: string): void {
  if (!existsSync(from)) return
  ensurePrivateFolder(dirname(to))
  copyPrivateFile(from, to)
}

/** Why the copy is not whole: something was let go of or rewritten while it was made. Undefined where it is. */
async function verified(draft: string, { onProgress }: ReaderOptions): Promise<string | undefined> {
  const store = openStoreReader(join(draft, "store"))
  try {
    const problems = await store.integrity({ bodies: "all", ...(onProgress ? { onProgress } : {}) })
    return problems.find(({ severity }) => severity === "error")?.reason
  } finally {
    await store.close()
  }
}

async function describe(draft: string): Promise<BackupManifest> {
  const store = openStoreReader(join(draft, "store"))
  let runs: BackupManifest["runs"]
  try {
    runs = await runsOf(store)
  } finally {
    await store.close()
  }
  dropReaderFiles(join(draft, "store"))
  const manifest: BackupManifest = {
    schema: "orangebox.backup/1",
    made_at: new Date().toISOString(),
    runs,
    files: manifestFiles(draft),
  }
  writeFileSync(join(draft, MANIFEST), `${JSON.stringify(BackupManifest.parse(manifest), null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  })
  return manifest
}

/** What SQLite keeps beside a database while somebody reads it; the copy has one file. */
function dropReaderFiles(folder: string): void {
  for (const name of readdirSync(folder)) if (/-(wal|shm)$/.test(name)) rmSync(join(folder, name))
}

const cannotVerify = (where: string, why: string): OrangeboxError =>
  new OrangeboxError("BACKUP", {
    what: `the copy is not whole, ${TRIES} times over: ${why}`,
    where,
    next: "See whether the store itself is sound with: orangebox verify",
  })

const cannotCopy = (where: string, cause: unknown): OrangeboxError =>
  new OrangeboxError("BACKUP", {
    what: `the backup cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`,
    where,
    next: "Nothing was left of it; make room or name another place, and try again",
    cause,
  })
