import { z } from "zod"
import { CATALOG, definitionOf, type Event, type EventType, isEventType } from "./catalog.js"
import { envelopeShape } from "./envelope.js"
import { payloadRefs } from "./payload-refs.js"
import type { Problem } from "./problem.js"
import { upgradeFromV0 } from "./upgrade/v0.js"
import { allowsUnknownFields, isReadable, parseSchemaVersion, type SchemaVersion } from "./version.js"

/** What the contract has against one event. Takes anything, returns problems, throws nothing. */
export function validate(event: unknown): Problem[] {
  try {
    return check(event)
  } catch (error) {
    return [problem("unreadable", event, "", `the record could not be read: ${String(error)}`)]
  }
}

export interface EventReading {
  /** Undefined when the record cannot be understood at all. */
  readonly event: Event | undefined
  readonly problems: readonly Problem[]
}

/** An event of any readable version as an event of the current major, with what is wrong about it. */
export function readEvent(raw: unknown): EventReading {
  const version = parseSchemaVersion((raw as { schema_version?: unknown } | null)?.schema_version)
  if (version?.major === 0) {
    const upgraded = upgradeFromV0(raw)
    return upgraded.event ? { event: upgraded.event, problems: check(upgraded.event) } : upgraded
  }
  const problems = validate(raw)
  const isUsable = typeof raw === "object" && raw !== null && isEventType((raw as Event).event_type)
  return isUsable && version && isReadable(version) ? { event: raw as Event, problems } : { event: undefined, problems }
}

/** The payload alone: what the recorder checks at the call, where the envelope is right by construction. */
export function validatePayload(type: EventType, payload: unknown): readonly PayloadProblem[] {
  const result = CATALOG[type].payload.safeParse(payload)
  const problems: PayloadProblem[] = result.success ? [] : fromZod(result.error, "payload")
  problems.push(...crossFieldProblems(type, payload))
  return problems
}

export interface PayloadProblem {
  readonly code: string
  readonly field: string
  readonly reason: string
}

function check(raw: unknown): Problem[] {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    return [problem("not_an_event", raw, "", "an event is a JSON object")]
  }
  const event = raw as Record<string, unknown>
  const version = parseSchemaVersion(event["schema_version"])
  if (!version) {
    return [problem("schema_version", raw, "schema_version", "is missing or not a version such as 1.1.0")]
  }
  if (!isReadable(version)) {
    return [
      problem("schema_version", raw, "schema_version", `major version ${version.major} cannot be read by this build`),
    ]
  }
  if (version.major === 0) {
    const upgraded = upgradeFromV0(raw)
    return upgraded.event ? check(upgraded.event) : [...upgraded.problems]
  }

  const type = event["event_type"]
  if (!isEventType(type)) {
    if (allowsUnknownFields(version) && typeof type === "string") return []
    return [problem("event_type", raw, "event_type", `${JSON.stringify(type)} is not an event type`)]
  }
  if (version.minor === 0 && definitionOf(type).since !== "1.0") {
    return [problem("event_type", raw, "event_type", `${type} came with schema 1.1, the event says ${version.major}.0`)]
  }

  const found: PayloadProblem[] = []
  const schema = schemaFor(type, version)
  const result = schema.safeParse(event)
  if (!result.success) found.push(...fromZod(result.error, ""))
  found.push(...crossFieldProblems(type, event["payload"]))
  found.push(...placeProblems(type, event, version))
  found.push(...refProblems(type, event))
  return found.map(({ code, field, reason }) => problem(code, raw, field, reason))
}

const schemas = new Map<string, z.ZodType>()

function schemaFor(type: EventType, version: SchemaVersion): z.ZodType {
  const flavour = version.minor === 0 ? "first" : allowsUnknownFields(version) ? "newer" : "current"
  const key = `${type}:${flavour}`
  const known = schemas.get(key)
  if (known) return known
  const keep = flavour === "first" ? inFirstVersion : <T>(shape: T): T => shape
  const object = flavour === "newer" ? z.looseObject : z.strictObject
  const schema = object({
    ...keep(envelopeShape as unknown as z.ZodRawShape),
    event_type: z.literal(type),
    payload: object(keep(CATALOG[type].payload.shape as z.ZodRawShape)),
  })
  schemas.set(key, schema)
  return schema
}

