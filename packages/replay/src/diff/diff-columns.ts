import {
  cutToWidth,
  displayWidth,
  fitLines,
  formatDuration,
  type Painter,
  type PaintRole,
  padToWidth,
  plural,
  recordedWord,
  safeLine,
} from "@orangebox/text"
import type { Change, DiffItem, PayloadDiff, RunDiff, StepOfDiff, TextHunk, Tier } from "../generated.js"
import {
  changeWords,
  countWords,
  figureWords,
  inheritWords,
  itemAddress,
  opWords,
  outcomeWords,
  REGIME_WORDS,
  replayWords,
  rootAbsentWords,
  stepAddress,
  weightWords,
} from "./format-item.js"

export interface ColumnOptions {
  /** Columns of the terminal; at least `MIN_COLUMNS`. Default 100. */
  readonly width?: number
  readonly color?: Painter
  /** Hides nothing: steps that are the same, noise, every operation. */
  readonly all?: boolean
  /** Only differences of these tiers. */
  readonly tiers?: readonly Tier[]
}

export const MIN_COLUMNS = 60

/** Two runs side by side: the first on the left, the second on the right, what is the same folded away. No line is wider than asked for. */
export function diffColumns(diff: RunDiff, options: ColumnOptions = {}): string {
  const width = Math.max(options.width ?? 100, MIN_COLUMNS)
  const page = new Page(width, options.color ?? ((text) => text))
  const shown = (item: DiffItem): boolean => isShown(item, options)
  const hidden = diff.items.filter((item) => !shown(item)).length
  writeHead(page, diff, hidden)
  let folded: DiffItem[] = []
  const fold = (): void => {
    if (folded.length > 0) page.full(foldWords(folded), "dim")
    folded = []
  }
  diff.items.forEach((item, index) => {
    if (!shown(item)) {
      folded.push(item)
      return
    }
    fold()
    writeItem(page, diff, item, index, options.all === true)
  })
  fold()
  if (diff.outcome.differs) page.full(`outcome  ${outcomeWords(diff.outcome, Math.floor(width / 3))}`, "bad")
  return page.text()
}

function isShown(item: DiffItem, { all, tiers }: ColumnOptions): boolean {
  if (all) return true
  if (item.cause === null) return false
  return tiers === undefined || item.tiers.some((tier) => tiers.includes(tier))
}

function writeHead(page: Page, diff: RunDiff, hidden: number): void {
  const { a, b } = diff
  page.head(`a  ${a.run_id ?? "?"}  ${a.status}`, `b  ${b.run_id ?? "?"}  ${b.status}`)
  page.full(
    `${diff.verdict} · ${REGIME_WORDS[diff.regime]} · ${countWords(diff)}${hidden > 0 ? ` · ${plural(hidden, "item")} hidden (--all)` : ""}`,
    "dim",
  )
  const absent = rootAbsentWords(diff)
  if (absent !== undefined) page.full(`no root: ${absent}`, "dim")
  page.full(figureWords(diff), "dim")
  for (const words of [replayWords("a", a), replayWords("b", b)]) if (words !== undefined) page.full(words, "dim")
  for (const note of diff.notes) page.full(`${note.code}: ${note.text}`, "warn")
}

function foldWords(items: readonly DiffItem[]): string {
  const counts = new Map<Change, number>()
  for (const { change } of items) counts.set(change, (counts.get(change) ?? 0) + 1)
  const [first, last] = [itemAddress(items[0]!), itemAddress(items.at(-1)!)]
  const range = items.length === 1 ? first : `${first}..${last}`
  return `   ${range} … ${[...counts].map(([change, count]) => `${count} ${change}`).join(", ")}`
}

const SIGNS: Readonly<Record<Change, string>> = {
  same: "=",
  noise: "~",
  changed: "|",
  removed: "<",
  inserted: ">",
  moved: "^",
  reordered: "%",
}

function writeItem(page: Page, diff: RunDiff, item: DiffItem, index: number, all: boolean): void {
  const role =
    item.cause === null ? "dim" : item.change === "inserted" || item.change === "removed" ? "warn" : undefined
  page.row(cellOf(item, item.a), SIGNS[item.change], cellOf(item, item.b), role)
  if (item.cause === null) return
  const marks = [
    index === diff.root ? "ROOT" : index === diff.first ? "FIRST" : "",
    index === diff.decisive?.item ? (diff.decisive.effect === "write" ? "DECISIVE" : "DECISIVE?") : "",
    weightWords(item),
    changeWords(item),
  ].filter((mark) => mark !== "")
  page.full(`     ${marks.join(" · ")}`, index === diff.root || index === diff.first ? "bad" : "dim")
  for (const payload of item.payloads ?? []) writePayload(page, payload, diff, all)
  if (diff.carry?.from === index) {
    const { value, to } = diff.carry
    page.full(`     carries ${recordedWord(value, 60)} to ${itemAddress(diff.items[to]!)}`, "warn")
  }
}

