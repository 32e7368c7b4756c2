import { Worker } from "node:worker_threads"
import { OrangeboxError } from "@orangebox/contract"
import type { Question, WorkerSettings } from "./answer-worker.js"
import type { ApiAsked } from "./api.js"
import { MOST_MS } from "./guard/limits.js"
import type { Reply } from "./reply.js"

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** Asks in a thread of its own. A question that takes too long costs the thread, and the next one gets a new one. */
export class AnswerThread {
  readonly #script: URL
  readonly #settings: WorkerSettings
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(script: URL, settings: WorkerSettings) {
    this.#script = script
    this.#settings = settings
    // Its modules are loaded while the first page is on its way.
    this.#worker = this.#start()
  }

  ask(asked: ApiAsked, behindBytes: number): Promise<Reply> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), MOST_MS)
      this.#waiting.set(id, { resolve, reject, timer })
      worker.postMessage({ ...asked, id, behindBytes } satisfies Question)
    })
  }

  async close(): Promise<void> {
    await this.#giveUp()
  }

  #start(): Worker {
    const worker = new Worker(this.#script, { workerData: this.#settings })
    worker.on("message", ({ id, reply }: { id: number; reply: Reply }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      clearTimeout(waiting?.timer)
      waiting?.resolve(reply)
    })
    // One that died of its question takes the questions with it, and not the server.
    worker.on("error", () => this.#giveUp(worker))
    worker.on("exit", () => this.#giveUp(worker))
    worker.unref()
    return worker
  }

  async #giveUp(worker = this.#worker): Promise<void> {
    if (worker === undefined || worker !== this.#worker) return
    this.#worker = undefined
    const error = new OrangeboxError("TOO_LONG", {
      what: `the answer took more than ${MOST_MS / 1000} seconds, or more memory than there is`,
      next: "Ask for less of it",
    })
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(error)
    }
    this.#waiting.clear()
    await worker.terminate()
  }
}
