import type { Event } from "@orangebox/contract"
import type { RunView } from "./run-view.js"

/** Where an application told of a context that the recorder could not read: it said so in a log of the step, and the agent went on. */
export function refusedContexts({ steps }: RunView): readonly { readonly n: number; readonly event: Event }[] {
  return steps.flatMap(({ n, events }) =>
    events.flatMap((event) =>
      event.event_type === "log" && event.attributes?.["context_refused"] === true ? [{ n, event }] : [],
    ),
  )
}
