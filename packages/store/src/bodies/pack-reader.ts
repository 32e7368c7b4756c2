import { closeSync, readSync } from "node:fs"
import { checkPrivateFolder, openPrivateFile } from "@orangebox/journal"
import { decodeBlock } from "./block-format.js"
import type { BodyProblem } from "./body-problem.js"
import type { BlockPlace } from "./chunk-catalogue.js"
import { packPath } from "./pack-folder.js"
import { PACK_HEADER } from "./pack-writer.js"

export type BlockReading =
  | { readonly raw: Buffer; readonly problem?: never }
  | { readonly raw?: never; readonly problem: BodyProblem }

/** Where stored blocks are read. The raw bytes are shared: read them, never write to them. */
export interface BlockSource {
  read(place: BlockPlace): BlockReading
}

/** Reads blocks out of packs, checked, with the last ones kept decompressed: a history lies in few blocks, read again and again. */
export class PackReader {
  readonly #folder: string
  readonly #cacheBytes: number
  readonly #openPacks: number
  readonly #handles = new Map<number, number>()
  readonly #blocks = new Map<string, Buffer>()
  #cachedBytes = 0

  constructor({
    folder,
    cacheBytes = 16 * 1024 * 1024,
    openPacks = 16,
  }: { folder: string; cacheBytes?: number; openPacks?: number }) {
    this.#folder = folder
    this.#cacheBytes = cacheBytes
    this.#openPacks = openPacks
  }

  /** The raw bytes of a block. They are shared with the cache: read them, never write to them. */
  read(place: BlockPlace): BlockReading {
    const key = `${place.pack}:${place.start}`
    const cached = this.#blocks.get(key)
    if (cached !== undefined) {
      this.#blocks.delete(key)
      this.#blocks.set(key, cached)
      return { raw: cached }
    }
    const handle = this.#handleOf(place.pack)
    if (typeof handle !== "number") return { problem: handle }
    const raw = this.#readBlock(handle, place)
    if (!Buffer.isBuffer(raw)) return { problem: raw }
    this.#keep(key, raw)
    return { raw }
  }

  /** Drops what is known of a pack: it was deleted, or its uncommitted end was cut off. */
  forget(pack: number): void {
    const handle = this.#handles.get(pack)
    if (handle !== undefined) closeSync(handle)
    this.#handles.delete(pack)
    for (const [key, raw] of this.#blocks) {
      if (!key.startsWith(`${pack}:`)) continue
      this.#blocks.delete(key)
      this.#cachedBytes -= raw.length
    }
  }

  close(): void {
    for (const handle of this.#handles.values()) closeSync(handle)
    this.#handles.clear()
    this.#blocks.clear()
    this.#cachedBytes = 0
  }

  #readBlock(handle: number, place: BlockPlace): Buffer | BodyProblem {
    const where = `${packPath(this.#folder, place.pack)}@${place.start}`
    const stored = Buffer.allocUnsafe(place.size)
    try {
      if (!readFully(handle, stored, place.start))
        return { code: "block_damaged", where, reason: "the pack ends inside the block" }
    } catch (error) {
      return { code: "pack_unreadable", where, reason: reasonOf(error) }
    }
    const raw = decodeBlock(stored)
    return typeof raw === "string" ? { code: "block_damaged", where, reason: raw } : raw
  }

  #handleOf(pack: number): number | BodyProblem {
    const known = this.#handles.get(pack)
    if (known !== undefined) return known
    const path = packPath(this.#folder, pack)
    let handle: number
    try {
      if (this.#handles.size === 0) checkPrivateFolder(this.#folder)
      handle = openPrivateFile(path, "read")
    } catch (error) {
      const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT"
      return { code: isMissing ? "pack_missing" : "pack_unreadable", where: path, reason: reasonOf(error) }
    }
    const header = Buffer.alloc(PACK_HEADER.length)
    if (!readFully(handle, header, 0) || !header.equals(PACK_HEADER)) {
      closeSync(handle)
      return { code: "pack_unreadable", where: path, reason: "the file does not begin as a pack of this version does" }
    }
    for (const [oldest, oldHandle] of this.#handles) {
      if (this.#handles.size < this.#openPacks) break
      closeSync(oldHandle)
      this.#handles.delete(oldest)
    }
    this.#handles.set(pack, handle)
    return handle
  }

  #keep(key: string, raw: Buffer): void {
    if (raw.length > this.#cacheBytes) return
    this.#blocks.set(key, raw)
    this.#cachedBytes += raw.length
    for (const [oldest, old] of this.#blocks) {
      if (this.#cachedBytes <= this.#cacheBytes) break
      this.#blocks.delete(oldest)
      this.#cachedBytes -= old.length
    }
  }
}

function readFully(handle: number, into: Buffer, position: number): boolean {
  for (let done = 0; done < into.length; ) {
    const count = readSync(handle, into, done, into.length - done, position + done)
    if (count === 0) return false
    done += count
  }
  return true
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
