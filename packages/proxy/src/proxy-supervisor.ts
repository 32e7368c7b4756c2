import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { OrangeboxError } from "@orangebox/contract"
import type { Handoff, WrittenOutput } from "@orangebox/recorder"
import type { PipedStdout } from "./piped-stdout.js"
import type { FromProxy, ProxyTask, ToProxy } from "./proxy-messages.js"
import { addStats, NO_STATS, type ProxyStats } from "./proxy-stats.js"

// Tests read the sources; a child process always runs the build.
const PROXY_PROCESS = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../dist/proxy-process.js" : "./proxy-process.js", import.meta.url),
)

/** A proxy that dies this often cannot be helped, and starting it again for ever would only hide that. */
const MOST_RESTARTS = 10

/** How the command ended. */
export interface EndedRun {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: WrittenOutput | undefined
}

const packed = ({ byteSize, sha256, bytes }: WrittenOutput) => ({
  byteSize,
  sha256,
  base64: bytes === undefined ? null : Buffer.from(bytes).toString("base64"),
})

/** What all processes of one recording did together. */
export interface SupervisedFacts {
  readonly stats: ProxyStats
  readonly lost: number
  readonly runIds: readonly string[]
  readonly restarts: number
  readonly isRecording: boolean
}

/**
 * Keeps a proxy process running for one command. A process that dies costs the connections it had, which clients repeat, and the run it
 * wrote: one run has one writer, so its successor opens a run of its own below it.
 */
export class ProxySupervisor {
  readonly #onWarning: (message: string) => void
  readonly #task: Omit<ProxyTask, "inheritsStdout">
  #child: ChildProcess | undefined
  #current: { stats: ProxyStats; lost: number } = { stats: NO_STATS, lost: 0 }
  #before = { stats: NO_STATS, lost: 0 }
  readonly #runs: Handoff[] = []
  #restarts = 0
  #isRecording = true
  #isEnding = false
  #commandPid: number | undefined
  #piped: PipedStdout | undefined
  #port: number

  constructor(task: Omit<ProxyTask, "inheritsStdout">, onWarning: (message: string) => void) {
    this.#task = task
    this.#port = task.port
    this.#onWarning = onWarning
  }

  /** @param piped the command's stdout, where it is read along */
  async start(piped?: PipedStdout): Promise<{ readonly port: number; readonly run: Handoff | undefined }> {
    this.#piped = piped
    piped?.onReaderGone(() => {
      this.#piped = undefined
      this.#send({ kind: "stdout_gone" })
    })
    await this.#spawn()
    return { port: this.#port, run: this.#runs[0] }
  }

  commandStarted(pid: number): void {
    this.#commandPid = pid
    this.#send({ kind: "command_started", pid })
  }

  /** Ends the run, and the process. */
  async finish(end: EndedRun): Promise<SupervisedFacts> {
    this.#isEnding = true
    const child = this.#child
    if (child?.connected) {
      const gone = new Promise<void>((resolve) => void child.once("exit", () => resolve()))
      const { exitCode, signal, stdout } = end
      this.#send({ kind: "command_ended", exitCode, signal, stdout: stdout ? packed(stdout) : null })
      await gone
    }
    return {
      stats: addStats(this.#before.stats, this.#current.stats),
      lost: this.#before.lost + this.#current.lost,
      runIds: this.#runs.map(({ runId }) => runId),
      restarts: this.#restarts,
      isRecording: this.#isRecording,
    }
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  #spawn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const piped = this.#piped
      // A session of its own, so that the terminal's signals reach the command and not the recording.
      const child = fork(PROXY_PROCESS, [], {
        detached: true,
        execArgv: [],
        stdio: ["ignore", "ignore", "inherit", "ipc", ...(piped ? [piped.spareEnd, 1] : [])],
      })
      this.#child = child
      child.on("message", (message) => {
        const said = message as FromProxy
        if (said.kind === "listening") {
          this.#port = said.port
          this.#isRecording = said.isRecording
          this.#runs.push(said.run)
          if (this.#commandPid !== undefined) this.#send({ kind: "command_started", pid: this.#commandPid })
          resolve()
        } else if (said.kind === "stats") this.#current = said
        else if (said.kind === "warning") this.#onWarning(said.message)
        else if (said.kind === "failed") {
          const { code, what, next } = said
          this.#isEnding = true
          reject(new OrangeboxError(code, { what, ...(next === undefined ? {} : { next }) }))
        }
      })
      child.once("error", reject)
      child.once("exit", (exitCode, signal) => {
        reject(new OrangeboxError("PROXY", { what: `the proxy ended at once (${signal ?? exitCode})` }))
        if (!this.#isEnding) this.#died(signal ?? `exit ${exitCode}`)
      })
      const parent = this.#runs[0]
      this.#send({
        kind: "start",
        task: {
          ...this.#task,
          port: this.#port,
          inheritsStdout: piped !== undefined,
          run: { ...this.#task.run, parent },
        },
      })
    })
  }

  #died(how: string): void {
    this.#before = {
      stats: addStats(this.#before.stats, this.#current.stats),
      lost: this.#before.lost + this.#current.lost,
    }
    this.#current = { stats: NO_STATS, lost: 0 }
    // The first process never listened: the promise tells the one who started it.
    if (this.#runs.length === 0) return
    if (++this.#restarts > MOST_RESTARTS) {
      this.#onWarning(`the proxy died ${this.#restarts} times, last by ${how}; it is not started again`)
      return
    }
    this.#onWarning(`the proxy died (${how}) and is started again on port ${this.#port}`)
    this.#spawn().catch((error: unknown) => this.#onWarning(`the proxy could not be started again: ${String(error)}`))
  }

  #send(message: ToProxy): void {
    if (this.#child?.connected) this.#child.send(message)
  }
}
