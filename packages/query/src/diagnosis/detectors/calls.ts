import { payloadOf, textIn, textsIn } from "@orangebox/contract"
import { finishKindOf } from "@orangebox/dialects"
import type { StepView } from "../../run-view.js"
import { attemptsOf, type CaseFile, isBadEnd, modelCallsOf, stillGoing, toolCallsOf } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

const OVERFLOW =
  /context.?(?:length|window)|too.?(?:long|many tokens|large)|maximum.*tokens|prompt is too long|exceeds? the (?:limit|maximum)/i

/** A prompt that did not fit: refused for its length. */
export function contextOverflow({ view }: CaseFile): Detected {
  const found: Finding[] = []
  for (const call of modelCallsOf(view)) {
    const sent = attemptsOf(view, call).findLast(({ error }) => error !== undefined) ?? call
    const status = sent.error?.httpStatus
    const words = [sent.error?.errorClass, sent.error?.line].join(" ")
    if (!(status === 400 || status === 413 || status === 422) || !OVERFLOW.test(words)) continue
    found.push({
      detector: "context_overflow",
      kind: null,
      severity: isBadEnd(view) ? "fatal" : "harm",
      confidence: "proven",
      cause: call.n,
      fails: call.n,
      claim: `#${call.n} was refused for its length: ${status}`,
      by: null,
      evidence: [at(sent, "request"), at(sent, "error")],
    })
  }
  return found
}

/** An answer that stopped at its limit, or that the provider's filter stopped, and was used as it was. */
export function outputCut({ view }: CaseFile): Detected {
  const going = stillGoing(view)
  if (going !== undefined) return { notRun: going }
  const calls = modelCallsOf(view)
  const hasOutput = view.steps.some(({ events }) => events.some(({ event_type }) => event_type === "final_output"))
  const isAgent = calls.some(({ model }) => (model?.requestedTools?.length ?? 0) > 0)
  const found: Finding[] = []
  for (const [index, call] of calls.entries()) {
    const { finishReason, requestedTools } = call.model!
    const stop = finishReason === undefined ? undefined : finishKindOf(finishReason)
    if (stop !== "length" && stop !== "content_filter") continue
    const askedTools = (requestedTools?.length ?? 0) > 0
    // Where the lane goes on, the rest may have been asked for.
    const isLast = isLastOfLane(calls, index)
    // The last word of an agent is its answer; of calls without tools nobody can say what became of them, unless an output is on record.
    const isUsed = askedTools || (isLast && (hasOutput || isAgent))
    const isFiltered = stop === "content_filter"
    found.push({
      detector: "output_cut",
      kind: isFiltered ? "filtered" : askedTools ? "arguments" : "output",
      severity: isUsed ? "harm" : "notice",
      confidence: isUsed ? "proven" : "possible",
      cause: call.n,
      fails: call.n,
      claim: `the answer of #${call.n} stopped ${isFiltered ? "because the model or a filter refused" : "at its limit"}${askedTools ? ", and a tool was called with what there was" : isLast ? ", and nothing asked for the rest" : ""}`,
      by: null,
      evidence: [at(call, "response")],
    })
  }
  return found
}

const MANY_ATTEMPTS = 4

/** A call that took many tries. */
export function retryStorm({ view }: CaseFile): Detected {
  return modelCallsOf(view).flatMap((call): Finding[] => {
    const attempts = attemptsOf(view, call)
    const failed = attempts.filter(({ error }) => error !== undefined)
    if (attempts.length < MANY_ATTEMPTS || failed.length < MANY_ATTEMPTS - 1) return []
    const codes = [...new Set(failed.map(({ error }) => error?.httpStatus ?? "no answer"))]
    return [
      {
        detector: "retry_storm",
        kind: null,
        severity: call.error !== undefined && isBadEnd(view) ? "fatal" : "waste",
        confidence: "proven",
        cause: attempts[0]!.n,
        fails: call.n,
        claim: `#${call.n} took ${attempts.length} tries: ${codes.join(", ")}`,
        by: null,
        evidence: failed.map((attempt) => at(attempt, "error")).slice(0, 4),
      },
    ]
  })
}

