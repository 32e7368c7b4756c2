import { SystemError } from "@orangebox/contract"
import {
  BUILT_IN_PRICES,
  type CallPlaced,
  type ConversationNamed,
  createRequestMemory,
  EMPTY_WIRE_STATE,
  type FoldedResponse,
  finishWire,
  type LaneStarted,
  laneLabel,
  mayBeRepeated,
  type PriceTable,
  reduceWire,
  type SideCall,
  type ToolAnswered,
  WIRE_REDUCER,
  type WireFact,
  type WireObservation,
  type WireState,
} from "@orangebox/dialects"
import {
  type KnownRequest,
  knowRequest,
  openWireCall,
  type RetriedCall,
  type Run,
  type Step,
  type WireCall,
  type WireEnd,
  type WireNotes,
  type WireRequest,
} from "@orangebox/recorder"
import { plural } from "@orangebox/text"
import type { ObservedCall, ObservedEnd, Observer } from "./exchange.js"
import { headerIn } from "./forwarded-headers.js"
import { LaneRecorder, questionOf } from "./lane-recorder.js"
import type { OpenRun, OpenRuns } from "./open-runs.js"
import type { ProxyOptions } from "./proxy.js"
import { addStats, isFailed, NO_STATS, type ProxyStats, statsOf } from "./proxy-stats.js"
import type { RecordableBody } from "./request-body.js"
import type { WorkspaceWatch } from "./workspace/record-workspace.js"

/**
 * Turns traffic into runs. The wire reducer says what it sees; here it becomes steps: which run a call belongs to, which turn, which try of
 * which call, and the tools between one answer and the next request. When the reducer cannot read something, the call is recorded without it.
 */
export class WireRunRecorder implements Observer {
  readonly #runs: OpenRuns
  readonly #prices: PriceTable
  readonly #onStats: (stats: ProxyStats) => void
  #state: WireState = EMPTY_WIRE_STATE
  /** Agents resend their history with every call; what was read before is not read again. */
  readonly #memory = createRequestMemory()
  #callCount = 0
  #stats: ProxyStats = NO_STATS
  readonly #lanes = new Map<string, LaneRecorder>()
  readonly #endedRuns = new Map<string, string>()
  readonly #callSteps = new Map<string, CallStep>()
  readonly #retries = new Map<string, WaitingCall>()
  /** Answers that are on record and whose consequences are not yet: the end of a run waits for them. */
  readonly #untaken = new Set<() => void>()
  /** Exchanges that go on; the client of one may have been told all it needs. */
  readonly #underWay = new Map<string, OpenCall>()
  readonly #linked = new Set<string>()
  readonly #workspace: WorkspaceWatch | undefined

