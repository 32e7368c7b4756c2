import { formatCount, formatDuration, formatPercent, plural } from "@orangebox/text"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { Place } from "../address-bar.js"
import { type ApiProblem, ask } from "../api/client.js"
import { runVersions, storeVersion } from "../api/live.js"
import { asProblem } from "../api/memory-cache.js"
import type { Meta, RunList, RunListRow, RunVerdict } from "../api/shapes.js"
import { ago, type ListedRun, underSources } from "../model/run-list.js"
import { safeWords } from "../model/visible-text.js"
import { ProblemPane } from "../parts/pane-state.js"
import { Line } from "../parts/recorded.js"
import { dollars, STATUS_COLOUR } from "../parts/run-head.js"
import { shortId, TopBar } from "../parts/top-bar.js"
import { WindowedRows } from "../parts/windowed-rows.js"
import { change, go, say } from "../state.js"
import { useKeys } from "../use-keys.js"

type RunsPlace = Extract<Place, { screen: "runs" }>

const PAGE = 100
const ROW_HEIGHT = 26

export function RunsScreen({ at, meta }: { at: RunsPlace; meta: Meta }) {
  const list = useRunPages(at)
  const [active, setActive] = useState(0)
  const [marked, setMarked] = useState<readonly string[]>([])
  const total = list.total ?? 0
  const [seen, setSeen] = useState({ from: 0, to: 0 })
  const verdictOf = useVerdicts(meta.features.includes("verdict"), seen, list.rowAt)
  const onWindow = useCallback(
    (from: number, to: number) => {
      setSeen({ from, to })
      list.seen(from, to)
    },
    [list.seen],
  )

  const open = (row: RunListRow) => go({ screen: "run", run: row.run_id })
  const mark = (id: string) =>
    setMarked((before) => (before.includes(id) ? before.filter((one) => one !== id) : [...before.slice(-1), id]))
  useKeys((key) => {
    const row = list.rowAt(active)?.row
    switch (key) {
      case "j":
      case "ArrowDown":
        return setActive(Math.min(total - 1, active + 1))
      case "k":
      case "ArrowUp":
        return setActive(Math.max(0, active - 1))
      case "Enter":
        return row ? open(row) : false
      case "x":
        return row ? mark(row.run_id) : false
      case "d":
        if (marked.length !== 2) return say("mark two runs with x")
        // Ids begin with time: the older run is the left one.
        return go({ screen: "diff", a: [...marked].sort()[0]!, b: [...marked].sort()[1]! })
      case "/":
        return document.getElementById("filter-text")?.focus()
      default:
        return false
    }
  })

  const isFiltered = Object.keys(at).length > 1
  if (!isFiltered && list.total === 0)
    return (
      <>
        <TopBar found={null} />
        <Nothing data={meta.data_folder} />
      </>
    )
  return (
    <>
      <TopBar found={null} />
      <Filters at={at} total={total} seen={seen} marked={marked} />
      {list.problem && <ProblemPane problem={list.problem} retry={list.retry} />}
      <main class="split" style={{ gridTemplateColumns: "minmax(0, 1fr)" }}>
        <h1 class="only-heard">Runs</h1>
        <WindowedRows
          role="grid"
          label="runs"
          columns={11}
          total={total}
          rowHeight={ROW_HEIGHT}
          active={Math.min(active, total - 1)}
          onWindow={onWindow}
          head={<RunsHead />}
          more={
            list.waiting > 0 ? (
              <button type="button" class="new-rows" style={{ top: "32px", bottom: "auto" }} onClick={list.retry}>
                {list.waiting} new
              </button>
            ) : list.total === 0 ? (
              <NoMatch at={at} />
            ) : null
          }
        >
          {(index, top, key) => {
            const listed = list.rowAt(index)
            if (listed === null)
              return (
                <div key={key} class="run-row quiet" role="row" aria-rowindex={index + 2} style={{ top: `${top}px` }}>
                  <span role="gridcell">…</span>
                </div>
              )
            const { row, depth } = listed
            return (
              <RunRowView
                key={key}
                row={row}
                judged={verdictOf(row.run_id)}
                depth={depth}
                index={index}
                top={top}
                isActive={index === active}
                isMarked={marked.includes(row.run_id)}
                onOpen={() => open(row)}
                onActive={() => setActive(index)}
                onMark={() => mark(row.run_id)}
              />
            )
          }}
        </WindowedRows>
      </main>
    </>
  )
}

