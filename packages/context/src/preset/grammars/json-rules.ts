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
export function jsonRules(...more: ("number" | "share" | "boolean" | "null" | "strings")[]): string {
  const names = ["string", "char", "hex", "ws", ...more] as const
  return names.map((name) => `${name} ::= ${RULES[name]}\n`).join("")
}
