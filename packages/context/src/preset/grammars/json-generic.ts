import { jsonRules } from "./json-rules.js"

/** Any JSON object: the fallback of the other grammars. */
export const JSON_GENERIC = `root ::= object
object ::= "{" ws (member ("," ws member)*)? "}" ws
member ::= string ":" ws value
array ::= "[" ws (value ("," ws value)*)? "]" ws
value ::= object | array | string | number | boolean | null
${jsonRules("number", "boolean", "null")}`
