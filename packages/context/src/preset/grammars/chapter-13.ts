import { jsonRules } from "./json-rules.js"

export const CHAPTER_13 = String.raw`root ::= "{" ws drift "," ws delta "," ws trigger "," ws retrain "," ws confidence "," ws text "}" ws
drift ::= "\"drift_detected\"" ws ":" ws boolean
delta ::= "\"metric_delta\"" ws ":" ws (number | null)
trigger ::= "\"trigger_action\"" ws ":" ws ("\"none\"" | "\"hold\"" | "\"retrain\"" | "\"escalate\"") ws
retrain ::= "\"retrain_recommended\"" ws ":" ws boolean
confidence ::= "\"confidence\"" ws ":" ws share
text ::= "\"interpretation\"" ws ":" ws string
${jsonRules("number", "share", "boolean", "null")}`
