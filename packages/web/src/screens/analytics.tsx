import { formatCount, formatDuration, formatPercent } from "@orangebox/text"
import type { Place } from "../address-bar.js"
import { storeVersion } from "../api/live.js"
import { useAnswer } from "../api/memory-cache.js"
import { safeWords } from "../model/visible-text.js"
import { kindWord } from "../parts/draw-strata.js"
import { waiting } from "../parts/pane-state.js"
import { Line } from "../parts/recorded.js"
import { TopBar } from "../parts/top-bar.js"
import { change, go } from "../state.js"

type AnalyticsPlace = Extract<Place, { screen: "analytics" }>

interface Spread {
  readonly p50: { readonly from_ms: number; readonly to_ms: number } | null
  readonly p95: { readonly from_ms: number; readonly to_ms: number } | null
  readonly is_exact: boolean
}

interface Calls {
  readonly count: number
  readonly errors: number
  readonly timeouts?: number
  readonly unpriced_calls?: number
  readonly tokens?: {
    readonly prompt: number | null
    readonly completion: number | null
    readonly cache_read: number | null
  }
  readonly usd?: number | null
  readonly duration: Spread
}

interface Group {
  readonly key: string | null
  readonly runs: { readonly count: number; readonly failures?: number } | null
  readonly model_calls: Calls | null
  readonly tool_calls: Calls | null
}

interface Stats {
  readonly by: string
  readonly first_day: string | null
  readonly last_day: string | null
  readonly groups: readonly Group[]
}

interface Contributor {
  readonly contributor: string
  readonly kind: string
  readonly prompts: number
  readonly tokens_estimated: number | null
  readonly tokens_per_prompt: number | null
  readonly usd: number | null
  readonly uses: number | null
  readonly calls: number | null
  readonly successes: number | null
  readonly errors: number | null
  readonly note: string | null
}

const BY = ["day", "model", "tool", "app"] as const

/** What runs add up to, each figure with its table. */
export function AnalyticsScreen({ at }: { at: AnalyticsPlace }) {
  const by = at.by ?? "day"
  const version = storeVersion.value
  const asked = useAnswer<Stats>(`/analytics?by=${encodeURIComponent(by)}`, version)
  const worth = useAnswer<{ standing: readonly Contributor[] }>("/analytics?by=contributor", version)
  const stats = asked.value
  return (
    <>
      <TopBar found={null} />
      <section class="filters" aria-label="grouping">
        <span class="choice" role="group" aria-label="by">
          {BY.map((one) => (
            <button key={one} type="button" aria-pressed={by === one} onClick={() => change({ by: one })}>
              by {one}
            </button>
          ))}
        </span>
        {stats?.first_day && (
          <span class="second">
            {stats.first_day} to {stats.last_day}, whole days in UTC
          </span>
        )}
      </section>
      <main class="page">
        <h1 class="only-heard">Analytics</h1>
        {stats === null ? waiting(asked) : <Figures stats={stats} />}
        <section class="panel wide" aria-label="what stands in prompts">
          <h2>What stands in prompts, against its use</h2>
          {worth.value === null ? waiting(worth) : <Worth standing={worth.value.standing} />}
        </section>
      </main>
    </>
  )
}

