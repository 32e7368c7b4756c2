import { z } from "zod"
import type { Edition } from "../src/schema/schema-node.js"
import { envelopeShape } from "./envelope.js"
import { ArtifactRecorded } from "./events/artifact-recorded.js"
import { AttributesSet } from "./events/attributes-set.js"
import { ContextManifest } from "./events/context-manifest.js"
import { Decision } from "./events/decision.js"
import { Evaluation } from "./events/evaluation.js"
import { Fault } from "./events/fault.js"
import { FinalOutput } from "./events/final-output.js"
import { Findings } from "./events/findings.js"
import { InputReceived } from "./events/input-received.js"
import { LinkAdded } from "./events/link-added.js"
import { Log } from "./events/log.js"
import { ModelCalled } from "./events/model-called.js"
import { ModelResult } from "./events/model-result.js"
import { Override } from "./events/override.js"
import { ProcessCrashed } from "./events/process-crashed.js"
import { ProcessExited } from "./events/process-exited.js"
import { ProcessStarted } from "./events/process-started.js"
import { PromptAssembled } from "./events/prompt-assembled.js"
import { PromptRendered } from "./events/prompt-rendered.js"
import { Repair } from "./events/repair.js"
import { RetrievalExecuted } from "./events/retrieval-executed.js"
import { RunCompleted } from "./events/run-completed.js"
import { RunFailed } from "./events/run-failed.js"
import { RunStarted } from "./events/run-started.js"
import { SafetyDecision } from "./events/safety-decision.js"
import { SourceDiagnosticsRegistered } from "./events/source-diagnostics.js"
import { StepEnded } from "./events/step-ended.js"
import { StepStarted } from "./events/step-started.js"
import { ToolCalled } from "./events/tool-called.js"
import { ToolResult } from "./events/tool-result.js"
import { ValidatorDecision } from "./events/validator-decision.js"
import { WireDerived } from "./events/wire-derived.js"
import { editionOf } from "./schema-edition.js"

/** Every event type there is. The first thirteen are schema 1.0. */
export const CATALOG = {
  run_started: RunStarted,
  input_received: InputReceived,
  prompt_rendered: PromptRendered,
  retrieval_executed: RetrievalExecuted,
  tool_called: ToolCalled,
  tool_result: ToolResult,
  model_called: ModelCalled,
  model_result: ModelResult,
  validator_decision: ValidatorDecision,
  safety_decision: SafetyDecision,
  final_output: FinalOutput,
  run_completed: RunCompleted,
  run_failed: RunFailed,

  step_started: StepStarted,
  step_ended: StepEnded,
  log: Log,
  link_added: LinkAdded,
  attributes_set: AttributesSet,
  prompt_assembled: PromptAssembled,
  context_manifest: ContextManifest,
  artifact_recorded: ArtifactRecorded,
  decision: Decision,
  evaluation: Evaluation,
  override: Override,
  findings: Findings,
  fault: Fault,
  repair: Repair,
  process_started: ProcessStarted,
  process_exited: ProcessExited,
  process_crashed: ProcessCrashed,
  source_diagnostics: SourceDiagnosticsRegistered,
  wire_derived: WireDerived,
} as const

export type EventType = keyof typeof CATALOG
export const EVENT_TYPES = Object.keys(CATALOG) as readonly EventType[]

export const Envelope = z.strictObject(envelopeShape)

/** The whole event of one type as a schema: what is published as JSON Schema. */
export function eventSchema(type: EventType, edition: Edition = "current"): z.ZodType {
  const schema = z.strictObject({ ...envelopeShape, event_type: z.literal(type), payload: CATALOG[type].payload })
  return editionOf(schema, edition)
}
