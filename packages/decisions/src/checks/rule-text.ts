import type { ArgumentProblem } from "./rule.js"

// The surface of the rule language: a name and arguments. What the arguments mean is each rule's own affair.
//
//   rule     = name [ ":" ] { blank argument } ;
//   argument = [ key "=" ] ( bare | quoted ) [ "," ] ;
//   quoted   = '"' { any but '"' | '\"' | '\\' } '"' | "'" { any but "'" } "'" ;
//   bare     = { any but blank and quotes } ;

export interface RuleArgument {
  readonly text: string
  /** Where it stands in the rule. */
  readonly position: number
}

export interface RuleText {
  readonly name: string
  readonly values: readonly RuleArgument[]
  readonly options: ReadonlyMap<string, readonly RuleArgument[]>
  /** All that follows the name, as written: for a rule whose argument is one JSON text. */
  readonly rest: RuleArgument
}

const MAX_ARGUMENTS = 256
const TAKES_JSON = new Set(["output.json"])

export function readRuleText(text: string): RuleText | ArgumentProblem {
  const named = /^\s*([^\s:]+(?::[^\s:]+)?):?(?=\s|$)/.exec(text)
  if (named === null)
    return { position: 0, reason: text.trim() === "" ? "it is empty" : "it does not begin with a name" }
  const name = named[1] as string
  const after = named[0].length
  const lead = /^\s*/.exec(text.slice(after))![0].length
  const rest = { text: text.slice(after + lead).trimEnd(), position: after + lead }
  const values: RuleArgument[] = []
  const options = new Map<string, RuleArgument[]>()
  // A JSON argument holds quotes of its own; splitting it would be wrong and is not needed. A path pattern may begin like one.
  if (TAKES_JSON.has(name) && /^[{[]/.test(rest.text)) return { name, values, options, rest }
  let at = after
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at++
      continue
    }
    const position = at
    let value = ""
    let key: string | undefined
    while (at < text.length && !/\s/.test(text[at]!)) {
      const character = text[at]!
      if (character === '"' || character === "'") {
        const close = closingQuote(text, at)
        if (close === -1) return { position: at, reason: "a quote is not closed" }
        const inner = text.slice(at + 1, close)
        value += character === '"' ? inner.replace(/\\(["\\])/g, "$1") : inner
        at = close + 1
      } else if (character === "=" && key === undefined && /^[a-z_]+$/.test(value)) {
        key = value
        value = ""
        at++
      } else {
        value += character
        at++
      }
    }
    if (value.endsWith(",") && text[at - 1] === ",") value = value.slice(0, -1)
    if (value === "" && key === undefined) continue
    const argument = { text: value, position }
    if (key === undefined) values.push(argument)
    else options.set(key, [...(options.get(key) ?? []), argument])
    if (values.length > MAX_ARGUMENTS) return { position, reason: `it has more than ${MAX_ARGUMENTS} arguments` }
  }
  return { name, values, options, rest }
}

function closingQuote(text: string, open: number): number {
  const quote = text[open]
  for (let at = open + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at++
    else if (text[at] === quote) return at
  }
  return -1
}
