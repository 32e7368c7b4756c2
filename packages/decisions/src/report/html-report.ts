import type { Verdict } from "@orangebox/contract"
import { htmlPage, plural, safeHtml, safeText, shortBlock, shortLine } from "@orangebox/text"
import { durationWords, hasFailed, holesIn, STATUS_WORDS, stepWord, summaryRows } from "./format-report.js"
import { REPORT_STYLE } from "./html-style.js"
import type { ReportArtifact, RunReport } from "./run-report.js"

const MOST = {
  timeline: 5_000,
  diffs: 300,
  violations: 200,
  holes: 200,
  diffLines: 800,
  columns: 2_000,
  request: 4_000,
}

/** The report as one HTML file that needs nothing else. */
export function reportHtml(report: RunReport): string {
  const { run, summary } = report
  return htmlPage({
    title: `${summary.verdict} · ${shortLine(run.agent_id, 60)} · ${run.run_id}`,
    style: REPORT_STYLE,
    body: `<main>
${head(report)}
${violations(report)}
${holes(report)}
${overrides(report)}
${timeline(report)}
${commands(report)}
${changes(report)}
<p class="dim">${safeHtml(plural(summary.decisions, "decision"))}, ${safeHtml(plural(report.artifacts.length, "artifact"))}. Recorded text is shown as text: control and invisible characters stand as ␛ or \\u{…}.</p>
</main>`,
  })
}

function head(report: RunReport): string {
  const { run, summary } = report
  const facts = [run.app_id, run.entrypoint, run.environment, `version ${run.agent_version}`].map((fact) =>
    shortLine(fact, 80),
  )
  const parts = (["alignment", "quality", "policy"] as const).map(
    (name) => `<div class="card"><b>${name}</b>${badge(summary[name])}</div>`,
  )
  const rows = summaryRows(report).map(
    ([name, value]) => `<div class="card"><b>${safeHtml(name)}</b>${safeHtml(value)}</div>`,
  )
  const constraints = run.constraints.map(
    ({ id, rule }) => `<code>${safeHtml(shortLine(`${id}: ${rule}`, 200))}</code>`,
  )
  return `<header>
<h1>${badge(summary.verdict)}<span>${safeHtml(shortLine(run.agent_id, 80))}</span></h1>
<div class="dim">${safeHtml(facts.join(" · "))}</div>
<div class="dim mono">${safeHtml(run.run_id)}${run.started_at === null ? "" : ` · ${safeHtml(run.started_at)}`} · ${safeHtml(STATUS_WORDS[run.status])}</div>
<div class="request">${safeHtml(cut(run.request)) || '<span class="dim">no request on record</span>'}</div>
${constraints.length === 0 ? "" : `<ul class="asked">${constraints.map((rule) => `<li>${rule}</li>`).join("")}</ul>`}
</header>
<div class="cards">${parts.join("")}${rows.join("")}</div>`
}

function violations({ violations: all }: RunReport): string {
  if (all.length === 0) return section("Violations", '<p class="dim">none</p>')
  const items = all.slice(0, MOST.violations).map((violation) => {
    const steps = violation.steps.slice(0, 20).map(({ step_no }) => stepWord(step_no))
    const more = violation.steps.length > 20 ? ` and ${violation.steps.length - 20} more` : ""
    const times = violation.count > 1 ? ` ×${violation.count}` : ""
    const evidence =
      violation.evidence === null ? "" : `<p><code>${safeHtml(shortLine(violation.evidence, 400))}</code></p>`
    const rule =
      violation.rule === undefined
        ? ""
        : `<p class="dim mono">${safeHtml(shortLine(violation.rule, 200))}${violation.is_inferred ? " (inferred from the request)" : ""}</p>`
    return `<div class="item">${badge(violation.severity)} <b>${safeHtml(shortLine(violation.id, 120))}</b>${times} <span class="dim">${safeHtml(steps.join(" ") + more)}</span><p>${safeHtml(shortLine(violation.message, 600))}</p>${evidence}${rule}</div>`
  })
  return section("Violations", items.join("\n") + rest(all.length, MOST.violations))
}

function holes(report: RunReport): string {
  const all = holesIn(report)
  if (all.length === 0) return section("Holes in the trail", '<p class="dim">none</p>')
  const rows = all
    .slice(0, MOST.holes)
    .map(
      ({ words, stepNo, detail }) =>
        `<tr><td class="no mono">${safeHtml(stepWord(stepNo))}</td><td>${safeHtml(words)}</td><td>${safeHtml(shortLine(detail, 400))}</td></tr>`,
    )
  return section("Holes in the trail", `<table><tbody>${rows.join("")}</tbody></table>${rest(all.length, MOST.holes)}`)
}

