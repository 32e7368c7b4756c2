import { z } from "zod"
import type { EventFacts, StepKind, StepRole } from "../src/event-definition.js"

/** One event type: its payload as zod fields, and the facts about it. `npm run schemas` writes what ships. */
export function defineEvent<Type extends string, Shape extends z.ZodRawShape>(
  type: Type,
  definition: Omit<EventFacts, "type" | "mayAnnotate"> & { mayAnnotate?: boolean; payload: Shape },
): EventFacts<Type> & { readonly payload: z.ZodObject<Shape, z.core.$strict> } {
  return { type, mayAnnotate: false, ...definition, payload: z.strictObject(definition.payload) }
}

export const opens = (step: StepKind): StepRole => ({ does: "opens", step })
export const closes = (step: StepKind): StepRole => ({ does: "closes", step })
export const within: StepRole = { does: "within" }
export const ofProcess: StepRole = { does: "process" }

/** Marks a field that came after schema 1.0: not legal on events that say 1.0. */
export const added = <T extends z.ZodType>(schema: T, since: "1.1" | "1.2" = "1.1"): T =>
  schema.meta({ ...schema.meta(), since }) as T
