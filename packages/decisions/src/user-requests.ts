import { payloadOf } from "@orangebox/contract"
import type { Step } from "@orangebox/runs"
import type { SentPrompt } from "./prompt-bundle.js"
import type { RunReading } from "./read-run.js"
import { sentPrompts } from "./sent-prompts.js"

/**
 * What the users of a run asked for, in order. An agent recorded on the wire was started by a command line, and its users speak in its
 * prompts: there every turn has a question of its own.
 */
export function userRequests(reading: RunReading): readonly string[] {
  const { index, run } = reading
  const asked = new Set<string>()
  if (run.request.text !== null) asked.add(run.request.text)
  const hasInputs = index.events.some((event) => event.event_type === "input_received")
  const turnsSeen = new Set<string>()
  for (const call of hasInputs ? [] : reading.calls) {
    const turn = turnAround(call.step)
    if (call.sideCall !== null || !isSeenOnWire(call.step) || (turn !== undefined && turnsSeen.has(turn))) continue
    if (turn !== undefined) turnsSeen.add(turn)
    const prompt = sentPrompts(reading).get(call.step.id)?.prompt
    const question = prompt && questionIn(prompt)
    if (question !== undefined) asked.add(question.content)
  }
  return [...asked]
}

/** The last thing a user says in a prompt. Harnesses put reminders around it, which begin with a tag. */
export function questionIn({ messages }: SentPrompt): SentPrompt["messages"][number] | undefined {
  const users = messages.filter((message) => message.role === "user" && message.content !== "")
  return users.findLast((message) => !message.content.startsWith("<")) ?? users.at(-1)
}

/** Whether a call was seen in the traffic of an agent, where its user speaks in the prompt and nowhere else. */
export const isSeenOnWire = (step: Step | undefined): boolean =>
  step?.laneId !== undefined || turnAround(step) !== undefined

/** The turn a step stands in. */
function turnAround(step: Step | undefined): string | undefined {
  for (let at = step?.parent; at; at = at.parent) if (payloadOf(at.opened)["kind"] === "turn") return at.id
  return undefined
}
