import { payloadOf, textIn } from "@orangebox/contract"
import { talksOf } from "../../context/talks.js"
import { groupBy } from "../../group-by.js"
import type { StepView } from "../../run-view.js"
import { type CaseFile, isBadOutcome, modelCallsOf, toolCallsOf } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

const REPEATS = 3
const LONGEST_CYCLE = 4

/** The same call with the same result, or the same answer without any, over and over in one talk. */
export function loop(file: CaseFile): Detected {
  const { view } = file
  // A run that came to a good end got out of it: it cost time and money, no more.
  const severity = view.status === "completed" && !isBadOutcome(file) ? "waste" : "harm"
  const found: Finding[] = []
  for (const [, steps] of groupBy(toolCallsOf(view), talkOfTool(file))) {
    for (const { size, first, last, times } of repeatsIn(steps, callAndResult)) {
      found.push({
        detector: "loop",
        kind: size === 1 ? "same_call" : "cycle",
        severity,
        confidence: "proven",
        cause: first.n,
        fails: last.n,
        claim: `${size === 1 ? "one tool call" : `a cycle of ${size} tool calls`} came ${times} times from #${first.n} to #${last.n}, with the same arguments and the same results`,
        by: null,
        evidence: [at(first, "args"), at(last, "result")],
      })
    }
  }
  for (const [, steps] of groupBy(modelCallsOf(view), laneOf)) {
    for (const { size, first, last, times } of repeatsIn(steps, (step) => bareAnswer(file, step))) {
      if (size > 1) continue
      found.push({
        detector: "loop",
        kind: "same_answer",
        severity,
        confidence: "proven",
        cause: first.n,
        fails: last.n,
        claim: `the model gave the same answer ${times} times from #${first.n} to #${last.n}, and asked for no tool`,
        by: "the model",
        evidence: [at(first, "response"), at(last, "response")],
      })
    }
  }
  return found
}

const laneOf = ({ opened }: StepView): string => opened?.lane_id ?? ""

/** Two agents that read the same file are no loop: a tool belongs to the talk of the call that asked for it, else of the one before it. */
function talkOfTool({ view, askedBy }: CaseFile): (tool: StepView) => string {
  const talks = talksOf(view)
  const calls = modelCallsOf(view)
  return (tool) => {
    const asker = askedBy.get(tool.n) ?? calls.findLast((call) => call.n < tool.n && laneOf(call) === laneOf(tool))?.n
    return `${laneOf(tool)} ${talks.get(asker ?? 0) ?? ""}`
  }
}

interface Repeats {
  readonly size: number
  readonly first: StepView
  readonly last: StepView
  readonly times: number
}

function repeatsIn(steps: readonly StepView[], keyOf: (step: StepView) => string | undefined): Repeats[] {
  const keys = steps.map(keyOf)
  const found: Repeats[] = []
  for (let start = 0; start < steps.length; ) {
    const size = cycleAt(keys, start)
    if (size === undefined) {
      start++
      continue
    }
    let end = start + size * REPEATS
    while (end < keys.length && keys[end] === keys[end - size]) end++
    found.push({ size, first: steps[start]!, last: steps[end - 1]!, times: Math.floor((end - start) / size) })
    start = end
  }
  return found
}

function cycleAt(keys: readonly (string | undefined)[], start: number): number | undefined {
  for (let size = 1; size <= LONGEST_CYCLE; size++) {
    const span = size * REPEATS
    if (start + span > keys.length) return undefined
    let isSame = true
    for (let index = start; index < start + span && isSame; index++) {
      isSame = keys[index] !== undefined && keys[index] === keys[start + ((index - start) % size)]
    }
    if (isSame) return size
  }
  return undefined
}

/** What was asked and what came back; a call that has no end, or whose result is not known, repeats nothing. */
function callAndResult(step: StepView): string | undefined {
  const asked = textIn(payloadOf(step.opened), "call_signature_hash")
  const closing = payloadOf(step.closed)
  const result = textIn(closing, "result_ref") ?? textIn(closing, "error_message_ref")
  return asked === undefined || result === undefined ? undefined : `${asked} ${result}`
}

/** Shorter ones are labels, and many calls of a good run may have the same. */
const SHORTEST_ANSWER = 20

/** The words of an answer that asks for no tool. */
function bareAnswer({ words }: CaseFile, { n, model, status }: StepView): string | undefined {
  const said = words.get(n)?.said.trim() ?? ""
  return status !== "success" || (model?.requestedTools?.length ?? 0) > 0 || said.length < SHORTEST_ANSWER
    ? undefined
    : said
}
