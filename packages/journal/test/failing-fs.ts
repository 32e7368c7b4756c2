import * as fs from "node:fs"
import type { JournalFs } from "@orangebox/journal"

type Call = keyof JournalFs

/** The real file system with one fault in it. `fault` sees every call and says what happens to it. */
export interface Fault {
  readonly call: Call
  /** Counted from 1 over the calls of that name since the file system was made. */
  readonly when: (count: number) => boolean
  /** An errno name, or how many bytes a write takes before it stops short. */
  readonly with: string | { readonly bytes: number } | { readonly delayMs: number }
}

export interface FailingFs extends JournalFs {
  /** Replaces the fault; undefined mends the disk. */
  inject(fault: Fault | undefined): void
  count(call: Call): number
}

export function failingFs(): FailingFs {
  const counts = new Map<Call, number>()
  let fault: Fault | undefined
  const next = (call: Call): Fault["with"] | undefined => {
    const count = (counts.get(call) ?? 0) + 1
    counts.set(call, count)
    return fault !== undefined && fault.call === call && fault.when(count) ? fault.with : undefined
  }
  const check = (call: Call): void => {
    const outcome = next(call)
    if (typeof outcome === "string") throw errno(outcome, call)
  }
  return {
    inject: (one) => {
      fault = one
    },
    count: (call) => counts.get(call) ?? 0,
    openSync: (path, flags, mode) => {
      check("openSync")
      return fs.openSync(path, flags, mode)
    },
    writeSync: (fd, buffer, offset, length, position) => {
      const outcome = next("writeSync")
      if (typeof outcome === "string") throw errno(outcome, "write")
      if (outcome !== undefined && "bytes" in outcome) {
        return fs.writeSync(fd, buffer, offset, Math.min(length, outcome.bytes), position)
      }
      if (outcome !== undefined) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, outcome.delayMs)
      return fs.writeSync(fd, buffer, offset, length, position)
    },
    fdatasyncSync: (fd) => {
      check("fdatasyncSync")
      fs.fdatasyncSync(fd)
    },
    fdatasync: (fd, done) => {
      const outcome = next("fdatasync")
      if (typeof outcome === "string") setImmediate(() => done(errno(outcome, "fdatasync")))
      else fs.fdatasync(fd, done)
    },
    fsyncSync: (fd) => {
      check("fsyncSync")
      fs.fsyncSync(fd)
    },
    fsync: (fd, done) => fs.fsync(fd, done),
    fstatSync: (fd) => fs.fstatSync(fd),
    fchmodSync: (fd, mode) => fs.fchmodSync(fd, mode),
    closeSync: (fd) => {
      next("closeSync")
      fs.closeSync(fd)
    },
    lstatSync: (path) => fs.lstatSync(path),
    mkdirSync: (path, options) => {
      check("mkdirSync")
      return fs.mkdirSync(path, options)
    },
    readdirSync: (path) => fs.readdirSync(path),
    unlinkSync: (path) => fs.unlinkSync(path),
  }
}

function errno(code: string, call: string): Error {
  return Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call })
}

/** A clock that stands still until it is moved, so that back-off and rotation need no waiting. */
export function handClock(): { now: () => { wallMs: number; monoUs: number }; pass: (ms: number) => void } {
  let elapsedMs = 0
  return {
    now: () => ({ wallMs: Date.UTC(2026, 0, 1) + elapsedMs, monoUs: elapsedMs * 1000 }),
    pass: (ms) => {
      elapsedMs += ms
    },
  }
}
