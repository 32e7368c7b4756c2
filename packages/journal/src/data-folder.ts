import { existsSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { FILE_MODE, failureCode } from "./journal-fs.js"
import { ensurePrivateFolder } from "./safe-folder.js"

const FOLDER_NAME = ".orangebox"

export interface DataFolder {
  readonly path: string
  readonly journalFolder: string
  readonly storeFolder: string
}

/** `ORANGEBOX_HOME`; else the nearest `.orangebox` here or further up; else `.orangebox` here. Creates nothing. */
export function findDataFolder(options: { cwd?: string; env?: Record<string, string | undefined> } = {}): string {
  const cwd = resolve(options.cwd ?? process.cwd())
  const home = (options.env ?? process.env).ORANGEBOX_HOME
  if (home !== undefined && home !== "") return resolve(cwd, home)
  for (let folder = cwd; ; folder = dirname(folder)) {
    const candidate = join(folder, FOLDER_NAME)
    if (existsSync(candidate)) return candidate
    if (dirname(folder) === folder) return join(cwd, FOLDER_NAME)
  }
}

/** Creates the data folder where it is missing, and refuses one that is not private to this user. */
export function openDataFolder(path: string): DataFolder {
  const folder = resolve(path)
  ensurePrivateFolder(folder)
  const journalFolder = join(folder, "journal")
  const storeFolder = join(folder, "store")
  for (const inner of [journalFolder, storeFolder]) ensurePrivateFolder(inner)
  keepOutOfGit(folder)
  return { path: folder, journalFolder, storeFolder }
}

function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: FILE_MODE })
  } catch (error) {
    // One that is there already is the user's business; a full disk is no reason to refuse the folder.
    if (!["EEXIST", "ENOSPC", "EDQUOT", "EROFS", "EACCES"].includes(failureCode(error))) throw error
  }
}
