import type { ServerResponse } from "node:http"
import { OrangeboxError } from "@orangebox/contract"
import type { RunRow, TraceReader } from "@orangebox/store"

/** How the store stands, as far as whoever shows it has to know. */
export interface Looked {
  readonly store: TraceReader
  readonly behindBytes: number
}

const LOOK_MS = 250
const PING_MS = 15_000
/** Of so many runs, the newest, every change is told; of older ones to those who asked for that one. */
const NEWEST = 200

interface Listener {
  readonly response: ServerResponse
  readonly runId: string | undefined
}

/** Tells pages that are open what to ask for again: ids, never content. Looks at the store only while somebody listens. */
export class LiveFeed {
  readonly #look: () => Promise<Looked>
  readonly #listeners = new Set<Listener>()
  readonly #known = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #lastCount: number | undefined
  #lastBehind = 0
  #lastProblem: string | null = null
  #lastPing = 0
  #eventId = 0
  #isOpen = true

  constructor(look: () => Promise<Looked>) {
    this.#look = look
  }

  /** @param lastEventId what a listener that comes back has seen; where that is not the last, it is told to ask for everything */
  listen(response: ServerResponse, asked: { readonly runId?: string; readonly lastEventId?: string }): void {
    const listener: Listener = { response, runId: asked.runId }
    this.#listeners.add(listener)
    response.on("close", () => this.#listeners.delete(listener))
    const isMissing = asked.lastEventId !== undefined && asked.lastEventId !== String(this.#eventId)
    const stands = { behind_bytes: this.#lastBehind, problem: this.#lastProblem }
    send(response, this.#eventId, "hello", { ...stands, ask_again: isMissing })
    if (this.#timer === undefined && this.#isOpen) this.#again()
  }

  close(): void {
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const { response } of this.#listeners) response.end()
  }

  #again(): void {
    this.#timer = setTimeout(() => {
      this.#pass()
        // What is wrong with the store is told by the answers to questions; here only that something is.
        .catch((error: unknown) => this.#tellProblem(error instanceof OrangeboxError ? error.code : "INTERNAL"))
        .finally(() => {
          this.#timer = undefined
          if (this.#listeners.size > 0 && this.#isOpen) this.#again()
        })
    }, LOOK_MS)
    this.#timer.unref()
  }

  async #pass(): Promise<void> {
    const { store, behindBytes } = await this.#look()
    const count = await store.changeCount()
    this.#tellProblem(null)
    if (behindBytes !== this.#lastBehind) this.#tell("behind", { behind_bytes: behindBytes, problem: null })
    this.#lastBehind = behindBytes
    if (count !== this.#lastCount) await this.#tellChanges(store)
    this.#lastCount = count
    if (Date.now() - this.#lastPing > PING_MS) {
      this.#lastPing = Date.now()
      for (const { response } of this.#listeners) response.write(": ping\n\n")
    }
  }

  /** A store that cannot be read, and then that it can again. */
  #tellProblem(problem: string | null): void {
    if (problem === this.#lastProblem) return
    this.#lastProblem = problem
    this.#tell("behind", { behind_bytes: this.#lastBehind, problem })
  }

  async #tellChanges(store: TraceReader): Promise<void> {
    const isFirst = this.#lastCount === undefined
    const { rows } = await store.listRuns({ limit: NEWEST })
    const asked = [...new Set([...this.#listeners].flatMap(({ runId }) => runId ?? []))]
    const others = asked.filter((runId) => rows.every((row) => row.runId !== runId))
    const more = (await Promise.all(others.map((runId) => store.getRun(runId)))).filter((row) => row !== undefined)
    const changed = [...rows, ...more].filter((row) => this.#known.get(row.runId) !== versionOf(row))
    const gone = await this.#goneFrom(store, new Set([...rows, ...more].map(({ runId }) => runId)))
    this.#known.clear()
    for (const row of [...rows, ...more]) this.#known.set(row.runId, versionOf(row))
    if (isFirst || changed.length + gone.length === 0) return
    this.#tell("runs", { ids: [...changed.map(({ runId }) => runId), ...gone] })
    for (const { runId, steps } of changed) this.#tell("steps", { run_id: runId, upto: steps }, runId)
  }

  /** Who shows a run that was pruned asks for it again, and learns that. A run that newer ones pushed out of the list is still there. */
  async #goneFrom(store: TraceReader, listed: ReadonlySet<string>): Promise<string[]> {
    const missing = [...this.#known.keys()].filter((runId) => !listed.has(runId))
    const found = await Promise.all(missing.map((runId) => store.getRun(runId)))
    return missing.filter((_, at) => found[at] === undefined)
  }

  #tell(event: string, data: object, runId?: string): void {
    this.#eventId += 1
    for (const { response, ...listener } of this.#listeners) {
      if (runId === undefined || listener.runId === runId) send(response, this.#eventId, event, data)
    }
  }
}

const versionOf = ({ events, annotations, status, steps, bodiesPruned }: RunRow): string =>
  [events, annotations, status, steps, bodiesPruned].join(" ")

function send(response: ServerResponse, id: number, event: string, data: object): void {
  response.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
