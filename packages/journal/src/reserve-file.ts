import { closeSync, openSync, readSync } from "node:fs"
import { join } from "node:path"
import { CREATE_FOR_PLACED_WRITES, createPrivate, type JournalFs, READ_NO_LINK } from "./journal-fs.js"
import { reserveName } from "./journal-name.js"
import { checksumHolds, countOf, gapFromJson, numberOf, objectOf, textOf } from "./line-decoder.js"
import { LineEncoder } from "./line-encoder.js"
import type { Gap } from "./line-format.js"
import { gapToJson } from "./line-writer.js"

/**
 * What can still be said when the disk is full: a file whose blocks were written when there was room, overwritten in place.
 *
 * Three slots. The first two hold the drop counter in turn, so that a death in the middle of a write leaves the older one; the third
 * holds the last words. Each slot is one journal line, with its checksum.
 */
const SLOT_BYTES = 4096
const COUNTER_SLOTS = 2
const WORDS_SLOT = 2
const SLOTS = 3

export interface ReserveState {
  readonly recordsDropped: number
  /** Dropped and not yet declared by a gap line of the same number. */
  readonly pendingGap: Gap | null
}

export interface Reserve extends ReserveState {
  readonly lastWords: { readonly text: string; readonly atMs: number } | null
}

export class ReserveFile {
  readonly #fs: JournalFs
  readonly #path: string
  readonly #fd: number
  readonly #encoder = new LineEncoder('"k":')
  #turn = 0

  private constructor(fs: JournalFs, path: string, fd: number) {
    this.#fs = fs
    this.#path = path
    this.#fd = fd
  }

  static create(fs: JournalFs, folder: string, stem: string): ReserveFile {
    const path = join(folder, reserveName(stem))
    const fd = createPrivate(fs, path, CREATE_FOR_PLACED_WRITES)
    const reserve = new ReserveFile(fs, path, fd)
    try {
      const blank = Buffer.alloc(SLOT_BYTES * SLOTS, " ")
      if (fs.writeSync(fd, blank, 0, blank.length, 0) === blank.length) return reserve
    } catch (error) {
      reserve.close({ remove: true })
      throw error
    }
    reserve.close({ remove: true })
    throw Object.assign(new Error("no room for the reserve file"), { code: "ENOSPC" })
  }

  /** Another process deleted it; what is written to it now is lost. */
  isGone(): boolean {
    return this.#fs.fstatSync(this.#fd).nlink === 0
  }

  /** True when the state is in the file. */
  keep(state: ReserveState): boolean {
    this.#turn++
    const gap = state.pendingGap === null ? null : gapToJson(state.pendingGap)
    const withGap = (value: unknown) =>
      JSON.stringify({ turn: this.#turn, records_dropped: state.recordsDropped, pending_gap: value }).slice(1)
    let text = withGap(gap)
    // The runs are what makes a gap long; a gap without them still says how much is missing, when and why.
    if (text.length > SLOT_BYTES / 2 && gap !== null && state.pendingGap !== null) {
      text = withGap({ ...gap, runs: [], files: [], records_not_listed: state.pendingGap.records })
    }
    return this.#write(this.#turn % COUNTER_SLOTS, '"counter",', text)
  }

  keepWords(words: string, atMs: number): boolean {
    for (let length = Math.min(words.length, SLOT_BYTES - 256); ; length = Math.floor(length / 2)) {
      const text = JSON.stringify({ at_ms: atMs, text: words.slice(0, length) }).slice(1)
      if (Buffer.byteLength(text) <= SLOT_BYTES - 64) return this.#write(WORDS_SLOT, '"words",', text)
    }
  }

  close(options: { remove: boolean }): void {
    try {
      this.#fs.closeSync(this.#fd)
      if (options.remove) this.#fs.unlinkSync(this.#path)
    } catch {
      // Left behind, it says that nothing was dropped.
    }
  }

  #write(slot: number, kind: string, text: string): boolean {
    this.#encoder.encode(kind, text)
    const start = this.#encoder.start(false)
    const length = this.#encoder.end - start
    try {
      return this.#fs.writeSync(this.#fd, this.#encoder.buffer, start, length, slot * SLOT_BYTES) === length
    } catch {
      return false
    }
  }
}

/** Drop counter and last words of a writer, or undefined where it left no reserve file. A damaged slot counts as not written. */
export function readReserve(path: string): Reserve | undefined {
  const bytes = readSlots(path)
  if (bytes === undefined) return undefined
  const counters = [slotValue(bytes, 0), slotValue(bytes, 1)].map(counterOf).filter((counter) => counter !== undefined)
  const latest = counters.sort((a, b) => b.turn - a.turn)[0]
  return {
    recordsDropped: latest?.recordsDropped ?? 0,
    pendingGap: latest?.pendingGap ?? null,
    lastWords: wordsOf(slotValue(bytes, WORDS_SLOT)) ?? null,
  }
}

function readSlots(path: string): Buffer | undefined {
  try {
    const fd = openSync(path, READ_NO_LINK)
    try {
      const bytes = Buffer.alloc(SLOT_BYTES * SLOTS)
      readSync(fd, bytes, 0, bytes.length, 0)
      return bytes
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}

function slotValue(bytes: Buffer, slot: number): unknown {
  const slotBytes = bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)
  const line = slotBytes.subarray(0, Math.max(0, slotBytes.indexOf(0x0a)))
  return checksumHolds(line) ? JSON.parse(line.toString("utf8")) : undefined
}

function counterOf(value: unknown): (ReserveState & { turn: number }) | undefined {
  return readShape(() => {
    const counter = objectOf(value, "counter")
    return {
      turn: countOf(counter.turn, "turn"),
      recordsDropped: countOf(counter.records_dropped, "records_dropped"),
      pendingGap: counter.pending_gap === null ? null : gapFromJson(counter.pending_gap),
    }
  })
}

function wordsOf(value: unknown): Reserve["lastWords"] | undefined {
  return readShape(() => {
    const words = objectOf(value, "words")
    return { text: textOf(words.text, "text"), atMs: numberOf(words.at_ms, "at_ms") }
  })
}

function readShape<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