const GLYPHS: Readonly<Record<string, string>> = {
  completed: "✓",
  failed: "✗",
  crashed: "✗",
  running: "●",
  silent: "?",
}

function RunsHead() {
  return (
    <div class="runs-head" role="row" aria-rowindex={1}>
      <span role="columnheader">
        <span class="only-heard">marked</span>
      </span>
      <span role="columnheader">
        <span class="only-heard">status</span>
      </span>
      <span role="columnheader">run</span>
      <span role="columnheader" class="middle">
        asked
      </span>
      <span role="columnheader" class="num">
        when
      </span>
      <span role="columnheader" class="num wide">
        time
      </span>
      <span role="columnheader" class="num middle">
        calls
      </span>
      <span role="columnheader" class="num wide">
        in → out
      </span>
      <span role="columnheader" class="num wide">
        cached
      </span>
      <span role="columnheader" class="num wide cost">
        cost
      </span>
      <span role="columnheader">verdict</span>
    </div>
  )
}

function RunRowView(props: {
  row: RunListRow
  judged: RunVerdict | null
  depth: number
  index: number
  top: number
  isActive: boolean
  isMarked: boolean
  onOpen: () => void
  onActive: () => void
  onMark: () => void
}) {
  const { row, judged, depth, isActive, isMarked } = props
  const { prompt, completion, cache_read } = row.tokens
  const name = row.entrypoint ?? row.app
  const colour = STATUS_COLOUR[row.status] ?? "second"
  return (
    <div
      class="run-row"
      role="row"
      style={{ top: `${props.top}px` }}
      tabIndex={isActive ? 0 : -1}
      aria-rowindex={props.index + 2}
      aria-selected={isActive}
      aria-label={`run ${safeWords(name)}, ${row.status}, ${row.model_calls} calls, ${row.errors} errors, ${ago(row.started_at)} ago`}
      onClick={(event) => {
        if ((event.target as HTMLElement).closest("input")) return
        props.onActive()
        props.onOpen()
      }}
      onFocus={props.onActive}
    >
      <span role="gridcell">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isMarked}
          aria-label={`mark ${shortId(row.run_id)}`}
          onChange={props.onMark}
        />
      </span>
      <span role="gridcell" class={colour} title={row.status}>
        {GLYPHS[row.status] ?? "?"}
      </span>
      <span role="gridcell" class="who">
        {depth > 0 && <span class="quiet">└ </span>}
        <span class="second">
          {row.run_id.slice(4, 8)}…{row.run_id.slice(-3)}
        </span>{" "}
        <Line text={name} />
      </span>
      <span role="gridcell" class="asked middle">
        {row.input_summary !== null && <Line text={row.input_summary} />}
      </span>
      <span role="gridcell" class="num second">
        {ago(row.started_at)}
      </span>
      <span role="gridcell" class="num second wide">
        {row.duration_ms === null ? "?" : formatDuration(row.duration_ms * 1000)}
        {row.status === "crashed" && "↯"}
      </span>
      <span role="gridcell" class="num middle">
        {row.model_calls}
      </span>
      <span role="gridcell" class="num second wide">
        {formatCount(prompt)} → {formatCount(completion)}
      </span>
      <span role="gridcell" class="num cache wide">
        {cache_read === null || !prompt ? "?" : formatPercent(cache_read, prompt)}
      </span>
      <span role="gridcell" class="num second wide cost">
        {judged === null ? "" : costWords(judged)}
      </span>
      <Verdict row={row} judged={judged} />
    </div>
  )
}

/** A `+` says that calls without a price come to it. */
function costWords({ usd, unpriced_calls }: RunVerdict): string {
  return usd === null ? "?" : `${dollars(usd)}${unpriced_calls > 0 ? "+" : ""}`
}

/** What the rules say; and where nothing was to be judged, what went wrong all the same. */
function Verdict({ row, judged }: { row: RunListRow; judged: RunVerdict | null }) {
  const [words, colour] = verdictWords(row, judged)
  return (
    <span role="gridcell" class={colour} title={judged === null ? "not judged yet" : `verdict ${judged.verdict}`}>
      {words}
    </span>
  )
}

