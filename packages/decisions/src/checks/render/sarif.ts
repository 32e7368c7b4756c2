import { safeText } from "@orangebox/text"
import type { Violation } from "../../generated.js"
import type { ConstraintResult, RunEvaluation } from "../evaluate.js"
import { parseRule } from "../parse-rule.js"
import { RULES } from "../rules.js"

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

/** SARIF 2.1.0: one SARIF run per run, one result per violation, and one notification per constraint that could not be judged. */
export function renderSarif(evaluations: readonly RunEvaluation[], version: string): string {
  const log = {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: evaluations.map((evaluation) => sarifRun(evaluation, version)),
  }
  // A viewer shows ids and rules that a recorded run brought along; they are made inert in every place alike.
  return `${JSON.stringify(log, (_, value) => (typeof value === "string" ? safeText(value) : value), 2)}\n`
}

function sarifRun(evaluation: RunEvaluation, version: string): object {
  const ids = evaluation.results.map((result) => result.constraint.id)
  return {
    tool: {
      driver: {
        name: "orangebox",
        version,
        rules: evaluation.results.map(ruleOf),
      },
    },
    automationDetails: { id: `orangebox/${evaluation.runId}` },
    results: evaluation.results.flatMap((result, index) =>
      result.violations.map((violation) => resultOf(evaluation.runId, result, violation, index)),
    ),
    invocations: [
      {
        executionSuccessful: evaluation.problems.length === 0,
        toolExecutionNotifications: evaluation.results
          .filter((result) => result.unknown !== undefined)
          .map((result) => ({
            level: "note",
            message: { text: `${result.constraint.id}: ${result.unknown}` },
            associatedRule: { id: result.constraint.id, index: ids.indexOf(result.constraint.id) },
          })),
      },
    ],
    properties: { runId: evaluation.runId, isOpen: evaluation.isOpen },
  }
}

function ruleOf({ constraint }: ConstraintResult): object {
  const reading = parseRule(constraint.rule)
  const about = "rule" in reading ? RULES.find(({ name }) => name === reading.rule.name)?.about : undefined
  return {
    id: constraint.id,
    name: constraint.rule.slice(0, 200),
    shortDescription: { text: about ?? constraint.rule.slice(0, 200) },
    defaultConfiguration: {
      level: constraint.source === "inferred" || constraint.severity === "warn" ? "warning" : "error",
    },
    properties: { type: constraint.type, source: constraint.source ?? "config" },
  }
}

function resultOf(runId: string, { constraint }: ConstraintResult, violation: Violation, ruleIndex: number): object {
  const pointers = violation.pointers ?? []
  return {
    ruleId: constraint.id,
    ruleIndex,
    level: violation.severity === "fail" ? "error" : "warning",
    message: { text: violation.evidence === null ? violation.message : `${violation.message}: ${violation.evidence}` },
    locations: pointers.length === 0 ? [logical(runId, undefined)] : pointers.map((pointer) => logical(runId, pointer)),
    partialFingerprints: {
      "orangebox/v1": `${constraint.id}:${pointers[0]?.step_id ?? runId}:${pointers[0]?.start ?? 0}`,
    },
  }
}

/** A place in a recording is no file, so it is given as a logical location, with the bytes of the body where they are known. */
function logical(runId: string, pointer: NonNullable<Violation["pointers"]>[number] | undefined): object {
  const name = pointer?.step_id ?? runId
  const fullyQualifiedName = pointer === undefined ? runId : `${runId}/${pointer.step_id}`
  const place = {
    logicalLocations: [{ name, fullyQualifiedName, kind: pointer === undefined ? "module" : "function" }],
  }
  if (pointer?.ref === undefined || pointer.ref === null) return place
  const region =
    pointer.start === undefined || pointer.end === undefined
      ? {}
      : { region: { byteOffset: pointer.start, byteLength: Math.max(0, pointer.end - pointer.start) } }
  return {
    ...place,
    physicalLocation: { artifactLocation: { uri: `orangebox:${encodeURIComponent(pointer.ref)}` }, ...region },
  }
}