  constructor(runs: OpenRuns, parts: Pick<ProxyOptions, "prices" | "onStats" | "workspace">) {
    this.#runs = runs
    this.#workspace = parts.workspace
    this.#prices = parts.prices ?? BUILT_IN_PRICES
    this.#onStats = parts.onStats ?? (() => {})
    runs.onEnding((run) => this.#endRun(run))
  }

  get stats(): ProxyStats {
    return this.#stats
  }

  count(more: Partial<ProxyStats>): void {
    this.#stats = addStats(this.#stats, more)
    this.#onStats(this.#stats)
  }

  opened(request: WireRequest, attributes: RecordableBody["attributes"]): ObservedCall | undefined {
    try {
      return this.#open(request, attributes)
    } catch (error) {
      // What has to be recorded and cannot be stops the request; everything else that goes wrong here is ours and must not.
      if (error instanceof SystemError) throw error
      this.count({ unrecorded: 1 })
      return undefined
    }
  }

  /** A request that an instrumented agent records itself: one call is one step, so this run only points at it. */
  linked(runId: string, stepId: string, isWaiting: () => boolean): void {
    this.count({ linkedCalls: 1 })
    const place = this.#runs.latest()?.run
    if (place) this.#workspace?.asked({ stepId, place, isWaiting })
    if (this.#linked.has(stepId)) return
    this.#linked.add(stepId)
    this.#runs.latest()?.run.addLink({ runId, stepId }, "recorded by the agent itself")
  }

  close(): void {
    for (const take of this.#untaken) take()
    for (const waiting of this.#retries.values()) waiting.giveUp()
    this.#sayWhatOnlyTheEndShows()
    this.#runs.close()
  }

  #open(request: WireRequest, attributes: RecordableBody["attributes"]): ObservedCall | undefined {
    this.#takeWhatWasTold()
    const id = String(++this.#callCount)
    const known = knowRequest(request, this.#memory)
    const facts = this.#reduce(observationOf(id, request, known))
    const seen = sortFacts(facts)
    const spot = this.#spotFor(known, seen)
    const release = spot.open.hold()
    const notes: WireNotes = {
      tellsPromptLater: true,
      derivesManifest: true,
      follows: { stepIds: this.#stepsFollowed(seen.placed), inferredBy: WIRE_REDUCER },
      attributes: { ...attributes, ...(seen.sideCall ? { side_call: seen.sideCall.why } : {}) },
      ...(spot.lane ? { laneId: laneLabel(spot.lane.id) } : {}),
      ...(seen.sideCall ? { isAuxiliary: true } : {}),
    }
    const waiting = seen.placed && seen.placed.attemptNo > 1 ? this.#waitingCall(seen.placed.attemptOf) : undefined
    const call = waiting ? waiting.openTry(request, notes, known) : openWireCall(spot.step, request, notes, known)
    if (!call) {
      release()
      this.count({ unrecorded: 1 })
      return undefined
    }
    this.#callSteps.set(id, { stepId: waiting?.stepId ?? call.step.id, runId: call.step.runId, lane: spot.lane?.id })
    this.#logChanges(spot.step, facts)
    const open: OpenCall = { id, request, known, seen, spot, waiting, isRepeat: waiting !== undefined, call, release }
    this.#underWay.set(id, open)
    let isWaiting = true
    // What a harness asks for itself, and what is asked again, does not come after any work of the agent.
    if (seen.placed?.attemptNo === 1 && !seen.sideCall)
      this.#workspace?.asked({ stepId: call.step.id, place: spot.step, isWaiting: () => isWaiting })
    return {
      call,
      // The tries of one call share its prompt.
      waiting: () => (waiting ? undefined : call.tellPrompt()),
      ended: (end) => {
        isWaiting = false
        this.#underWay.delete(id)
        this.#tolerate(release, () => this.#ended(open, end))
      },
    }
  }

  /** The exchange is over and its bytes are kept; what could not be said about it must not take the others down. */
  #tolerate(release: () => void, work: () => void): void {
    try {
      work()
    } catch {
      this.count({ unrecorded: 1 })
      release()
    }
  }

  /**
   * A client goes on from what it has been told, and need not wait for the end of the connection: it leaves a refusal unread and asks again,
   * or has the answer and sends the results of its tools. So that is known before its next request is placed, whenever the end comes.
   */
  #takeWhatWasTold(): void {
    for (const take of this.#untaken) take()
    for (const open of this.#underWay.values()) {
      const told = open.isTaken ? undefined : open.call.told
      if (told)
        this.#tolerate(
          () => {},
          () => this.#takeAnswer(open, told.status, "complete", told.answer),
        )
    }
  }

  #ended(open: OpenCall, end: ObservedEnd): void {
    const { call } = open
    const { how, err, head, storedBytes, notes } = end
    const status = head?.status ?? null
    if (!open.isRepeat) call.tellPrompt()
    call.over(how, err, notes)
    const mayRepeat = open.seen.placed !== undefined && mayBeRepeated(ending(status, how, call.folded))
    if (mayRepeat) open.waiting ??= this.#awaitRetry(open)
    call.recordEnd()
    this.count(
      statsOf(
        {
          isModel: open.known.anatomy !== undefined,
          isAttempt: open.waiting !== undefined,
          isRepeat: open.isRepeat,
          how,
          status,
          folded: call.folded,
          model: open.known.model,
          bytes: open.request.body.length + storedBytes,
          atMs: Date.now(),
        },
        this.#prices,
      ),
    )
    open.waiting?.ended(call, isFailed({ how, status, folded: call.folded }), mayRepeat ? patienceFor(head) : 0)
    // The result is recorded, so the client may have its end; what follows from it can wait that long. Its next request cannot come before.
    const take = (): void => {
      if (!this.#untaken.delete(take)) return
      this.#tolerate(open.release, () => {
        if (!open.isTaken) this.#takeAnswer(open, status, how, call.folded)
        open.release()
      })
    }
    this.#untaken.add(take)
    setImmediate(take)
  }

  #takeAnswer(open: OpenCall, status: number | null, how: WireEnd, answer: FoldedResponse | undefined): void {
    open.isTaken = true
    const { id, call, seen, spot, waiting } = open
    const observed = ending(status, how, answer)
    const facts = this.#reduce({ kind: "response", call: id, atMs: Date.now(), ...observed })
    const { lane } = spot
    if (!lane || seen.sideCall) return
    lane.callEnded(isFailed({ how, status, folded: answer }) ? failureWords(how, status) : undefined)
    const asked = facts.filter((fact) => fact.fact === "tool_called").filter(({ runsAt }) => runsAt === "client")
    const stepId = waiting?.stepId ?? call.step.id
    for (const fact of asked) {
      const toolId = lane.toolCalled(fact, stepId)
      this.#workspace?.toolStarted(toolId)
    }
    if (asked.length === 0 && !(seen.placed && mayBeRepeated(observed))) lane.endTurn()
  }

  /** The call that is tried again; its first try may still be on its way to a client that no longer reads it. */
  #waitingCall(firstTry: string): WaitingCall | undefined {
    const open = this.#underWay.get(firstTry)
    if (open) open.waiting ??= this.#awaitRetry(open)
    return this.#retries.get(firstTry)
  }

