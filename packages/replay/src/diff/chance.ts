import { canonicalJsonNode, type JsonNode, readJson } from "@orangebox/contract"
import { maskText } from "@orangebox/dialects"

/*
 * What is other in every run without anybody having decided it: ids that were made up, times, and the words in which a model says why it
 * does something. Two runs still differ in it, and the diff says so; it is only no place where they can have gone apart.
 */

/** What came back from the world, without ids and times. */
export function observed(text: string): string {
  return replaceAll(maskValues(text), OBSERVED).replace(WORD_WITH_DIGITS, (word) => (looksMadeUp(word) ? "<id>" : word))
}

const maskValues = maskText(["harness_line", "uuid", "iso_date", "epoch_ms", "git_sha", "hex", "port"])

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
const OBSERVED: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?${MONTH} {1,2}\\d{1,2}(?:,? \\d{4})?\\b`, "g"),
    "<date>",
  ],
  [/\b(?:id|pid|job|request|session|run|build|task|process|thread|port|trace)s?[ :=#-]{1,3}\d+\b/gi, "<id>"],
  [/(?<![\w:.])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?![\w:])/g, "<time>"],
  [/\b\d+m ?\d+(?:\.\d+)?s\b/g, "<duration>"],
  [/\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|hours?)\b/g, "<duration>"],
  [/\b\d+(?:\.\d+)? ?[kKMG]?i?B\/s\b/g, "<speed>"],
]
const TEMPORARY =
  /(?:\/private)?\/(?:tmp|var\/folders|var\/tmp|dev\/shm)\/[\w.@+-]+(?:\/[\w.@+-]+)*?(?=\/|[^\w.@+/-]|$)/g

const WORD_WITH_DIGITS = /\b(?=[A-Za-z_]*\d)[A-Za-z0-9]{5,}\b/g

/** `8f3a2c`, `01JT9QK2` and process numbers; not `utf8`, `config12`, `1042`. */
const looksMadeUp = (word: string): boolean =>
  /^\d+$/.test(word) || (word.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g)?.length ?? 0) >= 3

/**
 * A call's arguments without what was made up for them. Narrower than what is taken out of a result: a day, a number or a short name in an
 * argument is a decision.
 */
export function decided(argumentsText: string): string {
  return replaceAll(maskIds(withoutReasons(argumentsText)), DECIDED)
}

const maskIds = maskText(["uuid", "epoch_ms", "git_sha", "hex"])
const DECIDED: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?/g, "<time>"],
  [TEMPORARY, "<temporary>"],
]

const replaceAll = (text: string, patterns: readonly (readonly [RegExp, string])[]): string =>
  patterns.reduce((masked, [pattern, name]) => masked.replace(pattern, name), text)

/** Arguments in which coding agents have a model say what a call is for. Nothing is done with them but show them. */
const REASONS: ReadonlySet<string> = new Set([
  "description",
  "explanation",
  "justification",
  "rationale",
  "reason",
  "thought",
])

function withoutReasons(text: string): string {
  const reading = readJson(text)
  if (!reading.ok || reading.node.kind !== "object") return text
  const members = reading.node.members.filter(({ key, value }) => !(REASONS.has(key) && isSentence(value)))
  return canonicalJsonNode({ ...reading.node, members })
}

const isSentence = (node: JsonNode): boolean => node.kind === "string" && /\S\s+\S/.test(node.value)

/** Values of either text that the masks of a decision hide, each once. */
export function madeUpIn(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const [value] of text.matchAll(MADE_UP)) found.add(value)
  return found
}

const MADE_UP = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b1[5-9]\d{11}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b/gi