function inFirstVersion(shape: z.ZodRawShape): z.ZodRawShape {
  return Object.fromEntries(
    Object.entries(shape).filter(([, schema]) => (schema as z.ZodType).meta()?.["since"] !== "1.1"),
  )
}

function crossFieldProblems(type: EventType, payload: unknown): PayloadProblem[] {
  if ((type === "tool_result" || type === "model_result") && typeof payload === "object" && payload !== null) {
    const { status, error_class } = payload as { status?: unknown; error_class?: unknown }
    if (status === "error" && typeof error_class !== "string") {
      return [{ code: "error_class", field: "payload.error_class", reason: "is required when the status is error" }]
    }
  }
  return []
}

/** Null ids are legal only for what stands outside a run. */
function placeProblems(type: EventType, event: Record<string, unknown>, version: SchemaVersion): PayloadProblem[] {
  const { role, mayAnnotate } = definitionOf(type)
  const outsideRun = event["run_id"] === null
  const outsideSequence = event["sequence_no"] === null
  const found: PayloadProblem[] = []
  const say = (field: string, reason: string): void => void found.push({ code: "place", field, reason })

  if (version.minor === 0 && (outsideRun || outsideSequence)) say("run_id", "schema 1.0 knows no events outside a run")
  if (role.does === "process") {
    if (!outsideRun) say("run_id", `${type} is about a process, so it names no run`)
  } else if (outsideRun && type !== "log") {
    say("run_id", `${type} must name its run`)
  }
  if (outsideRun) {
    for (const field of ["trace_id", "step_id", "parent_step_id", "sequence_no"]) {
      if (event[field] !== null) say(field, "must be null where there is no run")
    }
  } else if (outsideSequence && !mayAnnotate) {
    say("sequence_no", `${type} is part of its run and needs a sequence number`)
  } else if (!outsideSequence) {
    if (event["trace_id"] === null) say("trace_id", "must be set inside a run")
    if (event["step_id"] === null) say("step_id", "must be set inside a run")
  }
  return found
}

/** Each body that the payload names needs its entry in `artifact_refs`, and that entry must not say the bytes are lost. */
function refProblems(type: EventType, event: Record<string, unknown>): PayloadProblem[] {
  const listed = new Map<string, unknown>()
  if (Array.isArray(event["artifact_refs"])) {
    for (const ref of event["artifact_refs"] as { artifact_hash?: unknown; absent?: unknown }[]) {
      if (typeof ref?.artifact_hash === "string") listed.set(ref.artifact_hash, ref.absent)
    }
  }
  const found: PayloadProblem[] = []
  for (const { field, hash } of payloadRefs(type, event["payload"])) {
    if (!listed.has(hash)) {
      found.push({
        code: "ref_not_listed",
        field: `payload.${field}`,
        reason: "names a body that artifact_refs does not list",
      })
    } else if (listed.get(hash) === "lost") {
      found.push({ code: "body_lost", field: `payload.${field}`, reason: "the body it names is lost" })
    }
  }
  return found
}

function fromZod(error: z.ZodError, prefix: string): PayloadProblem[] {
  return error.issues.flatMap((issue) => {
    const path = [prefix, ...issue.path.map(String)].filter((part) => part !== "").join(".")
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        code: "unknown_field",
        field: path === "" ? key : `${path}.${key}`,
        reason: "is not a field of this schema version",
      }))
    }
    const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined")
    return [{ code: missing ? "required" : "invalid", field: path, reason: missing ? "is required" : issue.message }]
  })
}

function problem(code: string, event: unknown, field: string, reason: string): Problem {
  return { code, severity: "error", subject: subjectOf(event), field, reason }
}

function subjectOf(event: unknown): string {
  try {
    const { event_id, run_id, sequence_no } = event as { event_id?: unknown; run_id?: unknown; sequence_no?: unknown }
    if (typeof event_id === "string") return event_id
    if (typeof run_id === "string") return `${run_id}@${String(sequence_no)}`
  } catch {}
  return "unknown"
}