  #awaitRetry(open: OpenCall): WaitingCall | undefined {
    const retried = open.call.becomeFirstTry()
    if (retried === undefined) return undefined
    const key = open.seen.placed!.attemptOf
    const release = open.spot.open.hold()
    const waiting = new WaitingCall(retried, open.call, (hasFailed) => {
      this.#retries.delete(key)
      if (hasFailed) this.count({ errors: 1 })
      release()
    })
    this.#retries.set(key, waiting)
    return waiting
  }

  #spotFor(known: KnownRequest, seen: SortedFacts): Spot {
    const { placed } = seen
    if (!placed || (seen.sideCall && seen.started)) {
      const open = this.#runs.latest() ?? this.#openRun(known, seen, undefined)
      return { open, step: open.run, lane: undefined }
    }
    const lane = this.#lanes.get(placed.lane) ?? this.#newLane(known, seen, placed)
    const answered = seen.answered.flatMap((fact) => lane.toolAnswered(fact) ?? [])
    for (const stepId of answered) this.#workspace?.toolEnded(stepId)
    const hadAnswers = answered.length > 0
    // A repeated request asks nothing new: its call, and so its turn, is still there.
    if (placed.attemptNo === 1) {
      const isSummary = placed.followsBy === "summary"
      lane.takeRequest(known.anatomy, hadAnswers, seen.isCompaction ? "compaction" : isSummary ? "summary" : undefined)
    }
    return { open: lane.open, step: lane.place, lane }
  }

  #newLane(known: KnownRequest, seen: SortedFacts, placed: CallPlaced): LaneRecorder {
    const boss = seen.started?.spawnedBy ? this.#laneOfCall(seen.started.spawnedBy.call) : undefined
    const before = placed.followsBy === "summary" && placed.follows ? this.#laneOfCall(placed.follows) : undefined
    const task = known.anatomy && questionOf(known.anatomy)
    const lane = boss
      ? LaneRecorder.forAgent(placed.lane, boss, seen.started?.spawnedBy?.toolCallId ?? null, task)
      : before
        ? LaneRecorder.goingOn(placed.lane, before)
        : new LaneRecorder(placed.lane, this.#openRun(known, seen, this.#endedRuns.get(placed.lane)), undefined)
    this.#lanes.set(placed.lane, lane)
    return lane
  }

  #laneOfCall(call: string): LaneRecorder | undefined {
    const lane = this.#callSteps.get(call)?.lane
    return lane === undefined ? undefined : this.#lanes.get(lane)
  }

  #openRun(known: KnownRequest, seen: SortedFacts, continues: string | undefined): OpenRun {
    return this.#runs.open({
      name: known.anatomy?.dialect ?? "proxy",
      input: known.anatomy && questionOf(known.anatomy),
      conversationId: seen.conversation?.conversationId,
      continues,
    })
  }

  #stepsFollowed(placed: CallPlaced | undefined): string[] {
    const followed = placed?.follows ? this.#callSteps.get(placed.follows) : undefined
    return followed ? [followed.stepId] : []
  }

  /** What happened to a lane's history or prompt is worth a line: answers get worse, and caches miss, exactly there. */
  #logChanges(step: Step, facts: readonly WireFact[]): void {
    for (const fact of facts) {
      if (fact.fact === "history_changed") {
        this.#say(step, "warn", HISTORY_WORDS[fact.why], { history: fact.why, certainty: fact.certainty })
      } else if (fact.fact === "prompt_changed") {
        this.#say(step, "info", `${fact.what.join(" and ")} changed since the last call`, {
          changed: fact.what.join(" "),
        })
      } else if (fact.fact === "turns_unseen") {
        this.count({ unseenTurns: fact.turns })
        this.#say(
          step,
          "warn",
          `${plural(fact.turns, "turn")} of the model in this history ${fact.turns === 1 ? "was" : "were"} not recorded: past the proxy, or written by the client`,
          {
            unseen_turns: String(fact.turns),
            unseen_tool_results: String(fact.toolResults),
          },
        )
      } else if (fact.fact === "conversation_named") {
        this.#say(step, "info", "the client names its conversation", {
          conversation_id: fact.conversationId,
          from: fact.from,
        })
      }
    }
  }

  #say(step: Step, level: "info" | "warn", message: string, attributes: Record<string, string>): void {
    step.emit("log", { level, message }, { inferredBy: WIRE_REDUCER, attributes })
  }

  #sayWhatOnlyTheEndShows(): void {
    for (const fact of finishWire(this.#state, Date.now())) {
      const step = this.#callSteps.get(fact.call)
      const run = step && [...this.#lanes.values()].find(({ open }) => open.run.runId === step.runId)?.open.run
      if (run && fact.fact === "side_call") {
        this.#say(run, "info", "a call nothing followed, most likely the harness's own", {
          step: step.stepId,
          why: fact.why,
        })
      }
    }
  }

  #endRun(run: Run): void {
    for (const [id, lane] of this.#lanes) {
      if (lane.open.run !== run) continue
      lane.end()
      this.#lanes.delete(id)
      this.#endedRuns.set(id, run.runId)
      if (this.#endedRuns.size > MOST_ENDED_LANES) this.#endedRuns.delete(this.#endedRuns.keys().next().value!)
    }
    for (const [id, call] of this.#callSteps) if (call.runId === run.runId) this.#callSteps.delete(id)
  }

  #reduce(observation: WireObservation): readonly WireFact[] {
    try {
      const { state, facts } = reduceWire(this.#state, observation)
      this.#state = state
      return facts
    } catch {
      // A body the reducer cannot read is still a call.
      return []
    }
  }
}

