/**
 * A small reader of GBNF, the grammar notation of llama.cpp: enough of it to prove that a grammar is well formed and to ask it about a
 * text. Matching keeps all positions a rule can end at, so ambiguity is no problem.
 */
export interface GbnfGrammar {
  accepts(text: string): boolean
}

type Matcher = (text: string, at: number) => Set<number>

export function readGbnf(source: string): GbnfGrammar {
  const rules = new Map<string, Matcher>()
  const named = new Set<string>()
  for (const { name, body } of rulesOf(source)) {
    if (rules.has(name)) throw new SyntaxError(`rule ${name} is there twice`)
    rules.set(
      name,
      alternatives(new Cursor(body, name), (rule) => named.add(rule), rules),
    )
  }
  for (const name of named) if (!rules.has(name)) throw new SyntaxError(`rule ${name} is used and not defined`)
  for (const name of rules.keys()) {
    if (name !== "root" && !named.has(name)) throw new SyntaxError(`rule ${name} is defined and not used`)
  }
  const root = rules.get("root")
  if (!root) throw new SyntaxError("there is no root rule")
  return { accepts: (text) => root(text, 0).has(text.length) }
}

/** A rule begins at a line `name ::=` and goes on until the next one does. */
function rulesOf(source: string): { name: string; body: string }[] {
  const heads = [...source.matchAll(/^([a-z][a-z0-9-]*)\s*::=/gm)]
  if (source.slice(0, heads[0]?.index ?? source.length).trim() !== "")
    throw new SyntaxError("text before the first rule")
  return heads.map((head, index) => ({
    name: head[1]!,
    body: source.slice(head.index + head[0].length, heads[index + 1]?.index ?? source.length),
  }))
}

class Cursor {
  at = 0
  constructor(
    readonly text: string,
    readonly rule: string,
  ) {}
  skip(): this {
    while (/\s/.test(this.text[this.at] ?? "")) this.at++
    return this
  }
  peek(): string {
    return this.text[this.at] ?? ""
  }
  fail(what: string): never {
    throw new SyntaxError(`rule ${this.rule}: ${what} at ${JSON.stringify(this.text.slice(this.at, this.at + 20))}`)
  }
}

function alternatives(cursor: Cursor, use: (rule: string) => void, rules: ReadonlyMap<string, Matcher>): Matcher {
  const options = [sequence(cursor, use, rules)]
  while (cursor.skip().peek() === "|") {
    cursor.at++
    options.push(sequence(cursor, use, rules))
  }
  if (cursor.peek() !== "" && cursor.peek() !== ")") cursor.fail("unexpected text")
  return (text, at) => new Set(options.flatMap((option) => [...option(text, at)]))
}

function sequence(cursor: Cursor, use: (rule: string) => void, rules: ReadonlyMap<string, Matcher>): Matcher {
  const parts: Matcher[] = []
  while (!["", "|", ")"].includes(cursor.skip().peek())) parts.push(repeated(cursor, element(cursor, use, rules)))
  return (text, at) => {
    let ends = new Set([at])
    for (const part of parts) ends = new Set([...ends].flatMap((end) => [...part(text, end)]))
    return ends
  }
}

function repeated(cursor: Cursor, matcher: Matcher): Matcher {
  const mark = cursor.peek()
  if (!"*+?".includes(mark) || mark === "") return matcher
  cursor.at++
  return (text, at) => {
    const ends = new Set(mark === "+" ? [] : [at])
    let frontier = new Set([at])
    do {
      frontier = new Set([...frontier].flatMap((end) => [...matcher(text, end)]).filter((end) => !ends.has(end)))
      for (const end of frontier) ends.add(end)
    } while (mark !== "?" && frontier.size > 0)
    return ends
  }
}

function element(cursor: Cursor, use: (rule: string) => void, rules: ReadonlyMap<string, Matcher>): Matcher {
  const rest = cursor.text.slice(cursor.at)
  const literal = /^"((?:[^"\\\n]|\\.)*)"/.exec(rest)
  if (literal) {
    cursor.at += literal[0].length
    const word = JSON.parse(`"${literal[1]}"`) as string
    return (text, at) => new Set(text.startsWith(word, at) ? [at + word.length] : [])
  }
  const characters = /^\[(?:[^\]\\]|\\.)+\]/.exec(rest)
  if (characters) {
    cursor.at += characters[0].length
    // The notation of character classes is that of regular expressions, escapes included.
    const one = new RegExp(characters[0], "u")
    return (text, at) => {
      const char = text.codePointAt(at)
      const found = char === undefined ? "" : String.fromCodePoint(char)
      return new Set(found !== "" && one.test(found) ? [at + found.length] : [])
    }
  }
  if (cursor.peek() === "(") {
    cursor.at++
    const inner = alternatives(cursor, use, rules)
    if (cursor.peek() !== ")") cursor.fail("a bracket is not closed")
    cursor.at++
    return inner
  }
  const name = /^[a-z][a-z0-9-]*/.exec(rest)?.[0] ?? cursor.fail("not an element")
  cursor.at += name.length
  use(name)
  return (text, at) => rules.get(name)!(text, at)
}
