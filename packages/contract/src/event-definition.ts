import type { ObjectSchema } from "./schema/schema.js"

export type StepKind = "run" | "model" | "tool" | "step"

/**
 * How an event relates to its step: it opens it, closes it, or happens inside.
 * `process` events belong to no run at all.
 */
export type StepRole =
  | { readonly does: "opens" | "closes"; readonly step: StepKind }
  | { readonly does: "within" }
  | { readonly does: "process" }

/** What is known of an event type beside the shape of its payload. Written in `definitions/events`, one file per type. */
export interface EventFacts<Type extends string = string> {
  readonly type: Type
  readonly since: "1.0" | "1.1" | "1.2"
  readonly role: StepRole
  /** May also be said about a run by another process, with `sequence_no: null`. */
  readonly mayAnnotate: boolean
}

export interface EventDefinition<Type extends string = string, Payload = unknown> extends EventFacts<Type> {
  readonly payload: ObjectSchema<Payload>
}