/** A stream that broke off before its end, or that ended with an error in the place of the rest. */
export function streamBroken({ view }: CaseFile): Detected {
  const calls = modelCallsOf(view)
  return calls.flatMap((call, index): Finding[] => {
    const last = attemptsOf(view, call).at(-1) ?? call
    const kind = streamBreak(last)
    if (kind === undefined) return []
    // Where nothing was asked after it and the run came to an end all the same, the end rests on what had come.
    const isUsed = call.status === "success" || (view.status === "completed" && isLastOfLane(calls, index))
    return [
      {
        detector: "stream_broken",
        kind,
        severity: isUsed || isBadEnd(view) ? "harm" : "notice",
        confidence: "proven",
        cause: call.n,
        fails: call.n,
        claim: `the answer of #${call.n} broke off (${kind.replace("_", " ")})${isUsed ? ", and the part that came counts as an answer" : ""}`,
        by: null,
        evidence: [at(last, "response")],
      },
    ]
  })
}

function streamBreak({ closed, error }: StepView): "upstream_reset" | "timeout" | "error_event" | undefined {
  const end = textIn(payloadOf(closed), "stream_end")
  if (end === "upstream_reset" || end === "timeout") return end
  return end === "complete" && error?.httpStatus === 200 ? "error_event" : undefined
}

const isLastOfLane = (calls: readonly StepView[], index: number): boolean =>
  !calls.slice(index + 1).some(({ opened }) => opened?.lane_id === calls[index]!.opened?.lane_id)

/** A tool that the model asked for and that the request did not offer. */
export function unknownTool({ view }: CaseFile): Detected {
  const found: Finding[] = []
  let isAnyKnown = false
  for (const call of modelCallsOf(view)) {
    const prompts = [call, ...attemptsOf(view, call)].flatMap(({ prompts: own }) => own)
    const parent = call.parent === undefined ? undefined : view.steps[call.parent - 1]
    const offered = new Set(
      [...prompts, ...(parent?.prompts ?? [])].flatMap(({ segments }) =>
        segments.filter(({ kind }) => kind === "tool-def").map(({ contributor }) => contributor),
      ),
    )
    if (offered.size === 0) continue
    isAnyKnown = true
    // Where tools are looked up on the way, a name that is not in the request may be right.
    if ([...offered].some((name) => /search|deferred/i.test(name))) continue
    const asked = textsIn(payloadOf(call.closed), "requested_tools") ?? []
    const strange = asked.filter((name) => !offered.has(`tool:${name}`))
    if (strange.length === 0) continue
    found.push({
      detector: "unknown_tool",
      kind: null,
      severity: "notice",
      confidence: "proven",
      cause: call.n,
      fails: call.n,
      claim: `#${call.n} asks for ${strange.length === 1 ? "a tool" : `${strange.length} tools`} that its request did not offer (${offered.size} were)`,
      by: "the model",
      evidence: [at(call, "response"), at(call, "request")],
    })
  }
  return isAnyKnown || view.totals.modelCalls === 0 ? found : { notRun: "no request says which tools it offered" }
}

/** A tool call that the model made, that was never run and never answered. */
export function orphanToolCall({ view }: CaseFile): Detected {
  const going = stillGoing(view)
  if (going !== undefined) return { notRun: going }
  const calls = modelCallsOf(view)
  const ran = new Set(toolCallsOf(view).map(({ tool }) => tool?.callId))
  if (ran.size === 0 || ran.has(undefined))
    return { notRun: "its tools are not recorded with the ids they were asked by" }
  const found: Finding[] = []
  for (const call of calls.slice(0, -1)) {
    const payload = payloadOf(call.closed) as { requested_tool_ids?: unknown }
    const asked = Array.isArray(payload.requested_tool_ids) ? (payload.requested_tool_ids as unknown[]) : []
    const left = asked.filter((id) => typeof id === "string" && !ran.has(id))
    if (left.length === 0 || left.length === asked.length) continue
    found.push({
      detector: "orphan_tool_call",
      kind: null,
      severity: "harm",
      confidence: "proven",
      cause: call.n,
      fails: call.n,
      claim: `${left.length} of the ${asked.length} tool calls that #${call.n} asked for were never run`,
      by: "the application",
      evidence: [at(call, "response")],
    })
  }
  return found
}
