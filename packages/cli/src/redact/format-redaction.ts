import type { RulesHere } from "@orangebox/reader"
import { describeRules, type Ruleset } from "@orangebox/redaction"
import { formatBytes, formatTable, type Painter, plural, safeLine, snakeJson } from "@orangebox/text"
import type { FoundSecret } from "./explain-stream.js"
import type { InputSummary } from "./redact-input.js"

export function secretText(secret: FoundSecret, name: string | undefined, paint: Painter): string {
  const { line, column, byteOffset, rule, about, masked, tag } = secret
  const place = `${name === undefined ? "" : `${safeLine(name)}:`}${line}:${column}`
  return `${paint(place, "heading")}  ${paint(rule, "warn")}  ${safeLine(masked)}  ${safeLine(about)}  ${paint(`byte ${byteOffset}  tag ${tag}`, "dim")}`
}

export const secretJson = (secret: FoundSecret, file: string) => snakeJson({ file, ...secret })

export function summaryText(summary: InputSummary, { ruleset, hasStoreKey }: RulesHere): string {
  const parts = [`${plural(summary.masks, "mask")} in ${formatBytes(summary.bytes)}`, `rules ${ruleset.profile}`]
  if (summary.strayBytes > 0) parts.push(`${plural(summary.strayBytes, "byte")} outside UTF-8, kept`)
  if (summary.masks > 0 && !hasStoreKey) parts.push("no data folder here, so tags compare within this output only")
  return parts.join(" · ")
}

export function rulesText(ruleset: Ruleset): string {
  const rules = describeRules(ruleset)
  const table = formatTable(
    [{ title: "RULE" }, { title: "PACK" }, { title: "ON" }, { title: "FINDS" }],
    rules.map(({ id, pack, isOn, about }) => [id, pack, isOn ? "yes" : "no", about]),
  )
  return `${table}\n${plural(rules.length, "rule")} · profile ${ruleset.profile}`
}

export function rulesJson(ruleset: Ruleset) {
  return {
    profile: ruleset.profile,
    rules: describeRules(ruleset).map(({ id, pack, isOn, about }) => ({ id, pack, is_on: isOn, about })),
  }
}
