import { spawnSync } from "node:child_process"
import { closeSync, readdirSync, readSync } from "node:fs"
import { join, sep } from "node:path"
import { OrangeboxError } from "@orangebox/contract"
import { checkPrivateFile, type DataFolder, openPrivateFile } from "@orangebox/journal"
import { scanPack } from "@orangebox/store"
import type { Search } from "./search.js"

export type FileFinding =
  | { readonly path: string; readonly state: "holds"; readonly reason?: never }
  /** It was not looked into, so it may hold the value. */
  | { readonly path: string; readonly state: "unknown"; readonly reason: string }

/**
 * Every file of the data folder that holds what is searched for, or that cannot be looked into. Packs are looked into block by block, all
 * others byte by byte. In the database's own pages rules would find words that no reader ever sees side by side, so there only a value is
 * looked for; and where only one run was redacted (`isWholeStore: false`), others may hold it.
 */
export function* searchFolder(
  folder: DataFolder,
  search: Search,
  { isWholeStore }: { readonly isWholeStore: boolean },
): Generator<FileFinding, void> {
  for (const entry of readdirSync(folder.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) continue
    if (!entry.isFile()) {
      yield { path, state: "unknown", reason: "it is a link or a device, and was not looked into; remove it" }
      continue
    }
    if (isOfStore(path, folder) && !(isWholeStore && (search.isValue || isText(path)))) continue
    try {
      const finding = findIn(isOfStore(path, folder) ? storePieces(path) : piecesOf(path), search)
      if (finding === "holds") yield { path, state: "holds" }
      else if (finding !== undefined) yield { path, state: "unknown", reason: `it cannot be looked into: ${finding}` }
    } catch (error) {
      // A file that went in between holds nothing any more.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") continue
      const why = error instanceof OrangeboxError ? error.what : String((error as Error).message)
      yield { path, state: "unknown", reason: `it cannot be read: ${why}` }
    }
  }
}

export function isOfStore(path: string, { storeFolder }: DataFolder): boolean {
  return path.startsWith(join(storeFolder, sep))
}

const isText = (path: string): boolean => /\.(ndjson|json)$/.test(path)

const PIECE_BYTES = 4 * 1024 * 1024
/** More than any value or secret is long, so that none falls between two pieces. */
const OVERLAP_BYTES = 64 * 1024

/** What keeps the pieces from being read to their end comes back as its sentence. */
function findIn(pieces: Generator<Buffer, string | undefined>, search: Search): "holds" | string | undefined {
  let before = Buffer.alloc(0)
  for (;;) {
    const { value, done } = pieces.next()
    if (done === true) return value
    const piece = Buffer.concat([before, value])
    if (search.isIn(piece, null)) {
      pieces.return(undefined)
      return "holds"
    }
    before = piece.subarray(-OVERLAP_BYTES)
  }
}

function storePieces(path: string): Generator<Buffer, string | undefined> {
  if (/\.pack$/.test(path)) return scanPack(path)
  return /\.db(-wal|-shm|-journal)?$/.test(path) ? piecesOfDatabase(path) : piecesOf(path)
}

const DATABASE_PIECE_BYTES = 32 * 1024 * 1024

/**
 * Read by another process. Closing a descriptor drops all locks that a process has on the file, also those of a connection that is closed and
 * not yet collected; another process would then take the log for its own, and lose what it commits when the first one goes.
 */
function* piecesOfDatabase(path: string): Generator<Buffer, undefined> {
  checkPrivateFile(path)
  for (let at = 0; ; at += DATABASE_PIECE_BYTES) {
    const args = ["--input-type=commonjs", "-e", READ_PIECE, path, String(at), String(DATABASE_PIECE_BYTES)]
    const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { maxBuffer: 2 * DATABASE_PIECE_BYTES })
    if (error !== undefined) throw error
    if (status !== 0) throw new Error(stderr.toString().trim().split("\n").at(-1))
    if (stdout.length > 0) yield stdout
    if (stdout.length < DATABASE_PIECE_BYTES) return undefined
  }
}

const READ_PIECE = `
const { openSync, readSync, writeSync } = require("node:fs")
const [path, at, length] = process.argv.slice(1)
let fd
try { fd = openSync(path, "r") } catch (error) { if (error.code === "ENOENT") process.exit(0); throw error }
const piece = Buffer.alloc(Number(length))
let size = 0
for (let read = 1; read > 0 && size < piece.length; size += read) read = readSync(fd, piece, size, piece.length - size, Number(at) + size)
for (let from = 0; from < size; ) from += writeSync(1, piece, from, size - from)
`

function* piecesOf(path: string): Generator<Buffer, undefined> {
  const handle = openPrivateFile(path, "read")
  try {
    for (let at = 0; ; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      const length = readSync(handle, piece, 0, PIECE_BYTES, at)
      if (length === 0) return undefined
      yield piece.subarray(0, length)
      at += length
    }
  } finally {
    closeSync(handle)
  }
}