function verdictWords({ errors, status }: RunListRow, judged: RunVerdict | null): readonly [string, string] {
  if (judged?.verdict === "fail") return [`fail ${judged.violations}`, "bad"]
  if (judged?.verdict === "warn") return ["warn", "warn"]
  if (judged?.verdict === "pass" && errors === 0) return ["pass", "ok"]
  const wrong = status === "crashed" ? "crashed" : errors > 0 ? plural(errors, "error") : null
  if (wrong !== null) return [judged?.verdict === "pass" ? `pass, ${wrong}` : wrong, "bad"]
  return [judged?.verdict ?? "", "second"]
}

const FILTER_NAMES = { app: "app", model: "model", text: "words in a run" } as const

function Filters({
  at,
  total,
  seen,
  marked,
}: {
  at: RunsPlace
  total: number
  seen: { from: number; to: number }
  marked: readonly string[]
}) {
  const field = (name: "status" | "since", label: string, options: readonly string[]) => (
    <select
      aria-label={label}
      value={at[name] ?? ""}
      onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
    >
      <option value="">{label}</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  )
  return (
    <section class="filters" aria-label="filters">
      {field("status", "any status", ["running", "completed", "failed", "crashed"])}
      {field("since", "any time", ["1h", "24h", "7d", "30d"])}
      {(["app", "model", "text"] as const).map((name) => (
        <input
          key={name}
          id={`filter-${name}`}
          type="search"
          aria-label={FILTER_NAMES[name]}
          placeholder={FILTER_NAMES[name]}
          value={at[name] ?? ""}
          onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
        />
      ))}
      <span class="second">{countWords(total, seen)}</span>
      {marked.length > 0 && (
        <span class="second">
          {marked.length} marked
          {marked.length === 2 && (
            <>
              {" "}
              · <kbd>d</kbd> diff
            </>
          )}
        </span>
      )}
    </section>
  )
}

/** `1–34 of 1,000`, or how many there are where all of them are seen. */
function countWords(total: number, { from, to }: { from: number; to: number }): string {
  const isAll = from === 0 && to >= total
  if (isAll) return `${total.toLocaleString("en")} ${total === 1 ? "run" : "runs"}`
  return `${(from + 1).toLocaleString("en")}–${Math.min(to, total).toLocaleString("en")} of ${total.toLocaleString("en")}`
}

type FilterName = "status" | "since" | "app" | "model" | "text"

/** Which filter takes the most away: without it there would be runs. */
function NoMatch({ at }: { at: RunsPlace }) {
  const [worst, setWorst] = useState<{ name: FilterName; without: number } | null>(null)
  const names = (["status", "since", "app", "model", "text"] as const).filter((name) => at[name] !== undefined)
  useEffect(() => {
    let isWanted = true
    const tried = names.map(async (name) => {
      const { [name]: _, ...rest } = at
      const { total } = await ask<RunList>(`/runs?limit=1${queryOf(rest as RunsPlace)}`)
      return { name, without: total }
    })
    Promise.all(tried).then(
      (all) => isWanted && setWorst(all.reduce((most, one) => (one.without > most.without ? one : most))),
      () => {},
    )
    return () => {
      isWanted = false
    }
  }, [])
  return (
    <div class="error-pane" role="status">
      <p>No run matches.</p>
      {worst && worst.without > 0 && (
        <p class="second">
          Without {worst.name} = <Line text={at[worst.name] ?? ""} /> there would be{" "}
          {worst.without.toLocaleString("en")}.{" "}
          <button type="button" onClick={() => change({ [worst.name]: undefined })}>
            Take it away
          </button>
        </p>
      )}
      <p>
        <button type="button" onClick={() => go({ screen: "runs" })}>
          Take all filters away
        </button>
      </p>
    </div>
  )
}

function Nothing({ data }: { data: string }) {
  return (
    <main class="empty">
      <h1>No run is on record yet</h1>
      <p class="second">
        In <span class="mono">{data}</span>. Any of these records one; it appears here by itself.
      </p>
      <pre>npx orangebox demo</pre>
      <pre>orangebox run -- node agent.js</pre>
      <pre>orangebox proxy</pre>
    </main>
  )
}