function overrides({ overrides: all }: RunReport): string {
  if (all.length === 0) return ""
  const items = all.map(
    ({ author, verdict, reason, timestamp }) =>
      `<div class="item">${badge(verdict)} <b>${safeHtml(shortLine(author, 120))}</b> <span class="dim mono">${safeHtml(timestamp)}</span><p>${safeHtml(shortLine(reason, 600))}</p></div>`,
  )
  return section("What people said", items.join("\n"))
}

function timeline({ timeline: all }: RunReport): string {
  if (all.length === 0) return section("Timeline", '<p class="dim">no decisions</p>')
  const rows = all.slice(0, MOST.timeline).map((entry) => {
    const notes = [entry.status === "success" ? "" : entry.status, entry.is_inferred ? "inferred" : ""].filter(Boolean)
    const note = notes.length === 0 ? "" : ` <span class="dim">(${safeHtml(notes.join(", "))})</span>`
    return `<tr><td class="time">${safeHtml(durationWords(entry.offset_ms))}</td><td class="no mono">${safeHtml(stepWord(entry.step_no))}</td><td class="type">${safeHtml(entry.action_type)}</td><td class="verdict">${hasFailed(entry) ? '<span class="badge fail">failed</span>' : badge(entry.verdict)}</td><td>${safeHtml(shortLine(entry.summary, 300))}${note}</td></tr>`
  })
  const names =
    '<tr><th class="time">after</th><th class="no">step</th><th class="type">action</th><th class="verdict">verdict</th><th>what</th></tr>'
  return section(
    "Timeline",
    `<table><thead>${names}</thead><tbody>${rows.join("")}</tbody></table>${rest(all.length, MOST.timeline)}`,
  )
}

function commands({ artifacts }: RunReport): string {
  const all = artifacts.filter(
    ({ type }) => type === "command" || type === "test_run" || type === "commit" || type === "pr",
  )
  if (all.length === 0) return ""
  const rows = all.slice(0, MOST.timeline).map(({ type, step_no, metadata, summary, content, content_form }) => {
    const exit = metadata.exit_code
    const mark =
      type === "test_run"
        ? (TEST_VERDICT[metadata.tests?.outcome ?? "unknown"] ?? "unknown")
        : exit === null
          ? "unknown"
          : exit === 0
            ? "pass"
            : "fail"
    const text = type === "command" && content !== null && content_form !== "hash" ? content : summary
    return `<tr><td class="no mono">${safeHtml(stepWord(step_no))}</td><td class="type">${safeHtml(type)}</td><td class="no ${mark}">${exit === null ? "" : `exit ${exit}`}</td><td class="mono">${safeHtml(shortLine(text, 600))}</td></tr>`
  })
  return section(
    "Commands, tests, commits",
    `<table><tbody>${rows.join("")}</tbody></table>${rest(all.length, MOST.timeline)}`,
  )
}

const TEST_VERDICT: Readonly<Record<string, Verdict>> = { passed: "pass", failed: "fail", unknown: "unknown" }

function changes({ artifacts }: RunReport): string {
  const all = artifacts.filter(({ type }) => type === "file_edit" || type === "diff")
  if (all.length === 0) return ""
  return section("Changes", all.slice(0, MOST.diffs).map(diff).join("\n") + rest(all.length, MOST.diffs))
}

function diff({ content, content_form, metadata, summary, step_no }: ReportArtifact): string {
  const counts = `+${metadata.lines_added ?? "?"} −${metadata.lines_removed ?? "?"}`
  const name = `<span class="mono">${safeHtml(shortLine(metadata.path ?? summary, 300))}</span> <span class="dim">${safeHtml(counts)} · ${safeHtml(stepWord(step_no))}</span>`
  if (content === null || content_form === "hash")
    return `<div class="item">${name} <span class="dim">text not kept</span></div>`
  const lines = shortBlock(content, { lines: MOST.diffLines, columns: MOST.columns }).map((line) => {
    const kind = /^(?:\+\+\+|---|@@)/.test(line)
      ? "hunk"
      : line.startsWith("+")
        ? "add"
        : line.startsWith("-")
          ? "del"
          : ""
    return `<span${kind === "" ? "" : ` class="${kind}"`}>${safeHtml(line)}</span>`
  })
  return `<details open><summary>${name}</summary><pre>${lines.join("")}</pre></details>`
}

const section = (title: string, content: string): string => `<section><h2>${safeHtml(title)}</h2>${content}</section>`
const rest = (count: number, most: number): string =>
  count > most ? `<p class="dim">${count - most} of ${count} left out</p>` : ""
const badge = (verdict: Verdict): string => `<span class="badge ${verdict}">${verdict}</span>`

function cut(text: string): string {
  const kept = safeText(text.slice(0, MOST.request).replace(/[\ud800-\udbff]$/, ""))
  return text.length > MOST.request ? `${kept}… ${text.length - MOST.request} more characters` : kept
}
