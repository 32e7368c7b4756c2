import { InputError, OrangeboxError } from "@orangebox/contract"
import { askInProcess, type InProcess } from "@orangebox/server"
import { formatBytes } from "@orangebox/text"
import { singlePage } from "@orangebox/web"
import { webFolder } from "../built-files.js"
import { versionOf } from "../version.js"

/** A browser opens a page of this size at once; a larger one is no favour to whoever gets it. */
const MOST_BYTES = 20 * 1000 * 1000
/** Of a longer run the page would be larger than that, and is not begun. */
const MOST_STEPS = 5000
/** As much of each request and answer as the page shows when it is opened. */
const BODY_BYTES = 32 * 1024

export interface RunPage {
  readonly html: string
  readonly answers: number
  /** Bodies that are in the page only by name and size, because there was no room for their bytes. */
  readonly bodiesLeftOut: number
}

/** A run as one page: the answers that the page would ask a server for, and the page itself. */
export async function runPage(
  data: string,
  runId: string,
  onProgress: (done: number, total: number) => void,
): Promise<RunPage> {
  const api = askInProcess(data, { version: versionOf() })
  try {
    const answers = new Answers(api)
    const run = `/runs/${runId}`
    await answers.add("/meta")
    const head = await answers.add<{ run: { entrypoint: string | null } }>(run)
    const steps = await answers.add<Columns>(`${run}/steps?from=1&limit=10000`)
    if (steps.total > MOST_STEPS) throw tooLarge(`${steps.total} steps, ${MOST_STEPS} are the most`)
    for (const part of ["findings", "report", "decisions", "strata", "cache", "contexts", "handoff"])
      await answers.add(`${run}/${part}`)
    for (let from = 1; from <= steps.total; from += 100) await answers.add(`${run}/words?from=${from}&limit=100`)
    const bodies = new Map<string, number>()
    for (const [at, n] of steps.columns.n.entries()) {
      onProgress(at, steps.total)
      const step = await answers.add<StepAnswer>(`${run}/steps/${n}`)
      if (steps.words[steps.columns.kind[at]!] === "model") {
        await answers.add(`${run}/steps/${n}/conversation`)
        await answers.add(`${run}/contexts/${n}`)
      }
      for (const { role } of step.partials)
        await answers.add(`${run}/steps/${n}/bodies/${role}?from=0&to=${BODY_BYTES}`)
      for (const { hash, absent, byte_size } of step.bodies) if (absent === null) bodies.set(hash, byte_size)
    }
    // The small ones first: they are most of what a reader opens.
    let left = 0
    for (const [hash, size] of [...bodies].sort(([, a], [, b]) => a - b)) {
      if (answers.bytes + Math.min(size, BODY_BYTES) * 2 > MOST_BYTES) left += 1
      else await answers.add(`/bodies/${hash}?from=0&to=${BODY_BYTES}`)
    }
    const title = `${head?.run.entrypoint ?? "run"} · ${runId}`
    return {
      html: singlePage({ folder: webFolder(), title, runId, answers: answers.found }),
      answers: Object.keys(answers.found).length,
      bodiesLeftOut: left,
    }
  } finally {
    await api.close()
  }
}

interface Columns {
  readonly total: number
  readonly words: readonly string[]
  readonly columns: { readonly n: readonly number[]; readonly kind: readonly number[] }
}

interface StepAnswer {
  readonly bodies: readonly { readonly hash: string; readonly absent: string | null; readonly byte_size: number }[]
  readonly partials: readonly { readonly role: string }[]
}

/** Answers by their paths, as long as they fit. */
class Answers {
  readonly found: Record<string, unknown> = {}
  bytes = 0
  readonly #api: InProcess

  constructor(api: InProcess) {
    this.#api = api
  }

  /** What the API refuses for this run, the page says as the server would: it is not there. */
  async add<T>(path: string): Promise<T> {
    try {
      const answer = await this.#api.ask(path)
      this.bytes += Buffer.byteLength(JSON.stringify(answer))
      if (this.bytes > MOST_BYTES) throw tooLarge(`more than ${formatBytes(MOST_BYTES)} without its bodies`)
      this.found[path] = answer
      return answer as T
    } catch (error) {
      if (error instanceof OrangeboxError && MAY_BE_ABSENT.has(error.code)) return undefined as T
      throw error
    }
  }
}

const MAY_BE_ABSENT: ReadonlySet<string> = new Set(["NO_CONTEXT", "BODY_ABSENT", "NO_BODY"])

const tooLarge = (why: string): InputError =>
  new InputError("PAGE_TOO_LARGE", {
    what: `the run is too large for one page: ${why}`,
    next: "Export it as a file, which orangebox shows anywhere: orangebox export RUN; or look at it with: orangebox ui",
  })
