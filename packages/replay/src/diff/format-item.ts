import { cutToWidth, formatCount, formatDuration, recordedText, recordedWord } from "@orangebox/text"
import type { DiffItem, PayloadDiff, PayloadOp, RunDiff, SideOfDiff, StepOfDiff, TextHunk } from "../generated.js"

/**
 * `#18` where both runs have it there, `#18/#20` where not, `a#18` or `b#20` for a step of one run; `work#3` for a step of a run that the
 * compared one started.
 */
export function itemAddress({ a, b }: DiffItem): string {
  if (a && b) return stepAddress(a) === stepAddress(b) ? stepAddress(a) : `${stepAddress(a)}/${stepAddress(b)}`
  const step = (a ?? b)!
  return `${a ? "a" : "b"}${step.run === null ? "" : " "}${stepAddress(step)}`
}

export const stepAddress = ({ run, n }: StepOfDiff): string =>
  `${run === null ? "" : recordedWord(run.entrypoint, 40)}#${n}`

/** `model claude-x`, `tool [simulated] write_file (write)`. The mark stands before the name, where no cut can take it away. */
export function itemName(item: DiffItem): string {
  const { a, b, kind } = item
  const step = (b ?? a)!
  const name = a && b && a.name !== b.name ? `${word(a.name)} -> ${word(b.name)}` : word(step.name)
  const effect = effectWords(step)
  return `${kind}${modeWords(item)}${name === "" ? "" : ` ${name}`}${effect}`
}

const word = (name: string): string => (name === "" ? "" : recordedWord(name, 60))

function effectWords({ effect_class }: StepOfDiff): string {
  return effect_class === "write" || effect_class === "write_idempotent" ? " (write)" : ""
}

function modeWords({ a, b }: DiffItem): string {
  const modes = [a?.mode, b?.mode]
  if (modes.every((mode) => mode === undefined || mode === "live")) return ""
  if (a && b && a.mode !== b.mode) return ` [${a.mode} | ${b.mode}]`
  return ` [${(b ?? a)!.mode}]`
}

/** What differs, in a few words. */
export function changeWords(item: DiffItem): string {
  const { change, fields, noise, decision, a, b, kind } = item
  switch (change) {
    case "same":
      return "the same"
    case "noise":
      return `the same but for ${noise.map((field) => NOISE_WORDS[field]).join(", ")}`
    case "inserted":
      return "only in b"
    case "removed":
      return "only in a"
    case "reordered":
      return "another turn among concurrent steps"
    default: {
      const words = fields.map((field) => fieldWords(field, item))
      if (change === "moved") words.unshift(`moved from ${stepAddress(a!)} to ${stepAddress(b!)}`)
      if (kind === "model" && decision)
        return [...words.filter((said) => said !== "other answer"), decisionWords(decision)].join(", ")
      return words.join(", ")
    }
  }
}

const NOISE_WORDS = {
  name: "the name",
  input: "masked or unmeaning parts of the input",
  output: "ids and masked parts of the output",
  status: "the status",
  attempts: "the number of tries",
  wire: "its spelling on the wire",
} as const

function fieldWords(field: DiffItem["fields"][number], { a, b, kind, tiers, incidental }: DiffItem): string {
  switch (field) {
    case "name":
      return kind === "model" ? "other model" : "other name"
    case "input":
      return kind === "model" ? "other request" : kind === "run" ? "other input" : "other arguments"
    case "output":
      if (kind === "model") return tiers.includes("T0") ? "other wording" : "other answer"
      return incidental ? "other ids, times or figures" : "other result"
    case "status":
      return `${a!.status} -> ${b!.status}`
    default:
      return field
  }
}

function decisionWords({ a, b }: NonNullable<DiffItem["decision"]>): string {
  const list = (names: readonly string[]): string =>
    names.length === 0
      ? "nothing"
      : names.slice(0, 4).map(word).join("+") + (names.length > 4 ? `+${names.length - 4} more` : "")
  if (a.join("\n") === b.join("\n")) return a.length === 0 ? "other answer" : `calls ${list(a)} with other arguments`
  return `calls ${list(a)} -> ${list(b)}`
}

/** `origin T1`, `environment T2+T3`. */
export const weightWords = ({ cause, tiers }: DiffItem): string =>
  [cause, tiers.join("+")].filter((part) => part !== null && part !== "").join(" ")

/** One line for each operation of a payload diff, recorded text quoted. */
export function payloadLines(payload: PayloadDiff, width: number): string[] {
  const lines = payload.ops.map(
    (op) => `${payload.what}${op.ptr === "" ? "" : ` ${pointerWord(op.ptr)}`}: ${opWords(op, width)}`,
  )
  if (payload.form === "absent") lines.push(`${payload.what}: ${absentWords(payload)}`)
  if (payload.more > 0) lines.push(`${payload.what}: ${payload.more} more`)
  return lines
}

/** A pointer as it is, unless a key in it could be taken for something we said. */
export const pointerWord = (ptr: string): string =>
  /^[\w/~.-]+$/.test(ptr) ? cutToWidth(ptr, 80) : recordedText(ptr, 80)

/** What a payload repeats of earlier items, by their addresses. */
export function inheritWords(payload: PayloadDiff, items: RunDiff["items"]): string | undefined {
  if (payload.inherits.length === 0) return undefined
  const from = payload.inherits.map(({ item, parts }) => `${itemAddress(items[item]!)} (${parts})`)
  return `${payload.what}: inherits from ${from.join(", ")}`
}

