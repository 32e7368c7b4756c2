import { closeSync, fstatSync, fsyncSync, lstatSync, readSync, writeSync } from "node:fs"
import type { Event } from "@orangebox/contract"
import { openPrivateFile, replacePrivateFile } from "@orangebox/journal"
import { BODY } from "../codes.js"
import { storedName } from "../stored-name.js"
import type { SqliteDatabase } from "./driver.js"
import { packHash } from "./keys.js"
import { RedactedEvents } from "./redacted-events.js"

export type Tombstone =
  | {
      readonly kind: "body"
      readonly hash: string
      readonly byteSize: number
      readonly atMs: number
      readonly why: "pruned" | "redacted"
    }
  | { readonly kind: "run"; readonly runId: string; readonly atMs: number }
  /** What a redacted event may say: it takes the event's place wherever an old journal still has the first words. */
  | { readonly kind: "event"; readonly event: Event; readonly atMs: number }

const COMPACT_BYTES = 16 * 1024 * 1024
/** Journals are kept for days, so a pruned body older than this is in none of them. */
const PRUNED_KEPT_MS = 180 * 86_400_000

/**
 * What was removed, in a small file outside the database: when a database is lost and the journals are read again, nothing that was
 * pruned or redacted comes back. A tombstone is on disk before the removal it stands for.
 */
export class TombstoneFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  append(tombstones: readonly Tombstone[]): void {
    if (tombstones.length === 0) return
    const text = linesOf(tombstones)
    // Opened for each write, and beginning with a line end where the last one was torn off.
    const isTorn = this.#isTorn()
    const handle = openPrivateFile(this.#path, "append")
    try {
      writeSync(handle, isTorn ? `\n${text}` : text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  }

  *read(): Generator<Tombstone, void> {
    for (const line of this.#lines()) {
      const tombstone = parse(line)
      if (tombstone !== undefined) yield tombstone
    }
  }

  /** Redactions stay for ever; what retention removed long ago is in no journal any more. */
  compact(nowMs: number): void {
    if ((lstatSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) < COMPACT_BYTES) return
    const kept = [...this.read()].filter(
      (tombstone) =>
        tombstone.kind === "event" ||
        (tombstone.kind === "body" && tombstone.why === "redacted") ||
        nowMs - tombstone.atMs < PRUNED_KEPT_MS,
    )
    replacePrivateFile(this.#path, linesOf(kept))
  }

  /**
   * Writes the file anew with what its events may still say. An event that was redacted before stands here with all its other words, and
   * once for each redaction; the last one holds. Unreadable lines go. Returns how many events said too much.
   */
  rewrite(revise: (event: Event) => Event): number {
    const kept = new Map<string, Tombstone>()
    let isChanged = false
    let revised = 0
    let no = 0
    for (const line of this.#lines()) {
      const tombstone = parse(line)
      if (tombstone?.kind !== "event") {
        if (tombstone === undefined) isChanged = true
        else kept.set(`${no++}`, tombstone)
        continue
      }
      const name = `event ${storedName(tombstone.event)}`
      const event = revise(tombstone.event)
      if (event !== tombstone.event) revised++
      isChanged ||= event !== tombstone.event || kept.has(name)
      kept.set(name, { ...tombstone, event })
    }
    if (isChanged) replacePrivateFile(this.#path, linesOf([...kept.values()]))
    return revised
  }

  *#lines(): Generator<string, void> {
    const handle = this.#open()
    if (handle === undefined) return
    try {
      const piece = Buffer.alloc(PIECE_BYTES)
      let begun: Buffer[] = []
      let begunBytes = 0
      for (let at = 0; ; ) {
        const length = readSync(handle, piece, 0, PIECE_BYTES, at)
        at += length
        let from = 0
        for (let end = piece.indexOf(0x0a); end >= 0 && end < length; end = piece.indexOf(0x0a, from)) {
          const line = Buffer.concat([...begun, piece.subarray(from, end)])
          if (line.length > 0) yield line.length > LONGEST_LINE ? "" : line.toString("utf8")
          begun = []
          begunBytes = 0
          from = end + 1
        }
        if (length === 0) break
        // A line without end is not gathered for ever; what is kept of it is still too long to be one.
        if (begunBytes <= LONGEST_LINE) begun.push(Buffer.from(piece.subarray(from, length)))
        begunBytes += length - from
      }
      if (begunBytes > 0) yield begunBytes > LONGEST_LINE ? "" : Buffer.concat(begun).toString("utf8")
    } finally {
      closeSync(handle)
    }
  }

  #open(): number | undefined {
    try {
      return openPrivateFile(this.#path, "read")
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
      throw error
    }
  }

  #isTorn(): boolean {
    const handle = this.#open()
    if (handle === undefined) return false
    try {
      const last = Buffer.alloc(1)
      const { size } = fstatSync(handle)
      return size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a
    } finally {
      closeSync(handle)
    }
  }
}

const PIECE_BYTES = 1024 * 1024
/** Longer than any event that a journal can hold. */
const LONGEST_LINE = 64 * 1024 * 1024

const linesOf = (tombstones: readonly Tombstone[]): string =>
  tombstones.map((tombstone) => `${JSON.stringify(tombstone)}\n`).join("")

function parse(line: string): Tombstone | undefined {
  try {
    const value = JSON.parse(line) as Tombstone
    return ["body", "run", "event"].includes(value.kind) ? value : undefined
  } catch {
    return undefined
  }
}

/** Tells a fresh database what must not come back. */
export function plantTombstones(database: SqliteDatabase, tombstones: Iterable<Tombstone>): void {
  const run = database.prepare("INSERT OR REPLACE INTO buried_runs (run_id, buried_at) VALUES (?, ?)")
  const body = database.prepare(
    `INSERT INTO body_rows (hash, byte_size, state, seen_at, state_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = max(state, excluded.state), state_at = excluded.state_at WHERE state <> ${BODY.redacted}`,
  )
  const redacted = new RedactedEvents(database)
  database.exec("BEGIN IMMEDIATE")
  for (const tombstone of tombstones) {
    if (tombstone.kind === "run") run.run(tombstone.runId, tombstone.atMs)
    else if (tombstone.kind === "event") redacted.put(tombstone.event, tombstone.atMs)
    else {
      const packed = packHash(tombstone.hash)
      const state = tombstone.why === "redacted" ? BODY.redacted : BODY.pruned
      if (packed) body.run(packed, tombstone.byteSize, state, tombstone.atMs, tombstone.atMs)
    }
  }
  database.exec("COMMIT")
}
