import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises"
import type { HeaderList } from "@orangebox/recorder"
import type { EmissionPlan, ReplayRecorder, WireAnswer } from "@orangebox/replay"

type Served = Extract<WireAnswer, { does: "answer" }>["served"]

export interface GivenAnswer extends Pick<Extract<WireAnswer, { does: "answer" }>, "status" | "headers" | "plan"> {
  /** What stands on the tape; undefined for an answer of our own. */
  readonly served?: Served
}
export type ForwardedAnswer = Extract<WireAnswer, { does: "forward" }>
export type BrokenAnswer = Extract<WireAnswer, { does: "break" }>

/** What an exchange can do once the tape has been asked. */
export interface TapedExchange {
  /** Awaited when the answer is known and not given yet. */
  readonly beforeAnswer?: (() => Promise<void>) | undefined
  give(answer: GivenAnswer): Promise<void>
  forward(answer: ForwardedAnswer): void
  /** The recorded call never got an answer. */
  fail(answer: BrokenAnswer): void
  refuse(message: string): void
  isClientGone(): boolean
  /** Resolves when the client has left, or that much time has passed. */
  clientLeaves(withinMs: number): Promise<void>
}

/** Does what the tape says about the call of a step. What it does not know is refused: nothing goes upstream on its own. */
export async function answerFromTape(
  replay: ReplayRecorder,
  stepId: string | undefined,
  exchange: TapedExchange,
): Promise<void> {
  const answer = stepId === undefined ? undefined : replay.wireAnswerOf(stepId)
  if (exchange.beforeAnswer) {
    await exchange.beforeAnswer()
    if (exchange.isClientGone()) {
      if (answer?.does === "answer") replay.session.release(answer.served)
      return
    }
  }
  switch (answer?.does) {
    case undefined:
      exchange.refuse("the request could not be recorded, so it was not asked")
      return
    case "forward":
      replay.session.wentLive()
      exchange.forward(answer)
      return
    case "break":
      if (answer.waitMs > 0) {
        await exchange.clientLeaves(answer.waitMs)
        if (exchange.isClientGone()) return
        replay.session.stayedOn(answer.served)
      }
      exchange.fail(answer)
      return
    case "refuse": {
      const { status, headers, body } = answer.response
      await exchange.give({
        status,
        headers,
        plan: { pieces: [{ atMs: 0, bytes: body }], end: { how: "complete", atMs: 0 } },
      })
      return
    }
    case "answer":
      await replay.turnOf(answer.served)
      // What the agent has sent already is read before it gets an answer: two questions sent at once are on record as under way together. A
      // request that came while this one was worked on is read in the turn after this one.
      await nextTurn()
      await nextTurn()
      await exchange.give(answer)
      if (exchange.isClientGone()) replay.session.release(answer.served)
      else if (answer.plan.end.how === "hold") replay.session.stayedOn(answer.served)
  }
}

/** Headers about the body as the client sent it. */
const FRAMING = new Set(["content-length", "content-encoding", "transfer-encoding"])

/** A request as the override rules send it on. */
export function rewritten(
  answer: ForwardedAnswer,
  asked: Parameters<ForwardedAnswer["rewrite"]>[0] & { readonly url: string; readonly headers: HeaderList },
): { readonly path: string; readonly headers: HeaderList; readonly body: Buffer } {
  const changed = answer.rewrite(asked)
  const { pathname, search } = new URL(changed.url ?? asked.url)
  const headers = (changed.headers ?? asked.headers).filter(([name]) => !FRAMING.has(name.toLowerCase()))
  return {
    path: `${pathname}${search}`,
    headers: [...headers, ["Content-Length", String(changed.body.length)]],
    body: Buffer.from(changed.body),
  }
}

/** How a recorded call failed, so that it fails again in the same words. Undefined where they are not recorded. */
export function recordedFailure(served: Served | undefined): Error | undefined {
  const error = served?.answer.error ?? null
  if (error === null) return undefined
  const failure: NodeJS.ErrnoException = new Error(error.message)
  failure.name = error.errorClass
  if (error.code !== null) failure.code = error.code
  return failure
}

/** What becomes of an answer that comes off a tape while it is given. */
export interface TapedAnswerGiven {
  /** In the journal, then on its way to the client; resolves when it is. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** True when no client listens any more. */
  isOver(): boolean
}

/** Writes the pieces of an answer when they are due. Resolves when its end is. */
export async function giveTapedAnswer(plan: EmissionPlan, given: TapedAnswerGiven): Promise<void> {
  const startedAt = performance.now()
  for (const { atMs, bytes } of plan.pieces) {
    await due(startedAt, atMs)
    if (given.isOver()) return
    const written = given.write(bytes)
    if (written) await written
  }
  await due(startedAt, plan.end.atMs)
}

async function due(startedAt: number, atMs: number): Promise<void> {
  const waitMs = startedAt + atMs - performance.now()
  // The server keeps the process going while anybody listens; an answer without a client must not.
  if (waitMs > 0.5) await sleep(waitMs, undefined, { ref: false })
}
