import { InputError } from "@orangebox/contract"
import type { DiffItem, PayloadDiff, PayloadOp, RunDiff, StepOfDiff } from "@orangebox/replay"
import {
  formatCount,
  formatDuration,
  type Painter,
  plural,
  recordedText,
  recordedWord,
  safeLine,
} from "@orangebox/text"

/** A step of a diff: of the first run, of the second, or of either. */
export interface StepAt {
  readonly side: "a" | "b" | undefined
  readonly n: number
}

export interface ItemAt {
  /** Its place in the diff's `items`. */
  readonly index: number
  readonly item: DiffItem
}

/** The items that hold a step: one, or two where the number stands for different steps of the two runs. */
export function itemsAt(diff: RunDiff, { side, n }: StepAt): ItemAt[] {
  const holds = ({ a, b }: DiffItem): boolean => (side !== "b" && a?.n === n) || (side !== "a" && b?.n === n)
  const found = diff.items.flatMap((item, index) => (holds(item) ? [{ index, item }] : []))
  if (found.length > 0) return found
  const most = (of: "a" | "b"): number => diff.items.reduce((last, item) => Math.max(last, item[of]?.n ?? 0), 0)
  throw new InputError("STEP_NUMBER", {
    what: `no step #${n} is compared${side === undefined ? "" : ` in ${side}`}: the last is #${most("a")} in a and #${most("b")} in b`,
    next: "See which differ with the same command without --at",
  })
}

/** Everything the diff knows about some items, as long as it takes. */
export function itemsText(diff: RunDiff, items: readonly ItemAt[], places: Places, paint: Painter): string {
  return items.map(({ item, index }) => itemText(diff, item, index, places, paint)).join("\n\n")
}

/** How the runs are written in the commands we suggest. */
export interface Places {
  readonly a: string
  readonly b: string
}

function itemText(diff: RunDiff, item: DiffItem, index: number, places: Places, paint: Painter): string {
  const marks = [
    ...(index === diff.root ? ["ROOT"] : []),
    ...(index === diff.first ? ["FIRST"] : []),
    ...(index === diff.decisive?.item ? [diff.decisive.effect === "write" ? "DECISIVE" : "DECISIVE?"] : []),
  ]
  const weight = [item.change, item.cause, ...item.tiers, ...item.fields.map((field) => `other ${field}`)]
  const lines = [
    paint(`${[...marks, item.kind, weight.filter((word) => word !== null).join(" · ")].join(" ")}`, "heading"),
    ...sideLines("a", item.a),
    ...sideLines("b", item.b),
  ]
  if (item.decision) lines.push(decisionWords(item.decision))
  if (item.payloads === null && item.cause !== null)
    lines.push("its payloads were not compared: there is too much of them")
  for (const payload of item.payloads ?? []) lines.push(...payloadLines(payload, diff, paint))
  // The last word of a place is its run; what stands before says in which data folder that is.
  const place = (run: string, step: StepOfDiff | null) =>
    step && `${step.run === null ? run : run.replace(/\S+$/, step.run.run_id)}#${step.n}`
  const bodies = [place(places.a, item.a), place(places.b, item.b)]
  lines.push(paint(`next: ${bodies.flatMap((place) => (place ? [`orangebox step ${place}`] : [])).join(" · ")}`, "dim"))
  return lines.join("\n")
}

function sideLines(label: string, step: StepOfDiff | null): string[] {
  if (!step) return [`${label}  not there`]
  const facts = [
    step.name === "" ? "" : recordedWord(step.name, 60),
    step.status,
    step.mode === "live" ? "" : `[${step.mode}]`,
    step.effect_class === null ? "" : `(${recordedWord(step.effect_class, 20)})`,
    step.attempts > 1 ? plural(step.attempts, "try", "tries") : "",
    step.duration_us === null ? "" : formatDuration(step.duration_us),
    step.tokens_in === null && step.tokens_out === null
      ? ""
      : `${formatCount(step.tokens_in)} in ${formatCount(step.tokens_out)} out`,
  ]
  const inside = step.run === null ? "" : recordedWord(step.run.entrypoint, 40)
  return [`${label}  ${inside}#${step.n} ${facts.filter((fact) => fact !== "").join(" · ")}`]
}

function decisionWords({ a, b }: NonNullable<DiffItem["decision"]>): string {
  const [before, after] = [callWords(a), callWords(b)]
  return `calls  ${before === after ? before : `${before} -> ${after}`}`
}

const callWords = (names: readonly string[]): string =>
  names.length === 0 ? "nothing" : names.map((name) => recordedWord(name, 60)).join(" + ")

function payloadLines(payload: PayloadDiff, { items }: RunDiff, paint: Painter): string[] {
  const lines = [`${payload.what}`]
  for (const op of payload.ops) lines.push(...opLines(op, paint))
  if (payload.more > 0) lines.push(`  … ${payload.more} more`)
  for (const { item, parts } of payload.inherits) {
    const { a, b } = items[item]!
    lines.push(paint(`  ${plural(parts, "part")} as at #${(a ?? b)!.n}`, "dim"))
  }
  if (payload.form === "absent") {
    const why = (side: string | null): string => (side === null ? "there" : side)
    const { a = null, b = null } = payload.absent ?? {}
    lines.push(`  the bytes are not all here (a ${why(a)}, b ${why(b)}): their hashes differ`)
  }
  return lines
}

function opLines(op: PayloadOp, paint: Painter): string[] {
  const lines = [paint(`  ${op.op} ${op.ptr === "" ? "all of it" : safeLine(op.ptr)}`, "dim")]
  if (op.text?.form === "words") {
    for (const hunk of op.text.hunks) {
      if (hunk.before !== "") lines.push(paint(`    … ${recordedText(hunk.before)}`, "dim"))
      if (hunk.a !== "") lines.push(paint(`    - ${recordedText(hunk.a)}`, "bad"))
      if (hunk.b !== "") lines.push(paint(`    + ${recordedText(hunk.b)}`, "number"))
    }
    if (op.text.more > 0) lines.push(`    … ${op.text.more} more`)
    return lines
  }
  if (op.a !== null) lines.push(paint(`    - ${recordedText(op.a)}`, "bad"))
  if (op.b !== null) lines.push(paint(`    + ${recordedText(op.b)}`, "number"))
  return lines
}
