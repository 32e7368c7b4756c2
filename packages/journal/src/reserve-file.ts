import { closeSync, readSync } from "node:fs"
import { join } from "node:path"
import type { JournalFs } from "./journal-fs.js"
import { reserveName } from "./journal-name.js"
import { checksumHolds } from "./line-decoder.js"
import { LineEncoder } from "./line-encoder.js"
import { GAP } from "./line-format.js"
import { count, nullable, number, object, type Shape, text, type ValueOf } from "./line-shape.js"
import { createPrivateFile, openPrivateFile } from "./private-file.js"

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

const COUNTER = object({
  turn: count,
  recordsDropped: count,
  /** Dropped and not yet declared by a gap line of the same number. */
  pendingGap: nullable(GAP),
})
const WORDS = object({ text, atMs: number })

export type ReserveState = Omit<ValueOf<typeof COUNTER>, "turn">

export interface Reserve extends ReserveState {
  readonly lastWords: ValueOf<typeof WORDS> | null
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
    const fd = createPrivateFile(path, "change", fs)
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
    const textOf = (pendingGap: ReserveState["pendingGap"]): string =>
      JSON.stringify(COUNTER.write({ turn: this.#turn, recordsDropped: state.recordsDropped, pendingGap })).slice(1)
    const gap = state.pendingGap
    const whole = textOf(gap)
    // The runs are what makes a gap long; a gap without them still says how much is missing, when and why.
    const text =
      whole.length > SLOT_BYTES / 2 && gap !== null
        ? textOf({ ...gap, runs: [], files: [], recordsNotListed: gap.records })
        : whole
    return this.#write(this.#turn % COUNTER_SLOTS, '"counter",', text)
  }

  keepWords(words: string, atMs: number): boolean {
    for (let length = Math.min(words.length, SLOT_BYTES - 256); ; length = Math.floor(length / 2)) {
      const text = JSON.stringify(WORDS.write({ atMs, text: words.slice(0, length) })).slice(1)
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
  const counters = [0, 1].flatMap((slot) => slotValue(bytes, slot, COUNTER) ?? [])
  const latest = counters.sort((a, b) => b.turn - a.turn)[0]
  return {
    recordsDropped: latest?.recordsDropped ?? 0,
    pendingGap: latest?.pendingGap ?? null,
    lastWords: slotValue(bytes, WORDS_SLOT, WORDS) ?? null,
  }
}

function readSlots(path: string): Buffer | undefined {
  try {
    const fd = openPrivateFile(path, "read")
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

function slotValue<T>(bytes: Buffer, slot: number, shape: Shape<T>): T | undefined {
  const slotBytes = bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)
  const line = slotBytes.subarray(0, Math.max(0, slotBytes.indexOf(0x0a)))
  if (!checksumHolds(line)) return undefined
  try {
    return shape.read(JSON.parse(line.toString("utf8")), "slot")
  } catch {
    return undefined
  }
}
