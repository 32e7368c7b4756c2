import { definitionOf, type Event, type EventType, eventNode, isEventType } from "./catalog.js"
import { isRecord } from "./loose-payload.js"
import { payloadRefs } from "./payload-refs.js"
import type { Problem } from "./problem.js"
import { type QuickCheck, quickCheck } from "./schema/quick-check.js"
import { Schema } from "./schema/schema.js"
import type { Edition, SchemaNode } from "./schema/schema-node.js"
import { upgradeFromV0 } from "./upgrade/v0.js"
import { upgradeFrom10 } from "./upgrade/v1-0.js"
import { isUsable } from "./usable-event.js"
import {
  allowsUnknownFields,
  CURRENT_MINOR,
  editionFor,
  isReadable,
  parseSchemaVersion,
  type SchemaVersion,
} from "./version.js"

/** What the contract has against one event. Takes anything, returns problems, throws nothing. */
export function validate(event: unknown): Problem[] {
  try {
    return check(event)
  } catch (error) {
    return [unreadable(event, error)]
  }
}

export interface EventReading {
  /** Undefined when the record has not even the skeleton of an event, or is of a type this build does not know; the problems say which. */
  readonly event: Event | undefined
  readonly problems: readonly Problem[]
}

/** An event of any readable version as an event of the current version, with what is wrong about it. Throws nothing. */
export function readEvent(raw: unknown): EventReading {
  try {
    return read(raw)
  } catch (error) {
    return { event: undefined, problems: [unreadable(raw, error)] }
  }
}

function read(raw: unknown): EventReading {
  if (!isRecord(raw)) return { event: undefined, problems: check(raw) }
  const version = parseSchemaVersion(raw["schema_version"])
  if (version?.major === 0) {
    const upgraded = upgradeFromV0(raw)
    return upgraded.event ? { event: upgraded.event, problems: check(upgraded.event) } : upgraded
  }
  const problems = check(raw)
  if (!version || !isReadable(version)) return { event: undefined, problems }
  if (!isEventType(raw["event_type"])) {
    return { event: undefined, problems: problems.length > 0 ? problems : [fromTheFuture(raw)] }
  }
  const current = editionFor(version) === "first" ? upgradeFrom10(raw) : raw
  return { event: isUsable(current) ? current : undefined, problems }
}

/** The payload alone: what the recorder checks at the call, where the envelope is right by construction. Throws nothing. */
export function validatePayload(type: EventType, payload: unknown): readonly PayloadProblem[] {
  try {
    const checker = checkerOf(type, () => definitionOf(type).payload.node)
    const problems = checker.isFine(payload) ? NO_PROBLEMS : problemsOf(checker.schema, payload, "payload")
    const crossed = crossFieldProblem(type, payload, CURRENT_MINOR)
    return crossed === undefined ? problems : [...problems, crossed]
  } catch (error) {
    return [{ code: "unreadable", field: "payload", reason: `could not be read: ${describe(error)}` }]
  }
}

export interface PayloadProblem {
  readonly code: string
  readonly field: string
  readonly reason: string
}

const NO_PROBLEMS: readonly PayloadProblem[] = Object.freeze([])

interface Checker {
  readonly schema: Schema<unknown>
  readonly isFine: QuickCheck
}

// Made when a type is first met: most processes see few of the types.
const checkers = new Map<string, Checker>()

function checkerOf(key: string, node: () => SchemaNode): Checker {
  let checker = checkers.get(key)
  if (!checker) {
    const schema = new Schema(node())
    checker = { schema, isFine: quickCheck(schema.node) }
    checkers.set(key, checker)
  }
  return checker
}

function check(raw: unknown): Problem[] {
  if (!isRecord(raw)) return [problem("not_an_event", raw, "", "an event is a JSON object")]
  const version = parseSchemaVersion(raw["schema_version"])
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

  const type = raw["event_type"]
  if (!isEventType(type)) {
    if (allowsUnknownFields(version) && typeof type === "string") return []
    return [problem("event_type", raw, "event_type", `${named(type)} is not an event type`)]
  }
  if (version.minor === 0 && definitionOf(type).since !== "1.0") {
    return [problem("event_type", raw, "event_type", `${type} came with schema 1.1, the event says ${version.major}.0`)]
  }

  const edition: Edition = editionFor(version)
  const checker = checkerOf(`${edition}:${type}`, () => eventNode(type, edition))
  const found: PayloadProblem[] = checker.isFine(raw) ? [] : problemsOf(checker.schema, raw, "")
  const crossed = crossFieldProblem(type, raw["payload"], version.minor)
  if (crossed) found.push(crossed)
  found.push(...placeProblems(type, raw, version))
  return [
    ...found.map(({ code, field, reason }) => problem(code, raw, field, reason)),
    ...refProblems(type, raw).map((one) => ({ ...one, subject: subjectOf(raw) })),
  ]
}

