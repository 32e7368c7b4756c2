import { z } from "zod"

export type StepKind = "run" | "model" | "tool" | "step"

/**
 * How an event relates to its step: it opens it, closes it, or happens inside.
 * `process` events belong to no run at all.
 */
export type StepRole =
  | { readonly does: "opens" | "closes"; readonly step: StepKind }
  | { readonly does: "within" }
  | { readonly does: "process" }

export interface EventDefinition<Name extends string = string, Payload extends z.ZodType = z.ZodType> {
  readonly type: Name
  readonly since: "1.0" | "1.1"
  readonly role: StepRole
  /** May also be said about a run by another process, with `sequence_no: null`. */
  readonly mayAnnotate: boolean
  readonly payload: Payload
}

export function defineEvent<Name extends string, Shape extends z.ZodRawShape>(
  type: Name,
  definition: {
    since: "1.0" | "1.1"
    role: StepRole
    mayAnnotate?: boolean
    payload: Shape
  },
): EventDefinition<Name, z.ZodObject<Shape, z.core.$strict>> {
  return {
    type,
    since: definition.since,
    role: definition.role,
    mayAnnotate: definition.mayAnnotate ?? false,
    payload: z.strictObject(definition.payload),
  }
}

export const opens = (step: StepKind): StepRole => ({ does: "opens", step })
export const closes = (step: StepKind): StepRole => ({ does: "closes", step })
export const within: StepRole = { does: "within" }
export const ofProcess: StepRole = { does: "process" }

/** Marks a field that came with schema 1.1: legal only on events that say 1.1 or later. */
export const added = <T extends z.ZodType>(schema: T): T => schema.meta({ ...schema.meta(), since: "1.1" }) as T
