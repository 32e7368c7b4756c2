import type {
  BundleContext,
  EvidenceText,
  InputText,
  OutcomeRecord,
  StepAwarenessBundle,
  TrendSummary,
} from "./bundle.js"
import { type Json, spacedJson } from "./plain-json.js"

/** Which share of the budget a section draws on. */
export type Share = "tier0" | "tier1" | "history" | "telemetry"

/** What one item is to each section of the prompt. */
interface SectionValues {
  readonly mission: string
  readonly schema_excerpt: string
  readonly grammar_name: string
  readonly contracts: string
  readonly guardrails: string
  readonly objective: string
  readonly invariants: string
  readonly inputs_summary: Entry
  readonly evaluation_summary: Entry
  readonly inputs: InputText
  readonly recent_outcomes: OutcomeRecord
  readonly evidence: EvidenceText
  readonly trend_summary: TrendSummary
  readonly open_incidents: string
}
export interface Entry {
  readonly key: string
  readonly value: Json
}

export type SectionName = keyof SectionValues

/** One item in its section. */
export type Placed = { [S in SectionName]: { readonly section: S; readonly value: SectionValues[S] } }[SectionName]

/**
 * The order of the prompt. What depends on the stage alone stands first: it is the prefix a provider can cache. What the caller wants of this
 * one call comes behind it, and is as little left out as the rest of tier 0.
 */
export const SECTIONS: { readonly [S in SectionName]: { readonly share: Share; readonly heading: string } } = {
  mission: { share: "tier0", heading: "Mission" },
  schema_excerpt: { share: "tier0", heading: "Output schema" },
  grammar_name: { share: "tier0", heading: "Output grammar" },
  contracts: { share: "tier0", heading: "Authority contracts" },
  guardrails: { share: "tier0", heading: "Guardrails" },
  objective: { share: "tier0", heading: "Objective" },
  invariants: { share: "tier0", heading: "Invariants" },
  inputs_summary: { share: "tier1", heading: "Step inputs" },
  evaluation_summary: { share: "tier1", heading: "Evaluation" },
  inputs: { share: "tier1", heading: "Inputs" },
  recent_outcomes: { share: "history", heading: "Recent outcomes, newest first" },
  evidence: { share: "history", heading: "Evidence" },
  trend_summary: { share: "telemetry", heading: "Trends, oldest value first" },
  open_incidents: { share: "telemetry", heading: "Open incidents" },
}

export const SECTION_ORDER = Object.keys(SECTIONS) as readonly SectionName[]

/** Whether an item is the same in every prompt of its stage. */
export const isOfPrefix = ({ section }: Placed): boolean =>
  SECTIONS[section].share === "tier0" && section !== "objective" && section !== "invariants"

/** The text of an item below its section's heading. */
export function itemText(item: Placed): string {
  switch (item.section) {
    case "mission":
    case "schema_excerpt":
    case "grammar_name":
      return `${item.value}\n`
    case "objective":
      return inBlock(item.value)
    case "contracts":
    case "guardrails":
    case "invariants":
    case "open_incidents":
      return `- ${oneLine(item.value)}\n`
    case "inputs_summary":
    case "evaluation_summary":
      return `- ${oneLine(item.value.key)}: ${withoutBreaks(spacedJson(item.value.value))}\n`
    case "inputs":
    case "evidence":
      return `## ${oneLine(item.value.title)}\n${inBlock(item.value.text)}`
    case "recent_outcomes": {
      const { step, result, key_metric, metric_delta } = item.value
      return `- step ${oneLine(String(step))}: ${oneLine(result)}, ${oneLine(key_metric)} ${signed(metric_delta)}\n`
    }
    case "trend_summary": {
      const { metric_name, direction, recent_values } = item.value
      return `- ${oneLine(metric_name)} ${direction}: ${recent_values.join(", ")}\n`
    }
  }
}

/**
 * An item as it stands in the prompt. The first one of a section brings the heading along. Half a surrogate pair has no UTF-8 form, so it
 * is replaced here, once for every text: the bytes that are stored are then the prompt that was sent.
 */
export function pieceText(item: Placed, opensSection: boolean): string {
  const text = itemText(item).toWellFormed()
  if (!opensSection) return text
  const gap = item.section === SECTION_ORDER[0] ? "" : "\n"
  return `${gap}# ${SECTIONS[item.section].heading}\n${text}`
}

/** The pieces whose concatenation is the prompt. */
export function piecesOf(items: readonly Placed[]): string[] {
  return items.map((item, index) => pieceText(item, items[index - 1]?.section !== item.section))
}

/** The prompt of a bundle: the same bytes for the same context, whatever the time, the run or the process. */
export function renderPromptFromBundle(bundle: StepAwarenessBundle): string {
  return piecesOf(itemsOf(bundle.context)).join("")
}

/** The context as items in prompt order; the inverse of `contextOf`. */
export function itemsOf(context: BundleContext): Placed[] {
  return SECTION_ORDER.flatMap((section) => valuesOf(context[section]).map((value) => ({ section, value }) as Placed))
}

/** A section holds one text, a list, or named entries; an empty one holds no item. */
function valuesOf(held: BundleContext[SectionName] | undefined): readonly unknown[] {
  if (held === undefined || held === null || held === "") return []
  if (typeof held === "string") return [held]
  return Array.isArray(held) ? held : Object.entries(held).map(([key, value]) => ({ key, value }))
}

/** The context that holds exactly these items; the inverse of `itemsOf`. */
export function contextOf(items: readonly Placed[]): BundleContext {
  const all = <S extends SectionName>(section: S): SectionValues[S][] =>
    items.filter((item) => item.section === section).map((item) => item.value as SectionValues[S])
  const entries = (section: "inputs_summary" | "evaluation_summary"): Record<string, Json> =>
    Object.fromEntries(all(section).map(({ key, value }) => [key, value]))
  const [inputs, evidence, invariants] = [all("inputs"), all("evidence"), all("invariants")]
  const [objective] = all("objective")
  return {
    mission: all("mission")[0] ?? "",
    schema_excerpt: all("schema_excerpt")[0] ?? "",
    grammar_name: all("grammar_name")[0] ?? null,
    contracts: all("contracts"),
    guardrails: all("guardrails"),
    ...(objective !== undefined && { objective }),
    ...(invariants.length > 0 && { invariants }),
    inputs_summary: entries("inputs_summary"),
    evaluation_summary: entries("evaluation_summary"),
    ...(inputs.length > 0 && { inputs }),
    recent_outcomes: all("recent_outcomes"),
    ...(evidence.length > 0 && { evidence }),
    trend_summary: all("trend_summary"),
    open_incidents: all("open_incidents"),
  }
}

// Recorded text must not open a section of its own. So a line break never brings it to the left margin, whatever character makes the break:
// what is one line stays one, JSON spells the breaks that it would let stand, and a text of many lines is set in from the margin as a whole,
// which can be undone and needs no mark that the text could spell.
export const oneLine = (text: string): string => text.replace(/[\s\u0085\u001c-\u001e]+/g, " ").trim()
const withoutBreaks = (json: string): string =>
  json.replace(/[\u0085\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
const inBlock = (text: string): string => `${MARGIN}${text.replace(LINE_BREAK, `$&${MARGIN}`)}\n`
const MARGIN = "    "
const LINE_BREAK = /\r\n|[\n\v\f\r\u001c-\u001e\u0085\u2028\u2029]/g

const signed = (delta: number | null): string => (delta === null ? "unknown" : delta > 0 ? `+${delta}` : String(delta))
