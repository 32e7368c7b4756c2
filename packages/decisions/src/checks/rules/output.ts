import { MASK_MIDDLE } from "@orangebox/contract"
import type { Action, ActionText } from "../../action.js"
import { holdsMask } from "../../captured-text.js"
import { pointAt } from "../../evidence.js"
import { readJsonSchema, schemaProblems } from "../json-schema-subset.js"
import {
  type Answer,
  type ArgumentProblem,
  defineRule,
  type Finding,
  noArguments,
  oneNumber,
  PASSED,
  unknownAnswer,
} from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface JsonArgument {
  readonly schema: object | undefined
}

export const outputJson = defineRule<JsonArgument>({
  name: "output.json",
  form: "output.json [<JSON Schema>]",
  about: "The final output is one JSON text and nothing else; with a schema, one that fits it",
  example: 'output.json {"type":"object","required":["summary"],"properties":{"summary":{"type":"string"}}}',
  concerns: ["alignment", "quality"],
  judged: "after",
  read: readSchema,
  onAction: ({ schema }, { action }) =>
    judgeOutput(action, isFinal, (text, ref) => {
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch {
        const found = /[{[]/.test(text) ? "the output holds more than one JSON text" : "the output is not JSON"
        return [finding(action, ref, text, 0, Math.min(text.length, 80), found)]
      }
      if (schema === undefined) return []
      return schemaProblems(schema, value).map(({ pointer, reason }) =>
        finding(action, ref, text, 0, 0, `the output at ${pointer || "/"} ${reason}`),
      )
    }),
})

export const outputNoEmoji = defineRule({
  name: "output.no_emoji",
  form: "output.no_emoji",
  about: "What the agent says holds no emoji",
  example: "output.no_emoji",
  concerns: ["alignment"],
  judged: "after",
  read: noArguments,
  onAction: (_, { action }) =>
    judgeOutput(action, isSaid, (text, ref) => {
      EMOJI.lastIndex = 0
      const match = EMOJI.exec(text)
      if (match === null) return []
      return [finding(action, ref, text, match.index, match.index + match[0].length, "the output contains emoji")]
    }),
})

export const outputMaxChars = defineRule({
  name: "output.max_chars",
  form: "output.max_chars <number>",
  about: "The final output is no longer than this many characters",
  example: "output.max_chars 4000",
  concerns: ["alignment", "quality"],
  judged: "after",
  read: (text) => oneNumber(text, "the number of characters"),
  onAction: ({ limit }, { action }) =>
    judgeOutput(action, isFinal, (text, ref) => {
      const count = leastCharacters(text)
      if (count <= limit) return []
      return [
        finding(action, ref, text, 0, 0, `the output is ${count} characters long, ${count - limit} more than allowed`),
      ]
    }),
})

// Pictures that show as such without being asked, keycaps, flags, and characters asked to show as one; digits, ©, ™ and arrows are text.
const EMOJI =
  /\p{Emoji_Presentation}(?:\p{Emoji_Modifier}|\ufe0f|\u200d\p{Extended_Pictographic})*|\p{Emoji}\ufe0f\u20e3?|[\u{1f1e6}-\u{1f1ff}]{2}/gu

/** The last word of a run, or a message to the user: what "the output" means to the user. */
const isFinal = (action: Action): boolean => action.boundary === "output" || action.isFinal === true
const isSaid = (action: Action): boolean => action.output !== null

function judgeOutput(
  action: Action,
  applies: (action: Action) => boolean,
  judge: (text: string, ref: string | null) => readonly Finding[],
): Answer | undefined {
  if (!applies(action)) return undefined
  const output: ActionText | null = action.output
  if (output === null || output.text === null) return unknownAnswer("the output is not kept")
  const findings = judge(output.text, output.ref)
  if (findings.length > 0) return { findings }
  return holdsMask(output.text) ? unknownAnswer("a part of the output was masked when it was recorded") : PASSED
}

function finding(
  action: Action,
  ref: string | null,
  text: string,
  start: number,
  end: number,
  message: string,
): Finding {
  const pointer =
    ref === null || end === 0 ? { stepId: action.stepId, ref } : pointAt(action.stepId, ref, text, start, end)
  return { certainty: "sure", message, excerpt: text.slice(start, end === 0 ? 120 : end), pointers: [pointer] }
}

/** A mask may be longer than the secret was, but hardly a secret had no character at all. */
function leastCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  const masks = text.split(MASK_MIDDLE).length - 1
  return count - masks * (MASK_MIDDLE.length - 1)
}

function readSchema(text: RuleText): JsonArgument | ArgumentProblem {
  const { text: source, position } = text.rest
  if (source === "") return { schema: undefined }
  const inline =
    text.options.get("schema")?.[0]?.text ?? (/^["']/.test(source) ? text.values[0]?.text : source) ?? source
  let schema: unknown
  try {
    schema = JSON.parse(inline)
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it does not parse"
    return { position, reason: `the schema is not JSON: ${reason.slice(0, 120)}` }
  }
  const read = readJsonSchema(schema)
  return "reason" in read ? { position, reason: `the schema cannot be used: ${read.reason}` } : { schema: read.schema }
}
