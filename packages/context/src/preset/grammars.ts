/** What JSON is made of, in GBNF, with at most one space, or one line break and its indent, between tokens. */
const RULES = {
  string: String.raw`"\"" char* "\"" ws`,
  char: String.raw`[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" hex hex hex hex)`,
  hex: "[0-9a-fA-F]",
  number: '"-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)? ws',
  share: '("0" ("." [0-9]+)? | "1" ("." "0"+)?) ws',
  boolean: '("true" | "false") ws',
  null: '"null" ws',
  strings: '"[" ws (string ("," ws string)*)? "]" ws',
  ws: String.raw`" "? | "\n" [ \t]*`,
}

/** The rules of strings and white space, which every grammar here needs, and those asked for. */
function jsonRules(...more: ("number" | "share" | "boolean" | "null" | "strings")[]): string {
  const names = ["string", "char", "hex", "ws", ...more] as const
  return names.map((name) => `${name} ::= ${RULES[name]}\n`).join("")
}

export const AGENT_DECISION = String.raw`root ::= "{" ws success "," ws confidence "," ws text "," ws action "," ws warnings "}" ws
success ::= "\"success\"" ws ":" ws boolean
confidence ::= "\"confidence\"" ws ":" ws share
text ::= "\"interpretation\"" ws ":" ws string
action ::= "\"recommended_action\"" ws ":" ws ("\"proceed\"" | "\"retry\"" | "\"escalate\"") ws
warnings ::= "\"warnings\"" ws ":" ws strings
${jsonRules("share", "boolean", "strings")}`

export const SIEVE_ANALYSIS = String.raw`root ::= "{" ws success "," ws confidence "," ws text "," ws convergence "," ws action "," ws warnings "}" ws
success ::= "\"success\"" ws ":" ws boolean
confidence ::= "\"confidence\"" ws ":" ws share
text ::= "\"interpretation\"" ws ":" ws string
convergence ::= "\"convergence\"" ws ":" ws ("\"converged\"" | "\"converging\"" | "\"stalled\"" | "\"diverging\"") ws
action ::= "\"recommended_action\"" ws ":" ws ("\"proceed\"" | "\"retry\"" | "\"escalate\"") ws
warnings ::= "\"warnings\"" ws ":" ws strings
${jsonRules("share", "boolean", "strings")}`

export const CHAPTER_13 = String.raw`root ::= "{" ws drift "," ws delta "," ws trigger "," ws retrain "," ws confidence "," ws text "}" ws
drift ::= "\"drift_detected\"" ws ":" ws boolean
delta ::= "\"metric_delta\"" ws ":" ws (number | null)
trigger ::= "\"trigger_action\"" ws ":" ws ("\"none\"" | "\"hold\"" | "\"retrain\"" | "\"escalate\"") ws
retrain ::= "\"retrain_recommended\"" ws ":" ws boolean
confidence ::= "\"confidence\"" ws ":" ws share
text ::= "\"interpretation\"" ws ":" ws string
${jsonRules("number", "share", "boolean", "null")}`

/** Any JSON object: the fallback of the other grammars. */
export const JSON_GENERIC = `root ::= object
object ::= "{" ws (member ("," ws member)*)? "}" ws
member ::= string ":" ws value
array ::= "[" ws (value ("," ws value)*)? "]" ws
value ::= object | array | string | number | boolean | null
${jsonRules("number", "boolean", "null")}`
