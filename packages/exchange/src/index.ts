// Imports

// OTLP out
export { otlpOfRun, type RunAsOtlp } from "./formats/otlp/spans-of-run.js"
export {
  type FoundSources,
  findSources,
  type Source,
  type SourceFormat,
  usualPlaces,
} from "./transfer/find-sources.js"
export {
  type ImportedSources,
  type ImportPlaces,
  type ImportProblem,
  importSources,
} from "./transfer/import-sources.js"
// OTLP in
export {
  MOST_BYTES as OTLP_MOST_BYTES,
  type OtlpAnswer,
  type OtlpCounts,
  OtlpDoor,
  type OtlpDoorOptions,
} from "./transfer/otlp-door.js"
export { type OtlpTarget, type SentRun, sendRun } from "./transfer/otlp-send.js"
export { receivedRequests } from "./transfer/received-requests.js"
export type { KnownRun, LookUpRun, RunTaken } from "./transfer/run-intake.js"
export type { KnownSteps } from "./transfer/trace-assembler.js"
export { watchSources } from "./transfer/watch-sources.js"