/** What no single field can say about itself. */
function crossFieldProblem(type: EventType, payload: unknown, minor: number): PayloadProblem | undefined {
  if (!isRecord(payload)) return undefined
  switch (type) {
    case "tool_result":
    case "model_result":
      if (payload["status"] !== "error" || typeof payload["error_class"] === "string") return undefined
      return { code: "error_class", field: "payload.error_class", reason: "is required when the status is error" }
    case "run_started":
      if (payload["input_summary"] !== undefined || payload["input_summary_ref"] !== undefined) return undefined
      return {
        code: "required",
        field: "payload.input_summary",
        reason: "is required where there is no input_summary_ref",
      }
    case "fault": {
      const ids: unknown = payload["artifact_ids"]
      if (minor < 2 || !Array.isArray(ids) || ids.length > 0 || payload["no_evidence"] !== undefined) return undefined
      return { code: "no_evidence", field: "payload.no_evidence", reason: "is required where there is no artifact" }
    }
    default:
      return undefined
  }
}

/** Null ids are legal only for what stands outside a run. */
function placeProblems(type: EventType, event: Record<string, unknown>, version: SchemaVersion): PayloadProblem[] {
  const { role, mayAnnotate } = definitionOf(type)
  const outsideRun = event["run_id"] === null
  const outsideSequence = event["sequence_no"] === null
  const found: PayloadProblem[] = []
  const say = (field: string, reason: string): void => void found.push({ code: "place", field, reason })

  if (version.minor === 0 && (outsideRun || outsideSequence)) {
    say(outsideRun ? "run_id" : "sequence_no", "schema 1.0 knows no events outside a run's own sequence")
  }
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

/**
 * Each body that the payload names needs its entry in `artifact_refs`. An entry that says the bytes are lost makes the event invalid,
 * unless the field is one the schema can do without: then it is only a gap.
 */
function refProblems(type: EventType, event: Record<string, unknown>): Omit<Problem, "subject">[] {
  const refs = payloadRefs(type, event["payload"])
  if (refs.length === 0) return []
  const absence = new Map<unknown, unknown>()
  if (Array.isArray(event["artifact_refs"])) {
    for (const entry of event["artifact_refs"] as unknown[]) {
      if (isRecord(entry)) absence.set(entry["artifact_hash"], entry["absent"])
    }
  }
  return refs.flatMap(({ field, hash, isOptional }): Omit<Problem, "subject">[] => {
    const path = `payload.${field}`
    if (!absence.has(hash)) {
      const reason = "names a body that artifact_refs does not list"
      return [{ code: "ref_not_listed", severity: "error", field: path, reason }]
    }
    if (absence.get(hash) !== "lost") return []
    const severity = isOptional ? "gap" : "error"
    return [{ code: "body_lost", severity, field: path, reason: "the body it names is lost" }]
  })
}

function problemsOf(schema: Schema<unknown>, value: unknown, prefix: string): PayloadProblem[] {
  const result = schema.safeParse(value)
  if (result.success) return []
  return result.error.issues.flatMap((issue): PayloadProblem[] => {
    const path = [prefix, ...issue.path.map(String)].filter((part) => part !== "").join(".")
    if (issue.code === "unrecognized_keys") {
      const reason = "is not a field of this schema version"
      return issue.keys.map((key) => ({ code: "unknown_field", field: path === "" ? key : `${path}.${key}`, reason }))
    }
    // A missing word or literal reads as an invalid one; to the caller who wrote the event it is a missing field like any other.
    const found = valueAt(value, issue.path)
    if (found === undefined) return [{ code: "required", field: path, reason: "is required" }]
    if (found === "") return [{ code: "invalid", field: path, reason: "is empty" }]
    return [{ code: "invalid", field: path, reason: issue.message }]
  })
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown> | null | undefined)?.[part], value)
}

function problem(code: string, event: unknown, field: string, reason: string): Problem {
  return { code, severity: "error", subject: subjectOf(event), field, reason }
}

const unreadable = (event: unknown, error: unknown): Problem =>
  problem("unreadable", event, "", `the record could not be read: ${describe(error)}`)

function fromTheFuture(event: Record<string, unknown>): Problem {
  const { schema_version, event_type } = event
  const reason = `${named(event_type)} is not known to this build; the event says schema ${String(schema_version)}`
  return { ...problem("event_type", event, "event_type", reason), severity: "gap" }
}

const named = (type: unknown): string => (typeof type === "string" ? JSON.stringify(type.slice(0, 80)) : typeof type)

// What a getter or a proxy throws may itself refuse to become text.
function describe(error: unknown): string {
  try {
    return String(error)
  } catch {
    return "it threw something that has no text"
  }
}

function subjectOf(event: unknown): string {
  try {
    const { event_id, run_id, sequence_no } = event as { event_id?: unknown; run_id?: unknown; sequence_no?: unknown }
    if (typeof event_id === "string") return event_id
    if (typeof run_id === "string") return `${run_id}@${String(sequence_no)}`
  } catch {}
  return "unknown"
}
