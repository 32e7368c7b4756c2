import { type AttributeValue, type Event, type Level, payloadOf, textIn } from "@orangebox/contract"
import type { StepView } from "./run-view.js"
import { type PromptView, promptOf } from "./step-facts.js"

/** What a step's events say together: its prompts, attributes and logs. */
export function gatherInside(events: readonly Event[]): Pick<StepView, "prompts" | "attributes" | "logs"> {
  let prompts: PromptView[] | undefined
  let attributes: Record<string, AttributeValue> | undefined
  let logs: Record<Level, number> | undefined
  for (const event of events) {
    // A log line's attributes describe the line, not the step.
    if (event.attributes && event.event_type !== "log" && event.sequence_no !== null) {
      // A null prototype, because applications pass keys such as __proto__.
      attributes ??= Object.create(null) as Record<string, AttributeValue>
      Object.assign(attributes, event.attributes)
    }
    if (event.event_type === "prompt_assembled") {
      prompts ??= []
      prompts.push(promptOf(event))
    }
    if (event.event_type === "log") {
      logs ??= { ...NO_LOGS }
      const level = textIn(payloadOf(event), "level")
      if (isLevel(level)) logs[level] += 1
    }
  }
  return {
    prompts: prompts ?? NONE,
    attributes: attributes ?? NO_ATTRIBUTES,
    logs: logs ?? NO_LOGS,
  }
}

/** Most steps have none of these, and a run has many steps: they share one empty value. */
const NONE: readonly never[] = []
const NO_LOGS: StepView["logs"] = { debug: 0, info: 0, warn: 0, error: 0 }
const NO_ATTRIBUTES: StepView["attributes"] = {}

const isLevel = (level: string | undefined): level is Level => level !== undefined && Object.hasOwn(NO_LOGS, level)
