import type { FoldedResponse } from "../fold-response.js"
import { answerKey, atomsOfAnswer, nextLink } from "./atoms.js"
import { recall, remember } from "./digest-map.js"
import { probesOf, taskTexts } from "./evidence.js"
import type { ToolCalled } from "./facts.js"
import { responseKey, withOwner } from "./locate.js"
import type { ResponseObserved } from "./observation.js"
import type { Placement } from "./placement.js"
import { MAX_PENDING_TOOLS, MAX_RECENT_ANSWERS, type OpenCall, type PrefixOwner, type WireState } from "./state.js"

/** An answer closes its attempt, and becomes part of the past that the next request will share. */
export function takeResponse(state: WireState, response: ResponseObserved): Placement {
  const open = state.open.findLast(({ call }) => call === response.call)
  if (open === undefined) return { state, facts: [] }
  const stillOpen = state.open.filter(({ call }) => call !== response.call)
  const attempts = recall(state.attempts, open.promptKey) ?? []
  const outcome = mayBeRepeated(response) ? "failed" : "answered"
  const closed: WireState = {
    ...state,
    open: stillOpen,
    attempts: attempts.some(({ call }) => call === response.call)
      ? remember(
          state.attempts,
          open.promptKey,
          attempts.map((attempt) => (attempt.call === response.call ? { ...attempt, outcome } : attempt)),
        )
      : state.attempts,
  }
  const { answer } = response
  // A failed attempt's tool calls were never acted on: the client asked again instead.
  if (answer === undefined || outcome === "failed") return { state: closed, facts: [] }
  const facts = answer.toolCalls.map(
    (call): ToolCalled => ({
      fact: "tool_called",
      lane: open.lane,
      toolCallId: call.id,
      tool: call.name,
      arguments: call.arguments,
      runsAt: call.runsAt,
    }),
  )
  return { state: withAnswer(closed, response, answer, open), facts }
}

const RETRIED_STATUS = new Set([408, 409, 425, 429])

/** Whether the call came to nothing in a way that clients repeat a request after. */
export function mayBeRepeated({ status, end, answer }: Pick<ResponseObserved, "status" | "end" | "answer">): boolean {
  if (status === null || RETRIED_STATUS.has(status) || status >= 500) return true
  if (answer?.error) return true
  // A client that leaves behind the terminal event did not abort.
  return end !== "complete" && answer?.ended !== "complete"
}

function withAnswer(state: WireState, response: ResponseObserved, answer: FoldedResponse, open: OpenCall): WireState {
  const owner: PrefixOwner = {
    head: open.head,
    call: response.call,
    lane: open.lane,
    follows: open.follows,
    requestLength: open.requestLength,
  }
  let { prefixes, answers } = state
  let { link } = open
  for (const atom of atomsOfAnswer(answer.parts)) {
    link = nextLink(link, atom)
    // The last to give this answer owns it: of two equal answers to one question, the later is the one that goes on.
    prefixes = withOwner(prefixes, link, owner)
    const key = answerKey(atom)
    if (key !== undefined) answers = remember(answers, key, owner)
  }
  const pending = answer.toolCalls
    .filter((call) => call.runsAt === "client")
    .map((call) => ({
      id: call.id,
      call: response.call,
      lane: open.lane,
      tool: call.name,
      atMs: response.atMs,
      texts: taskTexts(call.arguments),
    }))
  const probes = probesOf(answer.text)
  const recent = probes.length > 0 ? [{ call: response.call, lane: open.lane, probes }] : []
  return {
    ...state,
    prefixes,
    answers,
    responses: answer.producedIds.reduce((known, id) => remember(known, responseKey(id), owner), state.responses),
    pendingTools: [...state.pendingTools, ...pending].slice(-MAX_PENDING_TOOLS),
    recentAnswers: [...state.recentAnswers, ...recent].slice(-MAX_RECENT_ANSWERS),
  }
}
