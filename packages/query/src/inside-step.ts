import { type AttributeValue, type Event, type Level, type Link, payloadOf, textIn } from "@orangebox/contract"
import type { StepView } from "./run-view.js"
import { isLink } from "./sound-envelope.js"
import { type PromptView, promptOf } from "./step-facts.js"

/** What a step's events say together: its prompts, attributes, logs and links. */
export function gatherInside(events: readonly Event[]): Pick<StepView, "prompts" | "attributes" | "logs" | "links"> {
  let prompts: PromptView[] | undefined
  let attributes: Record<string, AttributeValue> | undefined
  let logs: Record<Level, number> | undefined
  let links: Link[] | undefined
  for (const event of events) {
    for (const link of linksOf(event)) {
      links ??= []
      links.push(link)
    }
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
    links: links ?? NONE,
  }
}

/** Most steps have none of these, and a run has many steps: they share one empty value. */
const NONE: readonly never[] = []
const NO_LOGS: StepView["logs"] = { debug: 0, info: 0, warn: 0, error: 0 }
const NO_ATTRIBUTES: StepView["attributes"] = {}

const isLevel = (level: string | undefined): level is Level => level !== undefined && Object.hasOwn(NO_LOGS, level)

/** The links an event carries, on its envelope or as its payload. */
export function linksOf(event: Event): readonly Link[] {
  const links = event.links ?? NONE
  if (event.event_type !== "link_added") return links
  const added: unknown = payloadOf(event)["link"]
  return isLink(added) ? [...links, added] : links
}
