import { jsonRules } from "./json-rules.js"

export const SIEVE_ANALYSIS = String.raw`root ::= "{" ws success "," ws confidence "," ws text "," ws convergence "," ws action "," ws warnings "}" ws
success ::= "\"success\"" ws ":" ws boolean
confidence ::= "\"confidence\"" ws ":" ws share
text ::= "\"interpretation\"" ws ":" ws string
convergence ::= "\"convergence\"" ws ":" ws ("\"converged\"" | "\"converging\"" | "\"stalled\"" | "\"diverging\"") ws
action ::= "\"recommended_action\"" ws ":" ws ("\"proceed\"" | "\"retry\"" | "\"escalate\"") ws
warnings ::= "\"warnings\"" ws ":" ws strings
${jsonRules("share", "boolean", "strings")}`