function Figures({ stats }: { stats: Stats }) {
  const isTools = stats.by === "tool"
  const calls = (group: Group): Calls | null => (isTools ? group.tool_calls : (group.model_calls ?? group.tool_calls))
  if (stats.groups.length === 0) return <p class="second">Nothing is on record yet.</p>
  return (
    <>
      <div class="columns">
        {!isTools && (
          <Chart
            title="Prompt tokens by cache state"
            groups={stats.groups}
            parts={(group) => {
              const tokens = group.model_calls?.tokens
              const read = tokens?.cache_read ?? 0
              return [
                { name: "read from the cache", value: read, colour: "cached" },
                { name: "paid in full", value: Math.max(0, (tokens?.prompt ?? 0) - read), colour: "plain" },
              ]
            }}
            words={(value) => formatCount(value)}
          />
        )}
        {!isTools && stats.groups.every(({ model_calls }) => model_calls?.usd == null) && (
          <section class="panel" aria-label="cost">
            <h2>Cost in dollars</h2>
            <p class="second">? No call on record has a known price.</p>
          </section>
        )}
        {!isTools && stats.groups.some(({ model_calls }) => model_calls?.usd != null) && (
          <Chart
            title="Cost in dollars"
            groups={stats.groups}
            parts={(group) => [{ name: "cost", value: group.model_calls?.usd ?? 0, colour: "plain" }]}
            words={(value) => `$${value.toFixed(2)}`}
          />
        )}
        <Chart
          title={isTools ? "Tool calls" : "Calls"}
          groups={stats.groups}
          parts={(group) => [
            { name: "succeeded", value: (calls(group)?.count ?? 0) - (calls(group)?.errors ?? 0), colour: "ok" },
            { name: "failed", value: calls(group)?.errors ?? 0, colour: "error" },
          ]}
          words={(value) => formatCount(value)}
        />
        <Chart
          title="Duration, p95"
          groups={stats.groups}
          parts={(group) => [{ name: "p95", value: calls(group)?.duration.p95?.to_ms ?? 0, colour: "plain" }]}
          words={(value) => formatDuration(value * 1000)}
        />
      </div>
      <section class="panel wide" aria-label="the numbers">
        <table>
          <thead>
            <tr>
              <th scope="col">{stats.by}</th>
              <th scope="col" class="num">
                calls
              </th>
              <th scope="col" class="num">
                failed
              </th>
              {!isTools && (
                <th scope="col" class="num">
                  in
                </th>
              )}
              {!isTools && (
                <th scope="col" class="num">
                  out
                </th>
              )}
              {!isTools && (
                <th scope="col" class="num">
                  cached
                </th>
              )}
              {!isTools && (
                <th scope="col" class="num">
                  cost
                </th>
              )}
              <th scope="col" class="num">
                p50
              </th>
              <th scope="col" class="num">
                p95
              </th>
            </tr>
          </thead>
          <tbody>
            {stats.groups.map((group) => {
              const one = calls(group)
              const tokens = one?.tokens
              return (
                <tr key={group.key}>
                  <td class="mono">
                    <button type="button" class="plain" onClick={() => openRuns(stats.by, group.key)}>
                      {group.key === null ? <span class="quiet">not said</span> : <Line text={group.key} />}
                    </button>
                  </td>
                  <td class="num mono">{one?.count ?? 0}</td>
                  <td class={`num mono ${one && one.errors > 0 ? "bad" : ""}`}>{one?.errors ?? 0}</td>
                  {!isTools && (
                    <>
                      <td class="num mono">{formatCount(tokens?.prompt)}</td>
                      <td class="num mono">{formatCount(tokens?.completion)}</td>
                      <td class="num mono">
                        {tokens?.cache_read == null || !tokens.prompt
                          ? "?"
                          : formatPercent(tokens.cache_read, tokens.prompt)}
                      </td>
                      <td class="num mono">
                        {one?.usd == null ? "?" : `$${one.usd.toFixed(2)}`}
                        {one?.unpriced_calls ? ` + ${one.unpriced_calls} unpriced` : ""}
                      </td>
                    </>
                  )}
                  <td class="num mono">{spreadWords(one?.duration, "p50")}</td>
                  <td class="num mono">{spreadWords(one?.duration, "p95")}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </section>
    </>
  )
}

function spreadWords(spread: Spread | undefined, which: "p50" | "p95"): string {
  const value = spread?.[which]
  if (!value) return "?"
  return `${spread.is_exact ? "" : "≤ "}${formatDuration(value.to_ms * 1000)}`
}

/** A bar opens the runs it stands for. */
function openRuns(by: string, key: string | null): void {
  if (key === null) return
  go({ screen: "runs", ...(by === "app" ? { app: key } : by === "day" ? { since: key } : {}) })
}

/** Colours that say how it went; what is only much or little has none. */
const FILLS: Readonly<Record<string, string>> = {
  cached: "var(--cache)",
  plain: "var(--edge)",
  ok: "var(--ok)",
  error: "var(--error)",
}

/** Bars of at most forty groups; the table below has all and the exact figures. */
function Chart({
  title,
  groups,
  parts,
  words,
}: {
  title: string
  groups: readonly Group[]
  parts: (group: Group) => { name: string; value: number; colour: string }[]
  words: (value: number) => string
}) {
  const shown = groups.slice(-40)
  const sums = shown.map((group) => parts(group).reduce((sum, { value }) => sum + value, 0))
  const most = Math.max(...sums, 0)
  const wide = 312 / shown.length
  const names = parts(shown[0]!)
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <svg
        class="chart"
        viewBox="0 0 320 118"
        role="img"
        aria-label={`${title}, at most ${words(most)}; the table has the figures`}
      >
        <line x1="0" y1="100" x2="320" y2="100" stroke="var(--line)" />
        <text x="0" y="10">
          {words(most)}
        </text>
        {shown.map((group, at) => {
          let lower = 100
          return (
            <g key={group.key}>
              {parts(group).map(({ name, value, colour }) => {
                const tall = most === 0 ? 0 : (value / most) * 84
                lower -= tall
                return (
                  <rect
                    key={name}
                    x={4 + at * wide}
                    y={lower}
                    width={Math.min(40, Math.max(1, wide - 2))}
                    height={tall}
                    fill={FILLS[colour]}
                  />
                )
              })}
              {(shown.length <= 8 || at === 0 || at === shown.length - 1) && (
                <text x={4 + at * wide} y={114}>
                  {safeWords(group.key ?? "?", Math.max(6, Math.floor(wide / 7)))}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      <p class="bar-line second legend">
        {names.map(({ name, colour }) => (
          <span key={name} class="bar-line">
            <i class="swatch" style={{ background: FILLS[colour] }} /> {name}
          </span>
        ))}
      </p>
    </section>
  )
}

function Worth({ standing }: { standing: readonly Contributor[] }) {
  if (standing.length === 0) return <p class="second">No prompt on record says what stands in it.</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">what</th>
          <th scope="col">kind</th>
          <th scope="col" class="num">
            in prompts
          </th>
          <th scope="col" class="num">
            tokens each
          </th>
          <th scope="col" class="num">
            tokens
          </th>
          <th scope="col" class="num">
            cost
          </th>
          <th scope="col" class="num">
            calls
          </th>
          <th scope="col" class="num">
            ok
          </th>
          <th scope="col">note</th>
        </tr>
      </thead>
      <tbody>
        {standing.map((one) => (
          <tr key={one.contributor}>
            <td class="mono">
              <Line text={one.contributor} />
            </td>
            <td class="nowrap">{kindWord(one.kind, 1)}</td>
            <td class="num mono">{one.prompts.toLocaleString("en")}</td>
            <td class="num mono">≈{formatCount(one.tokens_per_prompt)}</td>
            <td class="num mono">≈{formatCount(one.tokens_estimated)}</td>
            <td class="num mono">{one.usd === null ? "?" : `$${one.usd.toFixed(2)}`}</td>
            <td class="num mono">{one.calls ?? "?"}</td>
            <td class="num mono">{one.successes ?? "?"}</td>
            <td class={one.note?.startsWith("never") ? "warn" : "second"}>{one.note?.replaceAll("_", " ") ?? ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