function absentWords({ absent }: PayloadDiff): string {
  const sides = [absent?.a && `a ${absent.a}`, absent?.b && `b ${absent.b}`].filter(Boolean)
  return `bytes not there (${sides.join(", ")}), hashes differ`
}

export function opWords(op: PayloadOp, width: number): string {
  if (op.op === "add") return `+${recordedText(op.b ?? "", width)}`
  if (op.op === "remove") return `-${recordedText(op.a ?? "", width)}`
  if (op.text && op.text.form === "replaced") return `replaced (${op.text.chars_a} -> ${op.text.chars_b} chars)`
  if (op.text) {
    const shown = op.text.hunks.slice(0, 2).map((hunk) => hunkWords(hunk, width))
    const rest = op.text.hunks.length - shown.length + op.text.more
    return shown.join(" ; ") + (rest > 0 ? ` ; ${rest} more` : "")
  }
  return `${recordedText(op.a ?? "", width)} -> ${recordedText(op.b ?? "", width)}`
}

function hunkWords({ a, b }: TextHunk, width: number): string {
  if (a === "") return `+${recordedText(b, width)}`
  if (b === "") return `-${recordedText(a, width)}`
  return `${recordedText(a, width)} -> ${recordedText(b, width)}`
}

export function outcomeWords({ a, b, fields, files }: RunDiff["outcome"], width: number): string {
  const words: string[] = []
  if (fields.includes("status")) words.push(`${a.status} -> ${b.status}`)
  if (fields.includes("error")) words.push(`error ${errorWords(a, width)} -> ${errorWords(b, width)}`)
  if (fields.includes("exit")) words.push(`exit code ${a.exit_code ?? "?"} -> ${b.exit_code ?? "?"}`)
  if (fields.includes("output")) words.push(`output ${quotedOr(a.text, width)} -> ${quotedOr(b.text, width)}`)
  if (files && fields.includes("files")) words.push(`files ${fileWords(files)}`)
  return words.join(" ; ")
}

const SHOWN_FILES = 4

function fileWords({ differing, more }: NonNullable<RunDiff["outcome"]["files"]>): string {
  const shown = differing.slice(0, SHOWN_FILES).map(({ path, a, b }) => {
    const side = a === null ? " (only b changed it)" : b === null ? " (only a changed it)" : ""
    return `${recordedWord(path, 60)}${side}`
  })
  const rest = differing.length - shown.length + more
  return `${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

function errorWords({ error_class, error }: RunDiff["outcome"]["a"], width: number): string {
  if (error_class === null) return error === null ? "none" : recordedText(error, width)
  return `${recordedWord(error_class, 60)}${error === null ? "" : ` ${recordedText(error, width)}`}`
}

const quotedOr = (text: string | null, width: number): string => (text === null ? "?" : recordedText(text, width))

export const REGIME_WORDS = { R1: "related runs", R2: "unrelated runs" } as const

/** Why no root is named. */
const ROOT_ABSENT_WORDS: Readonly<Record<NonNullable<RunDiff["root_absent"]>, string>> = {
  no_difference: "no step differs",
  no_common_prefix: "the runs have too little in common to say where they went apart",
  resynced: "every difference is followed by calls that do the same, and the runs end alike",
  no_origin: "nothing else was decided, seen or done",
  undecided: "an earlier difference may have led to a later one, and the record does not say whether it did",
}

/** `no root: …; to find out, fork b at #12`. Undefined where there is one, or where nothing differs. */
export function rootAbsentWords({ root_absent, would_decide, items }: RunDiff): string | undefined {
  if (root_absent === null || root_absent === "no_difference") return undefined
  const ways = would_decide.map(({ item }) => (item === null ? "compare with a good run" : forkWords(items[item]!)))
  return `${ROOT_ABSENT_WORDS[root_absent]}${ways.length === 0 ? "" : `; to find out, ${ways.join(" or ")}`}`
}

const forkWords = ({ a, b }: DiffItem): string => (b ? `fork b at ${stepAddress(b)}` : `fork a at ${stepAddress(a!)}`)

/** `compared 25/28: same 17 noise 2 changed 6 +3 -5 moved 1`: zeros are left out but for the first. */
export function countWords({ stats, a, b }: RunDiff): string {
  const words = [`compared ${a.compared}/${b.compared}: same ${stats.same}`]
  if (stats.noise > 0) words.push(`noise ${stats.noise}`)
  if (stats.changed > 0) words.push(`changed ${stats.changed}`)
  if (stats.inserted > 0) words.push(`+${stats.inserted}`)
  if (stats.removed > 0) words.push(`-${stats.removed}`)
  if (stats.moved > 0) words.push(`moved ${stats.moved}`)
  if (stats.reordered > 0) words.push(`reordered ${stats.reordered}`)
  return words.join(" ")
}

/** Tokens and time of both runs. Numbers are shown; they never decide what differs. */
export function figureWords({ a, b }: RunDiff): string {
  const tokens = (side: SideOfDiff): string => `${formatCount(side.tokens_in)} in ${formatCount(side.tokens_out)} out`
  const time = (side: SideOfDiff): string => formatDuration(side.duration_us ?? undefined)
  return `tokens ${tokens(a)} -> ${tokens(b)} ; time ${time(a)} -> ${time(b)}`
}

/** Where a replay came from; undefined for a run of its own. */
export function replayWords(label: string, { replay }: SideOfDiff): string | undefined {
  if (!replay) return undefined
  const { override_profile_id: profile, source_run_id, reason } = replay
  const changed = profile === null ? "" : `, override ${profile.slice(0, 19)}…`
  return `${label} replays ${recordedWord(source_run_id, 40)} (${recordedWord(reason, 20)}${changed})`
}