const failureWords = (how: WireEnd, status: number | null): string =>
  status !== null && status >= 400 ? `the model answered with HTTP ${status}` : `the call to the model failed: ${how}`

/** A call whose last try failed. Clients wait a moment before the next; when they wait longer, it was the last. */
class WaitingCall {
  readonly #retried: RetriedCall
  readonly #onEnd: (hasFailed: boolean) => void
  readonly #openTries = new Set<WireCall>()
  #lastTry: WireCall
  #end = { hasFailed: false, patienceMs: 0 }
  #timer: NodeJS.Timeout | undefined

  constructor(retried: RetriedCall, firstTry: WireCall, onEnd: (hasFailed: boolean) => void) {
    this.#retried = retried
    this.#onEnd = onEnd
    this.#lastTry = firstTry
    this.#openTries.add(firstTry)
  }

  get stepId(): string {
    return this.#retried.stepId
  }

  openTry(...parts: Parameters<RetriedCall["openTry"]>): ReturnType<RetriedCall["openTry"]> {
    clearTimeout(this.#timer)
    const call = this.#retried.openTry(...parts)
    if (call) {
      this.#lastTry = call
      this.#openTries.add(call)
    }
    return call
  }

  /** @param patienceMs how long another try may take to come; 0 where none will */
  ended(call: WireCall, hasFailed: boolean, patienceMs: number): void {
    this.#openTries.delete(call)
    if (call === this.#lastTry) this.#end = { hasFailed, patienceMs }
    if (this.#openTries.size > 0) return
    if (this.#end.patienceMs === 0) {
      this.giveUp()
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.giveUp(), this.#end.patienceMs)
    this.#timer.unref()
  }

  giveUp(): void {
    clearTimeout(this.#timer)
    // A try without an end is all that is known of its call, too.
    if (this.#openTries.size === 0) this.#retried.close()
    this.#onEnd(this.#end.hasFailed)
  }
}

interface Spot {
  readonly open: OpenRun
  readonly step: Step
  readonly lane: LaneRecorder | undefined
}

interface CallStep {
  readonly stepId: string
  readonly runId: string
  readonly lane: string | undefined
}

interface OpenCall {
  readonly id: string
  readonly request: WireRequest
  readonly known: KnownRequest
  readonly seen: SortedFacts
  readonly spot: Spot
  readonly call: WireCall
  readonly release: () => void
  /** It tries a call again that was counted before. */
  readonly isRepeat: boolean
  /** The call it is a try of, once there is more than one or may be. */
  waiting: WaitingCall | undefined
  /** What follows from its answer is on record, maybe before its end is. */
  isTaken?: boolean
}

interface SortedFacts {
  readonly placed: CallPlaced | undefined
  readonly started: LaneStarted | undefined
  readonly sideCall: SideCall | undefined
  readonly conversation: ConversationNamed | undefined
  readonly isCompaction: boolean
  readonly answered: readonly ToolAnswered[]
}

function sortFacts(facts: readonly WireFact[]): SortedFacts {
  return {
    placed: facts.find((fact) => fact.fact === "call_placed"),
    started: facts.find((fact) => fact.fact === "lane_started"),
    sideCall: facts.find((fact) => fact.fact === "side_call"),
    conversation: facts.find((fact) => fact.fact === "conversation_named"),
    isCompaction: facts.some((fact) => fact.fact === "compaction_asked"),
    answered: facts.filter((fact) => fact.fact === "tool_answered"),
  }
}

function observationOf(call: string, request: WireRequest, known: KnownRequest): WireObservation {
  const url = new URL(request.url)
  return {
    kind: "request",
    call,
    atMs: Date.now(),
    method: request.method,
    path: url.pathname + url.search,
    host: url.host,
    headers: Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: known.json ?? request.body,
  }
}

const HISTORY_WORDS = {
  compaction: "the history was replaced by a summary",
  truncation: "the beginning of the history is gone",
  rewritten: "earlier messages were rewritten",
} as const

const ending = (status: number | null, end: WireEnd, answer: FoldedResponse | undefined) => ({
  status,
  end,
  ...(answer ? { answer } : {}),
})

// The SDKs wait up to eight seconds on their own, and as long as they are told, up to a minute.
const PATIENCE_MS = 10_000
const MOST_PATIENCE_MS = 90_000

function patienceFor(head: ObservedEnd["head"]): number {
  const seconds = Number(head && headerIn(head.headers, "retry-after"))
  return Number.isFinite(seconds) && seconds > 0
    ? Math.min(seconds * 1000 + PATIENCE_MS, MOST_PATIENCE_MS)
    : PATIENCE_MS
}

const MOST_ENDED_LANES = 10_000