/** Pages of runs by where they are in the list, each asked for when it is seen, so that the scrollbar is that of all. New runs wait. */
function useRunPages(at: RunsPlace) {
  const query = queryOf(at)
  const [pages, setPages] = useState<ReadonlyMap<number, readonly ListedRun[]>>(new Map())
  const [total, setTotal] = useState<number | null>(null)
  const [problem, setProblem] = useState<ApiProblem | null>(null)
  const [tries, setTries] = useState(0)
  const [waiting, setWaiting] = useState(0)
  const asked = useRef(new Set<number>())
  const settled = useRef<ReturnType<typeof setTimeout>>(undefined)
  const load = useCallback(
    async (page: number) => {
      if (asked.current.has(page)) return
      asked.current.add(page)
      try {
        const answer = await ask<RunList>(`/runs?limit=${PAGE}&offset=${page * PAGE}${query}`)
        setPages((before) => new Map([...before, [page, underSources(answer.runs)]]))
        setTotal(answer.total)
        setProblem(null)
      } catch (cause) {
        asked.current.delete(page)
        setProblem(asProblem(cause))
      }
    },
    [query],
  )
  useEffect(() => {
    asked.current.clear()
    setWaiting(0)
    void load(0)
  }, [load, tries])
  const version = storeVersion.value
  useEffect(() => {
    if (version === 0) return
    const isAtTop = (document.querySelector(".rows")?.scrollTop ?? 0) < 4
    const refresh = async () => {
      const answer = await ask<RunList>(`/runs?limit=${PAGE}&offset=0${query}`)
      if (isAtTop || total === 0) {
        setPages((before) => new Map([...before, [0, underSources(answer.runs)]]))
        setTotal(answer.total)
      } else setWaiting(Math.max(0, answer.total - (total ?? 0)))
    }
    refresh().catch(() => {})
  }, [version])
  const seen = useCallback(
    (from: number, to: number) => {
      clearTimeout(settled.current)
      const pagesSeen = [...new Set([Math.floor(from / PAGE), Math.floor(Math.max(from, to - 1) / PAGE)])]
      settled.current = setTimeout(() => {
        for (const page of pagesSeen) void load(page)
      }, 40)
    },
    [load],
  )
  const rowAt = (index: number): ListedRun | null => pages.get(Math.floor(index / PAGE))?.[index % PAGE] ?? null
  return { rowAt, total, problem, waiting, seen, retry: () => setTries((count) => count + 1) }
}

/**
 * Verdict and cost of the runs that are seen. Each takes loading a run, so they are asked for one by one, when the list has been painted and
 * not while it is scrolled; what was said of a run holds until the feed says that it changed.
 */
function useVerdicts(
  isThere: boolean,
  { from, to }: { from: number; to: number },
  rowAt: (index: number) => ListedRun | null,
): (id: string) => RunVerdict | null {
  const [, redraw] = useState(0)
  const version = storeVersion.value
  const ids = Array.from({ length: Math.max(0, to - from) }, (_, at) => rowAt(from + at)?.row.run_id ?? "").join()
  useEffect(() => {
    if (!isThere) return
    let isWanted = true
    const askOneByOne = async () => {
      await new Promise((resume) => setTimeout(resume, 120))
      for (const id of ids.split(",").filter((one) => one !== "")) {
        const at = runVersions.peek().get(id) ?? 0
        if (!isWanted) return
        if (judgedRuns.get(id)?.at === at) continue
        try {
          judgedRuns.set(id, { at, verdict: await ask<RunVerdict>(`/runs/${id}/verdict`) })
          if (judgedRuns.size > MOST_JUDGED) judgedRuns.delete(judgedRuns.keys().next().value!)
          if (isWanted) redraw((count) => count + 1)
        } catch {
          // The row says what it says without; the next look at it asks again.
        }
      }
    }
    void askOneByOne()
    return () => {
      isWanted = false
    }
  }, [isThere, ids, version])
  return (id) => judgedRuns.get(id)?.verdict ?? null
}

const MOST_JUDGED = 1000
/** With the version of the run that was judged. */
const judgedRuns = new Map<string, { readonly at: number; readonly verdict: RunVerdict }>()

function queryOf(at: RunsPlace): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(at))
    if (name !== "screen" && value) query.set(name, name === "since" ? sinceOf(String(value)) : String(value))
  return query.size === 0 ? "" : `&${query}`
}

function sinceOf(word: string): string {
  const [, count, unit] = /^(\d+)([hd])$/.exec(word) ?? []
  if (count === undefined) return word
  return new Date(Date.now() - Number(count) * (unit === "h" ? 3_600_000 : 86_400_000)).toISOString()
}
