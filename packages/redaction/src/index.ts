// Secrets in text, values, bytes and streams: pure functions, one ruleset for all of them

// Bodies that arrive in pieces
export { BinaryEventRedactor } from "./binary-event-redactor.js"
export { linesOfBinaryEvents, writeBinaryEvent } from "./binary-events.js"
export { ByteStreamRedactor } from "./byte-stream-redactor.js"
export { type Explanation, explain } from "./explain.js"
// What may happen to each field of an event
export { defaultPolicy, FIELD_POLICIES, type FieldPolicy } from "./field-policies.js"
export type { Framing } from "./frame-ends.js"
export { type Arrival, FrameRedactor, type Piece } from "./frame-redactor.js"
export { digestWord, incrementalKeyedDigest, isDigestWord, keyedDigest, maskKeyId } from "./keyed-digest.js"
// Secrets that were found before
export { KnownValues } from "./known-values.js"
// Masks
export { MASK_MIDDLE, type Mask, maskedSecret } from "./mask.js"
export { decidePolicy, effectOfDrop } from "./policy-decision.js"
// Redacting what is there as a whole
export { type RedactedBytes, redactBytes, redactOctets } from "./redact-bytes.js"
export { redactKeys } from "./redact-keys.js"
export { type RedactedText, redactText } from "./redact-text.js"
export { redactNamedText, redactValue } from "./redact-value.js"
// Rules
export { createRuleset, describeRules, type RuleDescription, type Ruleset, rulesetOfName } from "./ruleset.js"
export { SeenText } from "./seen-text.js"
export { StreamRedactor } from "./stream-redactor.js"
export { taggedBytes, taggedText } from "./tagged-masks.js"
export { type CompiledRules, compileUserRules, type RuleProblem, readUserRules, type UserRules } from "./user-rules.js"
export { valueForms } from "./value-forms.js"
