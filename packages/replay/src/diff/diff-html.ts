import { formatDuration, htmlPage, safeHtml, safeText } from "@orangebox/text"
import type { DiffItem, PayloadDiff, PayloadOp, RunDiff, StepOfDiff } from "../generated.js"
import {
  changeWords,
  countWords,
  figureWords,
  inheritWords,
  itemAddress,
  itemName,
  outcomeWords,
  REGIME_WORDS,
  replayWords,
  rootAbsentWords,
  stepAddress,
} from "./format-item.js"

/** A diff as one file that needs nothing else: no link but to its own rows, and its style sheet does the filtering by tier. */
export function diffHtml(diff: RunDiff): string {
  const { a, b } = diff
  return htmlPage({
    title: safeText(`diff ${a.run_id ?? "?"} ${b.run_id ?? "?"}`),
    style: CSS,
    body: `<h1>${safeHtml(a.run_id ?? "?")} <span class="dim">→</span> ${safeHtml(b.run_id ?? "?")}</h1>
<p><b class="v-${diff.verdict}">${diff.verdict}</b> · ${REGIME_WORDS[diff.regime]} · ${safeHtml(countWords(diff))}</p>
${facts(diff)}
${filters(diff)}
<table>
<thead><tr><th>a ${safeHtml(a.status)}</th><th></th><th>b ${safeHtml(b.status)}</th></tr></thead>
${stretches(diff)
  .map((stretch) => (stretch.isFolded ? foldedRows(stretch, diff) : `<tbody>${rows(stretch, diff)}</tbody>`))
  .join("\n")}
</table>`,
  })
}

/** What can be filtered: the tiers, and differences without one, which follow from others. */
const FILTERS = [
  ["T0", "wording"],
  ["T1", "decision"],
  ["T2", "observation"],
  ["T3", "effect"],
  ["TX", "only follows"],
] as const

