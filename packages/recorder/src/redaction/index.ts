// Redaction: pure functions over text, values and bytes

export { type Explanation, explain } from "./explain.js"
// Field policies
export { defaultPolicy, FIELD_POLICIES, type FieldPolicy } from "./field-policies.js"
// Masks
export { isMask, MASK_MIDDLE, type Mask, maskedSecret, secretTag } from "./mask.js"
export { type DropEffect, decidePolicy, effectOfDrop, type PolicyDecision } from "./policy-decision.js"
export { type RedactedBytes, redactBytes } from "./redact-bytes.js"
// Redacting
export { type RedactedText, redactText } from "./redact-text.js"
export { type KeyPolicy, type RedactedValue, redactNamedText, redactValue, type ValueMask } from "./redact-value.js"
// Rules
export {
  createRuleset,
  describeRules,
  RULES_VERSION,
  type RuleDescription,
  type Ruleset,
  type RulesetOptions,
} from "./ruleset.js"
export { SeenText } from "./seen-text.js"
export { StreamRedactor } from "./stream-redactor.js"
export { type CompiledRules, compileUserRules, type RuleProblem, readUserRules, type UserRules } from "./user-rules.js"
