import { execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, type Stats, write } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { WrittenOutput } from "@orangebox/recorder"

const STDOUT = 1
const STDERR = 2

/** More than this is known by its digest alone. */
const KEPT_BYTES = 1024 * 1024

/** So long after the command has ended nothing comes any more, and the pipe is not closed: a process it left behind has it. */
const QUIET_MS = 200

/**
 * Reads along what a command writes to our stdout, where that is a pipe. The command gets a pipe as it would have had ours, and every byte is
 * passed on before the next one is read. It is a named one, because Node makes sockets where it says pipe, and a program cannot open those
 * again by name.
 *
 * Where stdout and stderr are one pipe nothing is read along: two ways would mix up the order of what is written.
 */
export class PipedStdout {
  /** What the command writes to. */
  readonly commandEnd: number
  /** A second end to read from, for the process that goes on when this one is gone. */
  readonly spareEnd: number
  readonly #socket: Socket
  readonly #hash = createHash("sha256")
  readonly #atEnd: Promise<void>
  #kept: Buffer[] = []
  #bytes = 0
  #passing: Promise<void> | undefined
  #isWhole = true
  #isSpareOpen = true
  #onReaderGone = (): void => {}

  /** Undefined where stdout is no pipe, or none can be made. */
  static open(): PipedStdout | undefined {
    if (!isPipeOfItsOwn()) return undefined
    const folder = mkdtempSync(join(tmpdir(), "orangebox-out-"))
    try {
      const path = join(folder, "stdout")
      execFileSync("mkfifo", ["-m", "600", path], { stdio: "ignore" })
      return new PipedStdout(path)
    } catch {
      return undefined
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  private constructor(path: string) {
    // In this order none of them waits for the other side.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    this.commandEnd = openSync(path, constants.O_WRONLY)
    this.spareEnd = openSync(path, constants.O_RDONLY)
    this.#socket = new Socket({ fd: readEnd, readable: true, writable: false })
    this.#atEnd = new Promise((resolve) => {
      this.#socket.once("end", resolve)
      this.#socket.once("close", resolve)
    })
    this.#socket.on("error", () => {
      this.#isWhole = false
    })
    this.#socket.on("readable", () => {
      this.#passing ??= this.#pass().finally(() => {
        this.#passing = undefined
      })
    })
  }

  /** Told when our stdout has no reader any more: then the command's must not be kept open either. */
  onReaderGone(listener: () => void): void {
    this.#onReaderGone = listener
  }

  /** The command has its end now, and ours would keep the pipe open. */
  commandStarted(): void {
    closeSync(this.commandEnd)
  }

  /** There will be no command. */
  close(): void {
    closeSync(this.commandEnd)
    this.#socket.destroy()
    this.#closeSpare()
  }

  /** What was written, once the command has ended. Undefined where it was not read to its end. */
  async commandEnded(): Promise<WrittenOutput | undefined> {
    for (let seen = -1; seen !== this.#bytes || this.#passing !== undefined; ) {
      seen = this.#bytes
      const isOver = await Promise.race([this.#atEnd.then(() => true), sleep(QUIET_MS, false)])
      if (isOver) break
    }
    await this.#passing
    if (!this.#socket.readableEnded && !this.#socket.destroyed) await this.#leaveToOthers()
    this.#socket.destroy()
    this.#closeSpare()
    if (!this.#isWhole) return undefined
    const bytes = this.#bytes <= KEPT_BYTES ? Buffer.concat(this.#kept) : undefined
    return { byteSize: this.#bytes, sha256: this.#hash.digest("hex"), bytes }
  }

  /** One piece after the other, so that the command waits for the reader of our stdout. */
  async #pass(): Promise<void> {
    for (;;) {
      const piece = this.#socket.read() as Buffer | null
      if (piece === null) return
      this.#hash.update(piece)
      this.#bytes += piece.length
      if (this.#bytes <= KEPT_BYTES) this.#kept.push(piece)
      else this.#kept = []
      if (!(await written(piece))) {
        this.#isWhole = false
        this.#socket.destroy()
        this.#closeSpare()
        this.#onReaderGone()
        return
      }
    }
  }

  /** What a process that was left behind still writes, goes where it would have gone; when that ends is unknown. */
  async #leaveToOthers(): Promise<void> {
    this.#isWhole = false
    await this.#pass()
    if (!this.#socket.destroyed) passOn(this.spareEnd, STDOUT)
  }

  #closeSpare(): void {
    if (!this.#isSpareOpen) return
    this.#isSpareOpen = false
    closeSync(this.spareEnd)
  }
}

/** Reads from the one and writes to the other until no writer is left, in a process that needs no other. */
export function passOn(from: number, to: number): void {
  spawn("cat", [], { stdio: [from, to, "ignore"], detached: true })
    .on("error", () => {})
    .unref()
}

function isPipeOfItsOwn(): boolean {
  if (process.platform === "win32") return false
  const [out, err] = [statOf(STDOUT), statOf(STDERR)]
  if (out === undefined || !(out.isFIFO() || out.isSocket())) return false
  return out.dev !== err?.dev || out.ino !== err.ino
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd)
  } catch {
    // It was closed.
    return undefined
  }
}

/**
 * Written beside this thread, which has signals to pass on while a reader takes its time. Our own stdout is never made one that does not
 * wait: that would be so for everybody who has it.
 *
 * @returns false when it has no reader any more
 */
async function written(piece: Buffer): Promise<boolean> {
  for (let at = 0; at < piece.length; ) {
    const result = await new Promise<number | NodeJS.ErrnoException>((resolve) =>
      write(STDOUT, piece, at, piece.length - at, null, (error, count) => resolve(error ?? count)),
    )
    if (typeof result === "number") at += result
    else if (result.code === "EAGAIN") await sleep(5)
    else return false
  }
  return true
}
