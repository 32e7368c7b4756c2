/**
 * As much YAML as recorded cassettes use: block maps and lists, plain, quoted and block scalars, `!!binary`, anchors. Anything else throws,
 * and the cassette is counted as skipped.
 */
export function readYaml(text: string): unknown {
  return new Reader(text.split("\n")).document()
}

const KEY = /^(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)"|([^\s'"#&*!|>%@`{[][^#]*?|[^\s]+?))\s*:(?:\s+(.*)|)$/

class Reader {
  private at = 0
  private readonly anchors = new Map<string, unknown>()
  constructor(private readonly lines: string[]) {}

  document(): unknown {
    this.skipBlank()
    if (this.lines[this.at] === "---") this.at++
    return this.block(0)
  }

  private skipBlank(): void {
    while (this.at < this.lines.length && /^\s*(#.*)?$/.test(this.lines[this.at]!)) this.at++
  }

  private indentHere(): number {
    this.skipBlank()
    return this.at < this.lines.length ? this.lines[this.at]!.search(/\S/) : -1
  }

  private block(minimum: number): unknown {
    const indent = this.indentHere()
    if (indent < minimum) return null
    const line = this.lines[this.at]!.slice(indent)
    if (line === "-" || line.startsWith("- ")) return this.list(indent)
    if (KEY.test(line)) return this.map(indent)
    this.at++
    return this.scalar(line, indent - 1)
  }

  private list(indent: number): unknown[] {
    const items: unknown[] = []
    while (this.indentHere() === indent) {
      const line = this.lines[this.at]!.slice(indent)
      if (line !== "-" && !line.startsWith("- ")) break
      // The dash is turned into a blank, and what follows it is a block of its own, deeper.
      const rest = line.slice(1)
      const inner = rest.search(/\S/)
      if (inner < 0) {
        this.at++
        items.push(this.block(indent + 1))
      } else if (KEY.test(rest.trimStart()) || rest.trimStart().startsWith("- ")) {
        this.lines[this.at] = `${" ".repeat(indent + 1)}${rest}`
        items.push(this.block(indent + 1))
      } else {
        this.at++
        items.push(this.scalar(rest.trimStart(), indent))
      }
    }
    return items
  }

  private map(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    while (this.indentHere() === indent) {
      const match = KEY.exec(this.lines[this.at]!.slice(indent))
      if (!match) break
      this.at++
      const [, single, double, plain, rest = ""] = match
      const key = single?.replaceAll("''", "'") ?? (double === undefined ? plain! : String(JSON.parse(`"${double}"`)))
      map[key] = rest === "" ? this.valueBelow(indent) : this.scalar(rest, indent)
    }
    return map
  }

  private valueBelow(indent: number): unknown {
    const next = this.indentHere()
    const isList = next === indent && /^-( |$)/.test(this.lines[this.at]!.slice(indent))
    return next > indent || isList ? this.block(isList ? indent : indent + 1) : null
  }

  private scalar(first: string, parent: number): unknown {
    const anchor = /^&(\S+)\s*(.*)$/.exec(first)
    if (anchor) {
      const value = anchor[2] === "" ? this.valueBelow(parent) : this.scalar(anchor[2]!, parent)
      this.anchors.set(anchor[1]!, value)
      return value
    }
    if (first.startsWith("*")) return this.anchors.get(first.slice(1).trim())
    if (first.startsWith("!!binary")) {
      const rest = first.slice("!!binary".length).trim()
      return Buffer.from(String(this.scalar(rest, parent)).replace(/\s/g, ""), "base64")
    }
    if (/^[|>]/.test(first)) return this.blockScalar(first, parent)
    if (first === "[]") return []
    if (first === "{}") return {}
    if (first[0] === "'") return this.quoted(first, parent, "'")
    if (first[0] === '"') return this.quoted(first, parent, '"')
    if (/^[[{!%@`]/.test(first)) throw new Error(`not in the subset: ${first.slice(0, 40)}`)
    return typed(fold([first, ...this.continuation(parent)]))
  }

  private continuation(parent: number): string[] {
    const lines: string[] = []
    let blank = 0
    for (let look = this.at; look < this.lines.length; look++) {
      const line = this.lines[look]!
      if (line.trim() === "") {
        blank++
        continue
      }
      if (line.search(/\S/) <= parent) break
      for (; blank > 0; blank--) lines.push("")
      lines.push(line)
      this.at = look + 1
    }
    return lines
  }

  private quoted(first: string, _parent: number, quote: string): string {
    const lines = [first.slice(1)]
    while (!closes(lines.at(-1)!, quote)) {
      if (this.at >= this.lines.length) throw new Error("a quoted text that does not end")
      lines.push(this.lines[this.at++]!)
    }
    lines[lines.length - 1] = lines.at(-1)!.trimEnd().slice(0, -1)
    if (quote === "'") return fold(lines, true).replaceAll("''", "'")
    return decodeEscapes(foldDouble(lines))
  }

  private blockScalar(header: string, parent: number): string {
    const lines: string[] = []
    let indent = /\d/.test(header) ? parent + Number(/\d/.exec(header)![0]) : -1
    for (; this.at < this.lines.length; this.at++) {
      const line = this.lines[this.at]!
      const here = line.search(/\S/)
      if (here >= 0 && here <= parent) break
      if (indent < 0 && here >= 0) indent = here
      lines.push(indent < 0 ? "" : line.slice(indent))
    }
    let kept = lines.length
    while (kept > 0 && lines[kept - 1] === "") kept--
    const body = lines.slice(0, kept)
    const text = header[0] === "|" ? body.join("\n") : fold(body, true)
    if (header.includes("-")) return text
    return header.includes("+") ? `${text}${"\n".repeat(lines.length - kept + 1)}` : `${text}\n`
  }
}

// A line of a quoted text ends it when an unpaired quote is the last thing on it.
function closes(line: string, quote: string): boolean {
  const trimmed = line.trimEnd()
  if (!trimmed.endsWith(quote)) return false
  if (quote === "'") return (/'+$/.exec(trimmed)![0].length & 1) === 1
  const slashes = /\\*$/.exec(trimmed.slice(0, -1))![0].length
  return (slashes & 1) === 0
}

// One line break is a blank, n + 1 of them are n line breaks.
function fold(lines: readonly string[], keepEnds = false): string {
  let text = keepEnds ? lines[0]! : lines[0]!.trim()
  let breaks = 0
  lines.slice(1).forEach((line, index) => {
    const isLast = index === lines.length - 2
    const trimmed = keepEnds && isLast ? line.trimStart() : line.trim()
    if (trimmed === "" && !isLast) {
      breaks++
      return
    }
    text = text.trimEnd() + (breaks === 0 ? " " : "\n".repeat(breaks)) + trimmed
    breaks = 0
  })
  return text
}

function foldDouble(lines: readonly string[]): string {
  let text = lines[0]!
  let breaks = 0
  for (const line of lines.slice(1)) {
    const trimmed = line.trimStart()
    if (trimmed === "") {
      breaks++
      continue
    }
    const isEscapedBreak = /(?:^|[^\\])(?:\\\\)*\\$/.test(text) && breaks === 0
    text = isEscapedBreak
      ? text.slice(0, -1) + trimmed
      : text.trimEnd() + (breaks === 0 ? " " : "\n".repeat(breaks)) + trimmed
    breaks = 0
  }
  return text
}

const ESCAPES: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "\0",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  v: "\v",
  _: "\u00a0",
  N: "\u0085",
  L: "\u2028",
  P: "\u2029",
}

function decodeEscapes(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g,
    (_all, x, u, long, char) => {
      const code = x ?? u ?? long
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
      return ESCAPES[char] ?? char
    },
  )
}

function typed(text: string): unknown {
  if (text === "null" || text === "~" || text === "") return null
  if (text === "true" || text === "false") return text === "true"
  if (/^[-+]?(\d+)$/.test(text)) return Number(text)
  if (/^[-+]?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?$/.test(text)) return Number(text)
  return text
}