const CSS = `:root{color-scheme:light dark;--line:#8884;--dim:#6b6b6b;--bad:#b3261e;--good:#1a6e34;--warn:#9a6700}
@media(prefers-color-scheme:dark){:root{--dim:#9a9a9a;--bad:#ff8a80;--good:#7bd88f;--warn:#e3b341}}
body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem}
h1{font-size:1.1rem;font-family:ui-monospace,monospace;overflow-wrap:anywhere}
ul{padding-left:1.2rem;overflow-wrap:anywhere}a{color:inherit}
table{width:100%;border-collapse:collapse;table-layout:fixed}
td,th{border-top:1px solid var(--line);padding:.3rem .5rem;vertical-align:top;text-align:left;overflow-wrap:anywhere}
td:nth-child(2),th:nth-child(2){width:8rem;text-align:center;color:var(--dim)}
thead th{position:sticky;top:0;background:Canvas}
tr.changed,tr.moved{background:#fa01}tr.inserted{background:#0a01}tr.removed{background:#d001}
tr.root{outline:2px solid var(--bad);outline-offset:-2px}tr.decisive{outline:2px solid var(--warn);outline-offset:-2px}tr:target{background:#48f3}
tr.detail>td{border-top:0;padding:0 .5rem .6rem 1.5rem}
.dim{color:var(--dim)}.v-differs{color:var(--bad)}.v-same,.v-noise{color:var(--good)}
.badge{font-size:.75rem;border:1px solid var(--line);border-radius:.3rem;padding:0 .3rem;white-space:nowrap}
.simulated{background:#c3c3;border-color:#c3c}.cached{background:#07c2}.exact{background:#0a02}
pre{margin:.2rem 0;white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.45 ui-monospace,monospace}
del{color:var(--bad);text-decoration:none;background:#d002}ins{color:var(--good);text-decoration:none;background:#0a02}
summary{cursor:pointer;color:var(--dim)}
.filters{display:none}
@supports selector(:has(*)){.filters{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:1rem 0}tr.difference{display:none}
${FILTERS.map(([tier]) => `body:has(#${tier}:checked) tr.difference.${tier}{display:table-row}`).join("\n")}}`

function facts(diff: RunDiff): string {
  const places = [place("root", diff, diff.root), place("first difference", diff, diff.first)]
  if (diff.decisive)
    places.push(place(diff.decisive.effect === "write" ? "decisive" : "decisive?", diff, diff.decisive.item))
  const said = [figureWords(diff), replayWords("a", diff.a), replayWords("b", diff.b)].filter(
    (words) => words !== undefined,
  )
  const absent = rootAbsentWords(diff)
  if (absent !== undefined) said.push(`no root: ${absent}`)
  if (diff.outcome.differs) said.push(`outcome: ${outcomeWords(diff.outcome, 200)}`)
  if (diff.carry) {
    const { from, to, value } = diff.carry
    said.push(`${itemAddress(diff.items[from]!)} carries "${value}" to ${itemAddress(diff.items[to]!)}`)
  }
  for (const note of diff.notes) said.push(`${note.code}: ${note.text}`)
  const lines = [...places, ...said.map(safeHtml)].filter((line) => line !== "")
  return `<ul>${lines.map((line) => `<li>${line}</li>`).join("")}</ul>`
}

function place(label: string, diff: RunDiff, index: number | null): string {
  const item = index === null ? undefined : diff.items[index]
  if (!item) return ""
  const words = `${itemAddress(item)} ${itemName(item)}: ${changeWords(item)}`
  return `<b>${label}</b> <a href="#i${index}">${safeHtml(words)}</a>`
}

function filters(diff: RunDiff): string {
  const count = (tier: string): number => diff.items.filter((item) => tiersOf(item).includes(tier)).length
  const boxes = FILTERS.flatMap(([tier, words]) => {
    const label = `${tier === "TX" ? "" : `${tier} `}${words} <span class="dim">${count(tier)}</span>`
    return count(tier) === 0 ? [] : [`<label><input type="checkbox" id="${tier}" checked> ${label}</label>`]
  })
  return boxes.length === 0 ? "" : `<div class="filters">${boxes.join("")}</div>`
}

/** As classes of its rows; none for what does not differ. */
function tiersOf(item: DiffItem): string[] {
  if (item.cause === null) return []
  const tiers = FILTERS.flatMap(([tier]) => item.tiers.filter((own) => own === tier))
  return tiers.length === 0 ? ["TX"] : tiers
}

interface Stretch {
  readonly isFolded: boolean
  readonly items: number[]
}

/** Runs of items that are the same, folded, and runs of items that differ. */
function stretches(diff: RunDiff): Stretch[] {
  const found: Stretch[] = []
  diff.items.forEach((item, index) => {
    const isFolded = item.cause === null
    if (found.at(-1)?.isFolded === isFolded) found.at(-1)!.items.push(index)
    else found.push({ isFolded, items: [index] })
  })
  return found
}

// A table cannot hold a details element between its rows, so a folded stretch is one row with a table of its own.
function foldedRows(stretch: Stretch, diff: RunDiff): string {
  return `<tbody><tr><td colspan="3"><details><summary>${stretch.items.length} the same</summary><table>${rows(stretch, diff)}</table></details></td></tr></tbody>`
}

const rows = (stretch: Stretch, diff: RunDiff): string => stretch.items.map((index) => row(diff, index)).join("\n")

function row(diff: RunDiff, index: number): string {
  const item = diff.items[index]!
  const marks = [
    index === diff.root ? "root" : index === diff.first ? "first" : "",
    index === diff.decisive?.item ? "decisive" : "",
    ...item.tiers,
    item.cause ?? "",
  ]
  const badges = marks.filter((mark) => mark !== "").map((mark) => `<span class="badge">${mark}</span>`)
  const classes = [item.change, ...differenceClasses(item)]
  if (index === diff.root) classes.push("root")
  else if (index === diff.decisive?.item) classes.push("decisive")
  const middle = `${item.change}<br>${badges.join(" ")}`
  return `<tr id="i${index}" class="${classes.join(" ")}"><td>${cell(item, item.a)}</td><td>${middle}</td><td>${cell(item, item.b)}</td></tr>${detail(diff, item)}`
}

function cell({ kind }: DiffItem, step: StepOfDiff | null): string {
  if (!step) return ""
  const badges = [`<span class="badge ${step.mode}">${step.mode}</span>`]
  if (step.effect_class !== null) badges.push(`<span class="badge">${safeHtml(step.effect_class)}</span>`)
  if (step.status !== "success") badges.push(`<span class="badge">${safeHtml(step.status)}</span>`)
  if (step.attempts > 1) badges.push(`<span class="badge">${step.attempts} tries</span>`)
  const time =
    step.duration_us === null ? "" : ` <span class="dim">${safeHtml(formatDuration(step.duration_us))}</span>`
  return `<b>${safeHtml(stepAddress(step))}</b> ${kind} ${safeHtml(step.name)} ${badges.join(" ")}${time}`
}

const differenceClasses = (item: DiffItem): string[] => (item.cause === null ? [] : ["difference", ...tiersOf(item)])

function detail(diff: RunDiff, item: DiffItem): string {
  if (item.cause === null || !item.a || !item.b) return ""
  const payloads = (item.payloads ?? []).map((payload) => payloadHtml(payload, diff)).join("")
  const words = `<span class="dim">${safeHtml(changeWords(item))}</span>`
  const classes = ["detail", ...differenceClasses(item)].join(" ")
  return `<tr class="${classes}"><td colspan="3">${payloads === "" ? words : `<details open><summary>${safeHtml(changeWords(item))}</summary>${payloads}</details>`}</td></tr>`
}

function payloadHtml(payload: PayloadDiff, diff: RunDiff): string {
  const lines = payload.ops.map((op) => `<pre>${safeHtml(`${payload.what} ${op.ptr}`)}\n${opHtml(op)}</pre>`)
  if (payload.more > 0) lines.push(`<p class="dim">${payload.more} more</p>`)
  const inherits = inheritWords(payload, diff.items)
  if (inherits !== undefined) lines.push(`<p class="dim">${safeHtml(inherits)}</p>`)
  if (payload.form === "absent") lines.push(`<p class="dim">${payload.what}: bytes not there, hashes differ</p>`)
  return lines.join("")
}

function opHtml(op: PayloadOp): string {
  const removed = (said: string | null): string => (said === null || said === "" ? "" : `<del>${safeHtml(said)}</del>`)
  const added = (said: string | null): string => (said === null || said === "" ? "" : `<ins>${safeHtml(said)}</ins>`)
  if (op.text?.form !== "words") return `${removed(op.a)} ${added(op.b)}`
  const hunks = op.text.hunks.map(
    (hunk) => `${hunk.before === "" ? "" : `…${safeHtml(hunk.before)}`}${removed(hunk.a)}${added(hunk.b)}`,
  )
  if (op.text.more > 0) hunks.push(`… ${op.text.more} more`)
  return hunks.join("\n")
}