function cellOf({ kind }: DiffItem, step: StepOfDiff | null): string {
  if (!step) return ""
  const mode = step.mode === "live" ? "" : ` [${step.mode}]`
  const status = step.status === "success" ? "" : ` ✗ ${step.status}`
  const tries = step.attempts > 1 ? ` ×${step.attempts}` : ""
  const time = step.duration_us === null ? "" : ` ${formatDuration(step.duration_us)}`
  const name = step.name === "" ? "" : ` ${recordedWord(step.name, 40)}`
  return `${stepAddress(step)} ${kind}${mode}${name}${status}${tries}${time}`
}

const SHOWN_OPS = 6

function writePayload(page: Page, payload: PayloadDiff, diff: RunDiff, all: boolean): void {
  const ops = all ? payload.ops : payload.ops.slice(0, SHOWN_OPS)
  for (const op of ops) {
    const label = `       ${payload.what}${op.ptr === "" ? "" : ` ${safeLine(op.ptr)}`}`
    if (op.op === "change" && op.text?.form === "words") {
      page.full(label, "dim")
      for (const hunk of op.text.hunks.slice(0, all ? undefined : 3)) {
        page.words("         ", hunk)
      }
      const rest =
        op.text.hunks.length - (all ? op.text.hunks.length : Math.min(3, op.text.hunks.length)) + op.text.more
      if (rest > 0) page.full(`         … ${rest} more`, "dim")
    } else {
      const room = page.width - displayWidth(label) - 3
      const words = opWords(op, op.op === "change" ? Math.floor(room / 2) - 2 : room)
      page.cut(`${label}: ${words}`, op.op === "remove" ? "bad" : undefined)
    }
  }
  const rest = payload.ops.length - ops.length + payload.more
  if (rest > 0) page.full(`       … ${rest} more in ${payload.what}`, "dim")
  const inherits = inheritWords(payload, diff.items)
  if (inherits !== undefined) page.full(`       ${inherits}`, "dim")
  if (payload.form === "absent") page.full(`       ${payload.what}: bytes not there, hashes differ`, "dim")
}

/** Lines no wider than the page. Widths are measured before anything is coloured. */
class Page {
  readonly width: number
  readonly #paint: Painter
  readonly #lines: string[] = []

  constructor(width: number, paint: Painter) {
    this.width = width
    this.#paint = paint
  }

  row(left: string, sign: string, right: string, role: PaintRole | undefined): void {
    const column = this.#column()
    const cells = `${padToWidth(cutToWidth(left, column), column)} ${sign} ${cutToWidth(right, column)}`.trimEnd()
    this.#push(cells, role)
  }

  /** Both runs: side by side where there is room for their ids. */
  head(left: string, right: string): void {
    const column = this.#column()
    if (displayWidth(left) <= column && displayWidth(right) <= column) this.row(left, " ", right, "heading")
    else for (const side of [left, right]) this.full(side, "heading")
  }

  /** Our own words, whole: in several lines where one is too narrow. */
  full(text: string, role: PaintRole | undefined): void {
    for (const line of fitLines(text, this.width).split("\n")) this.#push(line, role)
  }

  /** A line that ends in recorded text. */
  cut(text: string, role: PaintRole | undefined): void {
    this.#push(cutToWidth(text, this.width), role)
  }

  /** A change within a text: `… before [-old-]{+new+}`, as word diffs are written. */
  words(indent: string, { at, before, a, b }: TextHunk): void {
    const isStart = at === before.length
    const changes = [
      { text: a, open: "[-", close: "-]", role: "bad" as const },
      { text: b, open: "{+", close: "+}", role: "number" as const },
    ].filter(({ text }) => text !== "")
    const room = this.width - indent.length
    const lead = leadOf(safeLine(before), isStart, Math.floor(room / (changes.length + 1)))
    let left = room - displayWidth(lead)
    let line = indent + this.#paint(lead, "dim")
    changes.forEach(({ text, open, close, role }, index) => {
      // What was taken out leaves as much room for what came.
      const share = Math.floor(left / (changes.length - index)) - open.length - close.length
      const marked = `${open}${cutToWidth(safeLine(text), share)}${close}`
      left -= displayWidth(marked)
      line += this.#paint(marked, role)
    })
    this.#lines.push(line)
  }

  #column(): number {
    return Math.floor((this.width - 3) / 2)
  }

  #push(line: string, role: PaintRole | undefined): void {
    this.#lines.push(role ? this.#paint(line, role) : line)
  }

  text(): string {
    return this.#lines.join("\n")
  }
}

/** The last words before a change, as many as there is room for. */
function leadOf(before: string, isStart: boolean, width: number): string {
  if (before === "") return ""
  if (isStart && displayWidth(before) <= width) return before
  const words = before.split(" ")
  while (words.length > 2 && displayWidth(words.join(" ")) + 2 > width) words.shift()
  return `… ${cutToWidth(words.join(" "), Math.max(8, width - 2))}`
}
