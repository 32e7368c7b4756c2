import { type Event, OrangeboxError, type Problem, type SourceDiagnostics } from "@orangebox/contract"
import {
  type Fetch,
  type Logger,
  Recorder,
  type RecorderOptions,
  type Run,
  type Scope,
  type StartRun,
} from "@orangebox/recorder"
import { type Blocking, type Certification, certify } from "../certificate/certify.js"
import type { JudgedRecording } from "../certificate/wholeness.js"
import type { Fork } from "../fork/fork.js"
import type { Outcome, Served } from "../match/ask.js"
import type { ReplayPolicy } from "../match/policy.js"
import { openReplay, type ReplaySession } from "../match/session.js"
import { type WireAnswer, wireAnswer } from "../stream/wire-answer.js"
import { EVERYTHING } from "../tape/served-tools.js"
import type { Bodies, CallKind, Tape } from "../tape/tape.js"
import { tapeOf } from "../tape/tape-of.js"
import { type BeforeAnswer, ReplayAnswers } from "./replay-answers.js"
import { ReplayRun, replayLogger } from "./replay-steps.js"
import { joinState, type SavedReplay } from "./saved-replay.js"
import { TapeSink } from "./tape-sink.js"

export interface ReplayRecorderOptions extends RecorderOptions {
  readonly policy?: Partial<ReplayPolicy>
  readonly fork?: Fork
  /** What passes through this recorder; a proxy that only sees models says so. */
  readonly covers?: readonly CallKind[]
}

/**
 * A recorder whose handles are answered from a tape. Agent code does not change: it gets this in the place of a `Recorder`, and every model,
 * tool, retriever and `fetch` it asks through its handles answers as it did. What happens is recorded as an ordinary run that says how
 * each call was answered.
 *
 * ```ts
 * const recorder = replayRecorder(tape, { app: "fixer", sink })
 * await agent(recorder.startRun({ entrypoint: "fix-issue" }))
 * console.log(reportText(recorder.session.report({ isOver: true })))
 * ```
 */
export function replayRecorder(tape: Tape, options: ReplayRecorderOptions): ReplayRecorder {
  const { policy, fork, covers = EVERYTHING, ...rest } = options
  const session = openReplay(tape, policy, { covers, ...(fork ? { fork } : {}) })
  return new ReplayRecorder(session, rest, covers)
}

export class ReplayRecorder implements Scope {
  readonly source: string
  readonly session: ReplaySession
  /** The real recorder below: a proxy records its traffic with this one, and asks `outcomeOf` what to answer. */
  readonly recorder: Recorder
  readonly #covers: readonly CallKind[]
  readonly #sink: TapeSink
  readonly #answers: ReplayAnswers

  readonly #joined: SavedReplay[] = []

  constructor(
    session: ReplaySession,
    options: RecorderOptions,
    covers: readonly CallKind[],
    hooks: { readonly beforeAnswer?: BeforeAnswer } = {},
  ) {
    this.session = session
    this.#covers = covers
    let made: TapeSink | undefined
    this.recorder = Recorder.open({
      ...options,
      through: (sink) => {
        made = new TapeSink(sink, session)
        return made
      },
    })
    if (made === undefined) {
      throw new OrangeboxError("REPLAY_NOT_RECORDED", {
        what: "a replay is a run and has to be recorded, and recording is off",
        next: "Open it with a data folder or a sink, and without ORANGEBOX=off",
      })
    }
    this.#sink = made
    this.#answers = new ReplayAnswers(session, made, hooks.beforeAnswer)
    this.source = this.recorder.source
  }

  get isRecording(): boolean {
    return true
  }
  get log(): Logger {
    return replayLogger(this.recorder.log, this.#answers)
  }
  /** For a client that is made once: its requests are told apart by the header in `send`, as with a recorder. */
  get fetch(): Fetch {
    // Asking for it makes the recorder give every model call that header.
    void this.recorder.fetch
    return this.#answers.fetchFor(
      (request, body) => this.#answers.openModel(request, body) ?? this.recorder.startRun({ entrypoint: "fetch" }),
    )
  }

  startRun(options: StartRun): Run {
    return new ReplayRun(this.recorder.startRun(options), this.#answers)
  }
  scope(name: string): Scope {
    const scope = this.recorder.scope(name)
    return {
      source: name,
      log: replayLogger(scope.log, this.#answers),
      startRun: (options) => new ReplayRun(scope.startRun(options), this.#answers),
      diagnostics: scope.diagnostics,
    }
  }
  diagnostics(told: SourceDiagnostics): void {
    this.recorder.diagnostics(told)
  }

  onAny(listener: (event: Event) => void): () => void {
    return this.recorder.onAny(listener)
  }
  counts(): { readonly written: number; readonly dropped: number } {
    return this.recorder.counts()
  }
  close(): void {
    this.recorder.close()
  }

  /** How the call of a step is answered; known as soon as the step is open. */
  outcomeOf(stepId: string): Outcome | undefined {
    return this.#sink.outcomeOf(stepId)
  }

  /** What an edge that speaks HTTP does with the request of a step; see `WireAnswer`. */
  wireAnswerOf(stepId: string): WireAnswer | undefined {
    const outcome = this.#sink.outcomeOf(stepId)
    return outcome && wireAnswer(outcome, this.session.policy)
  }

  /** Resolves when an answer may be given, so that concurrent calls are answered in their recorded order. */
  turnOf(served: Served): Promise<void> {
    return this.#answers.turnOf(served)
  }

  /** Hears of every record as it is written, for an account of a process that may be killed. */
  onRecord(listener: (json: string, bodies: ReadonlyMap<string, Uint8Array>) => void): void {
    this.#sink.onRecord = listener
  }

  /** What this process has to say of the replay, where another one judges it. */
  saved(): SavedReplay {
    const bodies = new Map([...this.#sink.kept].map(([hash, bytes]) => [hash, Uint8Array.from(bytes)]))
    return { state: this.session.state, events: this.#sink.events, bodies, dropped: this.recorder.counts().dropped }
  }

  /** Takes in what another process of the agent was answered from the same tape. */
  join(saved: SavedReplay): void {
    this.#joined.push(saved)
    joinState(this.session.state, saved.state)
  }

  /** Judges the replay. The source is the recording that the tape was made of. */
  certify(source: JudgedRecording): Certification {
    const events = [...this.#sink.events, ...this.#joined.flatMap((one) => one.events)]
    const joined = new Map(this.#joined.flatMap((one) => [...one.bodies]))
    const bodies: Bodies = { get: (hash) => joined.get(hash) ?? this.#sink.bodies.get(hash) }
    const reading = tapeOf(events, bodies)
    // An agent ran, and what it did cannot be held against the recording: that is no replay of the engine, in which none runs.
    if (!reading.ok)
      return {
        issued: false,
        blocking: unreadReplay(reading.problems),
        report: this.session.report({ runId: null, isOver: true }),
      }
    const dropped = this.#joined.reduce((sum, one) => sum + one.dropped, this.recorder.counts().dropped)
    const faults = [
      ...(dropped === 0 ? [] : [`${dropped} records of the replay could not be written`]),
      ...this.#joined.flatMap(({ cutOff }) => cutOff ?? []),
    ]
    return certify({
      session: this.session,
      source,
      replay: { events, bodies, tape: reading.tape, faults },
      covers: this.#covers,
    })
  }
}

const unreadReplay = (problems: readonly Problem[]): readonly Blocking[] =>
  problems.map(({ reason }) => ({ condition: "recording", reason: `the replay is not recorded as one run: ${reason}` }))
