import type { Event } from "@orangebox/contract"

/**
 * Where a step stands among the steps around it, by names and not by ids, so that it is the same place in every run of the same code. It
 * tells apart equal questions that were asked side by side in different parts of an agent.
 */
export class CallPlaces {
  readonly #places = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  /** Takes an event that opens a step, and gives the place of the step around it. */
  open(event: Event): string {
    const around = this.#places.get(event.parent_step_id ?? "") ?? ""
    if (event.step_id === null || this.#places.has(event.step_id)) return around
    const name = event.parent_step_id === null ? "" : nameOf(event)
    const path = `${around}/${name}`
    const count = this.#counts.get(path) ?? 0
    this.#counts.set(path, count + 1)
    this.#places.set(event.step_id, `${path}#${count}`)
    return around
  }
}

function nameOf(event: Event): string {
  switch (event.event_type) {
    case "step_started":
      return event.payload.name
    case "tool_called":
      return `tool:${event.payload.tool_name}`
    case "model_called":
      return `model:${event.payload.model_id}`
    default:
      return event.event_type
  }
}
