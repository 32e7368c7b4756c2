import { setTimeout as sleep } from "node:timers/promises"
import { SystemError } from "@orangebox/contract"
import type { ForeignEvent, ForeignWriter } from "@orangebox/recorder"

/** What a store has of a run. */
export interface KnownRun {
  /** How many events its writer said. */
  readonly events: number
  /** The id of the last of them. */
  readonly lastEventId: string
  /** That one is an end which was deduced from silence: more may come after all. */
  readonly isEndDeduced?: boolean
}

export type LookUpRun = (runId: string) => Promise<KnownRun | undefined>

/** What became of one run. */
export interface RunTaken {
  readonly runId: string
  readonly source: string
  /** Events the store had before. */
  readonly known: number
  readonly written: number
  /** The record no longer tells what it told before, so nothing was added. */
  readonly isOther: boolean
}

interface Standing {
  readonly source: string
  readonly known: KnownRun | undefined
  isOther: boolean
  isGiven?: boolean
  written: number
}

/**
 * Takes told events and writes those that are new. The store is asked once per run how far it has it, because writing an event again is not
 * the same as having it: what is masked depends on all a process has seen.
 */
export class RunIntake {
  readonly #writer: ForeignWriter | undefined
  readonly #lookUp: LookUpRun
  readonly #runs = new Map<string, Standing>()
  #waiting: ForeignEvent[] = []
  #bytes = 0
  readonly counts = { events: 0, modelCalls: 0, toolCalls: 0, tokens: 0 }

  /** @param writer undefined where nothing is to be written */
  constructor(writer: ForeignWriter | undefined, lookUp: LookUpRun) {
    this.#writer = writer
    this.#lookUp = lookUp
  }

  readonly emit = (event: ForeignEvent): void => {
    this.#waiting.push(event)
  }

  /** Bytes of content written since somebody last asked. */
  takeBytes(): number {
    const bytes = this.#bytes
    this.#bytes = 0
    return bytes
  }

  get taken(): readonly RunTaken[] {
    return [...this.#runs].flatMap(([runId, { source, known, written, isOther }]) =>
      known === undefined && isOther ? [] : [{ runId, source, known: known?.events ?? 0, written, isOther }],
    )
  }

  /**
   * Runs that a record goes on telling behind an end which was deduced when less of it was there, each with the number of its events. They are
   * given once: the record is read again, and what comes behind that end is another run.
   */
  takeCutShort(): ReadonlyMap<string, number> {
    const cut = new Map<string, number>()
    for (const [runId, standing] of this.#runs) {
      if (!standing.isOther || standing.known?.isEndDeduced !== true || standing.isGiven === true) continue
      standing.isGiven = true
      standing.isOther = false
      cut.set(runId, standing.known.events)
    }
    return cut
  }

  /** Writes what has been told so far. */
  async flush(): Promise<void> {
    const events = this.#waiting
    this.#waiting = []
    for (const event of events) {
      const standing = this.#runs.get(event.run.runId) ?? (await this.#meet(event))
      if (this.#isNew(event, standing)) await this.#write(event, standing)
    }
  }

  async #meet({ run, links }: ForeignEvent): Promise<Standing> {
    const before = links?.find(({ kind }) => kind === "follows")?.run_id
    // What follows a run that the record no longer tells as it was is of that other record.
    const isOther = before !== undefined && this.#runs.get(before)?.isOther === true
    const standing: Standing = { source: run.source, known: await this.#lookUp(run.runId), isOther, written: 0 }
    this.#runs.set(run.runId, standing)
    // A door that stands open for months meets any number of runs; the store knows the old ones.
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > MOST_RUNS && oldest !== undefined) this.#runs.delete(oldest)
    return standing
  }

  #isNew(event: ForeignEvent, standing: Standing): boolean {
    const { known } = standing
    const { sequenceNo, eventId } = event
    if (known !== undefined && sequenceNo === known.events - 1 && eventId !== known.lastEventId) standing.isOther = true
    if (standing.isOther) return false
    // Two copies of one record in one import: the second finds what the first has written.
    return sequenceNo === (known?.events ?? 0) + standing.written
  }

  async #write(event: ForeignEvent, standing: Standing): Promise<void> {
    standing.written++
    this.counts.events++
    if (event.type === "model_result") {
      this.counts.modelCalls++
      const usage = (event.payload as { token_usage?: { total?: number | null } }).token_usage
      this.counts.tokens += usage?.total ?? 0
    }
    if (event.type === "tool_called") this.counts.toolCalls++
    this.#bytes += 1000 + (event.bodies ?? []).reduce((sum, { content }) => sum + content.length, 0)
    const writer = this.#writer
    if (writer === undefined) return
    // A journal that sheds bodies does so to keep an agent going; here nobody waits.
    for (let tries = 0; !writer.keepsBodies && tries < MOST_WAITS; tries++) await sleep(WAIT_MS)
    const before = writer.dropped
    writer.write(event)
    if (writer.dropped === before) return
    throw new SystemError({
      what: "the journal could not take everything: the import stopped there, and nothing after it was taken",
      next: "Free the disk, then import the same again: it goes on where it stopped",
    })
  }
}

const WAIT_MS = 25
const MOST_WAITS = 2400
const MOST_RUNS = 50_000
