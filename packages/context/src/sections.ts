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

/** The order of the prompt. Tier 0 stands first and depends on the stage alone: it is the prefix a provider can cache. */
export const SECTIONS: { readonly [S in SectionName]: { readonly share: Share; readonly heading: string } } = {
  mission: { share: "tier0", heading: "Mission" },
  schema_excerpt: { share: "tier0", heading: "Output schema" },
  grammar_name: { share: "tier0", heading: "Output grammar" },
  contracts: { share: "tier0", heading: "Authority contracts" },
  guardrails: { share: "tier0", heading: "Guardrails" },
  inputs_summary: { share: "tier1", heading: "Step inputs" },
  evaluation_summary: { share: "tier1", heading: "Evaluation" },
  inputs: { share: "tier1", heading: "Inputs" },
  recent_outcomes: { share: "history", heading: "Recent outcomes, newest first" },
  evidence: { share: "history", heading: "Evidence" },
  trend_summary: { share: "telemetry", heading: "Trends, oldest value first" },
  open_incidents: { share: "telemetry", heading: "Open incidents" },
}

export const SECTION_ORDER = Object.keys(SECTIONS) as readonly SectionName[]

/** The text of an item below its section's heading. */
export function itemText(item: Placed): string {
  switch (item.section) {
    case "mission":
    case "schema_excerpt":
    case "grammar_name":
      return `${item.value}\n`
    case "contracts":
    case "guardrails":
    case "open_incidents":
      return `- ${oneLine(item.value)}\n`
    case "inputs_summary":
    case "evaluation_summary":
      return `- ${oneLine(item.value.key)}: ${spacedJson(item.value.value)}\n`
    case "inputs":
    case "evidence":
      return `## ${oneLine(item.value.title)}\n${item.value.text}\n`
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
  const [inputs, evidence] = [all("inputs"), all("evidence")]
  return {
    mission: all("mission")[0] ?? "",
    schema_excerpt: all("schema_excerpt")[0] ?? "",
    grammar_name: all("grammar_name")[0] ?? null,
    contracts: all("contracts"),
    guardrails: all("guardrails"),
    inputs_summary: entries("inputs_summary"),
    evaluation_summary: entries("evaluation_summary"),
    ...(inputs.length > 0 && { inputs }),
    recent_outcomes: all("recent_outcomes"),
    ...(evidence.length > 0 && { evidence }),
    trend_summary: all("trend_summary"),
    open_incidents: all("open_incidents"),
  }
}

// A line break inside a one-line item would let recorded text open a section of its own.
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()

const signed = (delta: number | null): string => (delta === null ? "unknown" : delta > 0 ? `+${delta}` : String(delta))
