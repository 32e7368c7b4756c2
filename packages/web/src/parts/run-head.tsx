import { formatCount, formatDuration, formatMoment, formatPercent } from "@orangebox/text"
import { isExported } from "../api/client.js"
import type { RunHead } from "../api/shapes.js"
import { change, dialog } from "../state.js"
import { Line } from "./recorded.js"
import { shortId } from "./top-bar.js"

export const STATUS_COLOUR: Readonly<Record<string, string>> = {
  completed: "ok",
  failed: "bad",
  crashed: "bad",
  running: "cache",
  silent: "warn",
}

/** What the run was, how it ended, what it cost. */
export function Head({
  run,
  name,
  head,
  verdict,
  onHandoff,
  view,
}: {
  run: string
  /** What the run is called in its rows, which may be there before its head. */
  name: string
  head: RunHead | null
  verdict: { verdict: string; broken: number } | null
  onHandoff: (() => void) | null
  view: string | undefined
}) {
  const said = head?.run
  return (
    <section class="head" aria-label="the run">
      <div class="what">
        <h1>
          <Line text={said ? (said.entrypoint ?? said.app) : name} />
        </h1>
        {said && (
          <span class="second">
            <Line text={said.app} /> ·
          </span>
        )}
        <span class="mono second" title={said ? `${run}, ${formatMoment(said.started_at)} UTC` : run}>
          {shortId(run)}
        </span>
        {said && <span class={`pill ${STATUS_COLOUR[said.status] ?? "second"}`}>{said.status}</span>}
        {said?.replay && <span class="pill second">replay</span>}
        {verdict && <Verdict {...verdict} />}
      </div>
      <div class="acts">
        {onHandoff && (
          <button type="button" onClick={onHandoff}>
            Copy for an agent <kbd>y</kbd>
          </button>
        )}
        <button
          type="button"
          aria-pressed={view === "report"}
          onClick={() => change({ view: view === "report" ? undefined : "report" }, "push")}
        >
          {view === "report" ? "Steps" : "Report"} <kbd>v</kbd>
        </button>
        {!isExported() && (
          <button type="button" onClick={() => (dialog.value = "diff")}>
            Diff with… <kbd>d</kbd>
          </button>
        )}
        <button type="button" onClick={() => (dialog.value = "fork")}>
          Replay or fork… <kbd>r</kbd>
        </button>
      </div>
      <div class="cut">
        {said?.input != null && (
          <>
            “<Line text={said.input} />”
          </>
        )}
        {"\u00a0"}
      </div>
      {head && <Facts head={head} />}
    </section>
  )
}

function Facts({ head: { run, gaps, behind_bytes } }: { head: RunHead }) {
  const { totals } = run
  const { input, output, cache_read, cache_read_of, calls_without_usage } = totals.tokens
  return (
    <div class="facts">
      <span>
        <b>{run.duration_us === null ? "?" : formatDuration(run.duration_us)}</b>
      </span>
      <span>
        <b>{totals.model_calls}</b> {totals.model_calls === 1 ? "call" : "calls"}
      </span>
      <span>
        <b>{totals.tool_calls}</b> {totals.tool_calls === 1 ? "tool" : "tools"}
      </span>
      <span>
        <b>{formatCount(input)}</b> in <b>{formatCount(output)}</b> out
        {calls_without_usage > 0 && ` + ${calls_without_usage} unknown`}
      </span>
      <span>
        <b>{cache_read === null || !cache_read_of ? "?" : formatPercent(cache_read, cache_read_of)}</b> cached
      </span>
      <span>{moneyWords(run.money)}</span>
      <span class={totals.lost > 0 || gaps.length > 0 ? "bad" : ""}>
        <b>{totals.lost}</b> lost
        {gaps.length > 0 && ` · ${gaps.length} gaps`}
      </span>
      {behind_bytes > 0 && <span class="warn">behind</span>}
    </div>
  )
}

export function moneyWords(money: RunHead["run"]["money"]): string {
  if (!money || money.usd === null) return "price unknown"
  const unpriced = money.unpriced_calls ? ` + ${money.unpriced_calls} unpriced` : ""
  return `${dollars(money.usd)}${unpriced}`
}

export const dollars = (usd: number): string => `$${usd >= 0.1 ? usd.toFixed(2) : usd === 0 ? "0" : usd.toPrecision(2)}`

function Verdict({ verdict, broken }: { verdict: string; broken: number }) {
  const words =
    verdict === "fail"
      ? `${broken} ${broken === 1 ? "rule" : "rules"} broken`
      : verdict === "unknown"
        ? "not judged"
        : verdict
  const colour = verdict === "fail" ? "bad" : verdict === "warn" ? "warn" : verdict === "pass" ? "ok" : "second"
  return <span class={`pill ${colour}`}>{words}</span>
}

/** What ended a run that did not end itself. */
export function CrashBanner({
  crash,
  received,
  lost,
}: {
  crash: NonNullable<RunHead["run"]["crash"]>
  received: string | null
  lost: number
}) {
  return (
    <div class="banner" role="status">
      <span class="bad">✗</span> process {crash.pid ?? "?"} died
      {crash.step !== null && (
        <>
          {" in "}
          <button type="button" class="plain mono" onClick={() => change({ step: crash.step! })}>
            #{crash.step}
          </button>
        </>
      )}
      {received !== null && ` after ${received} of the answer`} · {lost} lost
      {crash.error_summary && (
        <span class="second">
          {" · "}
          <Line text={crash.error_summary} />
        </span>
      )}
    </div>
  )
}
