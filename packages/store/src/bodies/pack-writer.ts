/**
 * Appends blocks to pack files.
 *
 * The order that keeps a store whole: blocks are written, then `sync()`, then the transaction with the rows that name them
 * commits. So a row that is there has its block. What a killed process wrote beyond the last commit is named by no row: `open`
 * learns where the last named block ends and cuts the file there. A file needs no temporary name for that.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, writeSync } from "node:fs"
import { advice, OrangeboxError, suggested } from "@orangebox/contract"
import { createPrivateFile, ensurePrivateFolder, openPrivateFile } from "@orangebox/journal"
import type { BlockPlace } from "./chunk-catalogue.js"
import { listPacks, packPath, syncFolder } from "./pack-folder.js"

export const PACK_HEADER = Buffer.from("orangebox pack 1\n", "latin1")

/** Where a pack's last named block ends. */
export interface PackEnd {
  readonly pack: number
  readonly end: number
}

export interface PackWriterOptions {
  readonly folder: string
  /** The pack to go on with, as the committed rows know it. Without one the first block opens a new pack. */
  readonly resume?: PackEnd
  /** A block that would begin behind this opens the next pack. */
  readonly packBytes?: number
  /** Milliseconds since 1970; new packs are named by it. */
  readonly now?: () => number
}

export class PackWriter {
  readonly #folder: string
  readonly #packBytes: number
  readonly #now: () => number
  #open: OpenPack | undefined
  /** Packs that were left since the last sync; they are closed only when they are durable. */
  #full: OpenPack[] = []
  #hasNewName = false

  static open(options: PackWriterOptions): PackWriter {
    ensurePrivateFolder(options.folder)
    return new PackWriter(options)
  }

  private constructor({ folder, resume, packBytes = 64 * 1024 * 1024, now = Date.now }: PackWriterOptions) {
    this.#folder = folder
    this.#packBytes = packBytes
    this.#now = now
    if (resume !== undefined && resume.end < packBytes) this.#open = reopen(folder, resume)
  }

  /** Where the next block of this pack would go; `undefined` before the first block. */
  get end(): PackEnd | undefined {
    return this.#open && { pack: this.#open.pack, end: this.#open.end }
  }

  append(block: Uint8Array): BlockPlace {
    if (this.#open !== undefined && this.#open.end >= this.#packBytes) this.startNewPack()
    this.#open ??= this.#create()
    const { pack, end: start } = this.#open
    writeFully(this.#open.handle, block, start)
    this.#open.end += block.length
    return { pack, start, size: block.length }
  }

  /** After this returns, every block appended so far survives a power cut. */
  sync(): void {
    for (const open of this.#full) {
      fsyncSync(open.handle)
      closeSync(open.handle)
    }
    this.#full = []
    if (this.#open !== undefined) fsyncSync(this.#open.handle)
    if (this.#hasNewName) syncFolder(this.#folder)
    this.#hasNewName = false
  }

  /** Begins another pack with the next block. What is in this one is still made durable by the next `sync()`. */
  startNewPack(): void {
    if (this.#open !== undefined) this.#full.push(this.#open)
    this.#open = undefined
  }

  /**
   * Gives up what was written since the last sync, and the file with it: after a transaction was rolled back no row names those
   * blocks, and after a failed sync a second one would report success without having written anything.
   */
  abandon(): void {
    this.close()
  }

  close(): void {
    for (const open of this.#full) closeSync(open.handle)
    if (this.#open !== undefined) closeSync(this.#open.handle)
    this.#full = []
    this.#open = undefined
  }

  /**
   * Ids ascend, and none comes twice, though packs are deleted: a reader in another process may still hold the deleted one open
   * and its blocks in a cache. So the time is the id, or the next free number where that is higher.
   */
  #create(): OpenPack {
    for (let pack = Math.max(this.#now(), (listPacks(this.#folder).at(-1) ?? 0) + 1); ; pack++) {
      const handle = createExclusively(packPath(this.#folder, pack))
      if (handle === undefined) continue
      writeFully(handle, PACK_HEADER, 0)
      this.#hasNewName = true
      return { pack, handle, end: PACK_HEADER.length }
    }
  }
}

interface OpenPack {
  readonly pack: number
  readonly handle: number
  end: number
}

function reopen(folder: string, { pack, end }: PackEnd): OpenPack {
  const path = packPath(folder, pack)
  const handle = openPrivateFile(path, "change")
  const { size } = fstatSync(handle)
  if (size < end) {
    closeSync(handle)
    throw new OrangeboxError("PACK_SHORT", {
      what: `the pack has ${size} bytes, but blocks up to byte ${end} are on record`,
      where: path,
      next: advice`Check the store with: ${suggested("verify")}`,
    })
  }
  if (size > end) ftruncateSync(handle, end)
  return { pack, handle, end }
}

function createExclusively(path: string): number | undefined {
  try {
    return createPrivateFile(path, "change")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined
    throw error
  }
}

/** A write may take fewer bytes than it was given, on a full disk above all; the next one then says why. */
function writeFully(handle: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(handle, bytes, done, bytes.length - done, position + done)
  }
}
