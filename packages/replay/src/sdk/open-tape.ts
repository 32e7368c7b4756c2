import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { type Event, OrangeboxError } from "@orangebox/contract"
import type { RecorderOptions } from "@orangebox/recorder"
import { type Fork, type ForkRequest, planFork } from "../fork/fork.js"
import type { ReplayPolicy } from "../match/policy.js"
import { openReplay, type ReplaySession } from "../match/session.js"
import { EVERYTHING } from "../tape/served-tools.js"
import type { Bodies } from "../tape/tape.js"
import { tapeOf } from "../tape/tape-of.js"
import { ReplayRecorder } from "./replay-recorder.js"
import { bodyFileName, recordLine, saveReplay } from "./saved-replay.js"

/** How a process that records itself is answered from a tape: what `ORANGEBOX_TAPE` names. */
export interface TapeSettings {
  /** The module that opens the tape, for a recorder that knows nothing of replays. */
  readonly door: string
  /** A folder with the events of the run and of those it started, and a file for each body. */
  readonly tape: string
  readonly runId: string
  /** Where the replay is recorded, whatever the program says. */
  readonly data: string
  /** In hex: the key that secrets of the source were tagged with, where it is not that of the data folder. */
  readonly key?: string
  readonly policy: Partial<ReplayPolicy>
  readonly fork?: ForkRequest
  /** Told before a model is answered, and waited for: the command that started the process may look at its files then, or set them. */
  readonly beforeAnswer: string
  /** Where each process leaves what it was answered. */
  readonly results: string
}

let opened: { readonly settings: TapeSettings; readonly session: ReplaySession } | undefined
let recorders = 0

/**
 * What `Recorder.open` gives a program that was started by `orangebox replay` or `fork`: the same handles, answered from the tape. All
 * recorders of a process share what was answered; what they recorded and were answered is left for the judge when the process ends.
 */
export function openTape(settingsFile: string, options: RecorderOptions): ReplayRecorder {
  opened ??= openSession(JSON.parse(readFileSync(settingsFile, "utf8")) as TapeSettings)
  const { settings, session } = opened
  const keyed = settings.key === undefined ? {} : { key: Buffer.from(settings.key, "hex") }
  const recorder = new ReplayRecorder(session, { ...options, ...keyed, folder: settings.data }, EVERYTHING, {
    beforeAnswer: (stepId) => knock(settings.beforeAnswer, { stepId, isForkReached: session.state.isForkReached }),
  })
  const isFirst = recorders++ === 0
  const place = join(settings.results, `${process.pid}-${recorders}`)
  // A process that is killed has no last word, so there is an account of it while it goes on.
  recorder.onRecord((json, bodies) => appendFileSync(`${place}.records`, recordLine(json, bodies), { mode: 0o600 }))
  process.once("exit", () => {
    const saved = recorder.saved()
    // One account for all recorders of the process.
    writeFileSync(`${place}.part`, saveReplay(isFirst ? saved : { ...saved, state: openReplay(session.tape).state }))
    renameSync(`${place}.part`, `${place}.json`)
  })
  return recorder
}

function openSession(settings: TapeSettings): NonNullable<typeof opened> {
  const events = JSON.parse(readFileSync(join(settings.tape, "events.json"), "utf8")) as Event[]
  const reading = tapeOf(events, bodiesIn(join(settings.tape, "bodies")), { runId: settings.runId })
  if (!reading.ok) {
    const why = reading.problems[0]?.reason ?? "it cannot be read"
    throw new OrangeboxError("TAPE", { what: `there is no tape to answer from: ${why}`, where: settings.tape })
  }
  const fork = settings.fork && forkOf(reading.tape, settings.fork)
  const session = openReplay(reading.tape, settings.policy, { covers: EVERYTHING, ...(fork ? { fork } : {}) })
  return { settings, session }
}

/** Each read when it is asked for: an agent that stops early has no use for most of them. */
function bodiesIn(folder: string): Bodies {
  const known = new Map<string, Uint8Array | undefined>()
  return {
    get(hash) {
      const path = join(folder, bodyFileName(hash))
      if (!known.has(hash)) known.set(hash, existsSync(path) ? readFileSync(path) : undefined)
      return known.get(hash)
    },
  }
}

function forkOf(tape: Parameters<typeof planFork>[0], request: ForkRequest): Fork {
  const plan = planFork(tape, request)
  if (plan.ok) return plan.fork
  throw new OrangeboxError("TAPE", { what: `the fork cannot be made: ${plan.problems[0]!.reason}` })
}

/** By hand: the program may have put something else in the place of `fetch`. No one there is no reason to fail. */
function knock(url: string, said: object): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", headers: { "content-type": "application/json" } }, (answer) => {
      answer.resume().once("close", resolve)
    })
    sent.once("error", () => resolve())
    sent.end(JSON.stringify(said))
  })
}
