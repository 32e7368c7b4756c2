import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from "node:fs"
import type { Event } from "@orangebox/contract"
import { BODY } from "./codes.js"
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
    const text = tombstones.map((tombstone) => `${JSON.stringify(tombstone)}\n`).join("")
    // Opened for each write, and beginning with a line end where the last one was torn off.
    const handle = openSync(this.#path, "a", 0o600)
    try {
      writeSync(handle, this.#isTorn() ? `\n${text}` : text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  }

  read(): Tombstone[] {
    if (!existsSync(this.#path)) return []
    const found: Tombstone[] = []
    for (const line of readFileSync(this.#path, "utf8").split("\n")) {
      const tombstone = parse(line)
      if (tombstone !== undefined) found.push(tombstone)
    }
    return found
  }

  /** Redactions stay for ever; what retention removed long ago is in no journal any more. */
  compact(nowMs: number): void {
    if (!existsSync(this.#path) || statSync(this.#path).size < COMPACT_BYTES) return
    const kept = this.read().filter(
      (tombstone) =>
        tombstone.kind === "event" ||
        (tombstone.kind === "body" && tombstone.why === "redacted") ||
        nowMs - tombstone.atMs < PRUNED_KEPT_MS,
    )
    const temporary = new TombstoneFile(`${this.#path}.new`)
    closeSync(openSync(temporary.#path, "w", 0o600))
    temporary.append(kept)
    renameSync(temporary.#path, this.#path)
  }

  #isTorn(): boolean {
    const bytes = readFileSync(this.#path)
    return bytes.length > 0 && bytes.at(-1) !== 0x0a
  }
}

function parse(line: string): Tombstone | undefined {
  try {
    const value = JSON.parse(line) as Tombstone
    return ["body", "run", "event"].includes(value.kind) ? value : undefined
  } catch {
    return undefined
  }
}

/** Tells a fresh database what must not come back. */
export function plantTombstones(database: SqliteDatabase, tombstones: readonly Tombstone[]): void {
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
