import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Place } from "../address-bar.js"
import { type ApiProblem, ask, isExported } from "../api/client.js"
import { followRun, runVersions } from "../api/live.js"
import { askOnce, asProblem, keepAnswer, useAgain, useAnswer } from "../api/memory-cache.js"
import type { Meta, RunHead } from "../api/shapes.js"
import { foldRows, foldsAround } from "../model/fold.js"
import { type LookHere, lookHere, type Violation } from "../model/look-here.js"
import { statusWord } from "../model/row-name.js"
import { isTrouble, LANE, type RunRow, runRows } from "../model/run-rows.js"
import { joinColumns, type StepColumns } from "../model/step-columns.js"
import { type Span, timeScale } from "../model/time-scale.js"
import { Detail } from "../parts/detail.js"
import { DiffForm } from "../parts/diff-form.js"
import { type Findings, FindingsPanel, FindingsStrip } from "../parts/findings.js"
import { ForkForm } from "../parts/fork-form.js"
import { ProblemPane, waiting } from "../parts/pane-state.js"
import { CrashBanner, Head } from "../parts/run-head.js"
import type { StrataAnswer } from "../parts/strata.js"
import { StrataSection, strataPath } from "../parts/strata-section.js"
import { TopBar } from "../parts/top-bar.js"
import { type RowWords, TreeGrid, troubleWords } from "../parts/tree-grid.js"
import { change, copy, dialog, say } from "../state.js"
import { useKeys } from "../use-keys.js"
import { usePrinting } from "../use-printing.js"
import { ReportScreen } from "./report.js"

type RunPlace = Extract<Place, { screen: "run" }>

export function RunScreen({ at, meta }: { at: RunPlace; meta: Meta }) {
  const run = at.run
  const version = runVersions.value.get(run) ?? 0
  // Rows come from a few rows of the store, the head from the whole run: neither waits for the other.
  const steps = useSteps(run, version)
  const head = useAnswer<RunHead>(runPath(run), version)
  const runId = head.value?.run.run_id ?? steps.columns?.run_id ?? null

  useEffect(() => {
    followRun(runId)
    return () => followRun(null)
  }, [runId])

  // An address such as last~1 becomes the id it stands for, so that the link stays what it was.
  useEffect(() => {
    if (runId === null || runId === run) return
    if (head.value) keepAnswer(runPath(runId), head.value)
    change({ run: runId })
  }, [runId, run, head.value])

  if (runId === null || (head.value === null && head.problem !== null))
    return (
      <>
        <TopBar found={null} />
        <main class="page">{waiting(head)}</main>
      </>
    )
  return (
    <LoadedRun
      key={runId}
      run={runId}
      at={at}
      head={head.value}
      steps={steps}
      meta={meta}
      version={version}
      problem={head.problem}
      retry={head.retry}
    />
  )
}

function LoadedRun({
  run,
  at,
  head,
  steps,
  meta,
  version,
  problem,
  retry,
}: {
  run: string
  at: RunPlace
  /** Null while the run is being loaded; its rows may be there before. */
  head: RunHead | null
  steps: Steps
  meta: Meta
  version: number
  problem: ApiProblem | null
  retry: () => void
}) {
  const has = (feature: string): boolean => meta.features.includes(feature)
  const isRunning = head?.run.status === "running"
  const rows = useMemo(() => (steps.columns ? runRows(steps.columns) : []), [steps.columns])
  const byNumber = useMemo(() => new Map(rows.map((row) => [row.n, row])), [rows])
  // What takes long to work out is asked for when the rows are there, one after the other, so that it is in nobody's way.
  const isPainted = rows.length > 0 && head !== null
  const hasStrata = useMemo(() => has("strata") && rows.some(({ kind }) => kind === "model"), [rows])
  const strata = useAnswer<StrataAnswer>(isPainted && hasStrata ? strataPath(run, at.lane) : null, version, REST_MS)
  const findings = useAnswer<Findings>(
    isPainted && has("findings") && !strata.isLoading ? `/runs/${run}/findings` : null,
    version,
    REST_MS,
  )
  const report = useAnswer<{ summary: { verdict: string }; violations: readonly Violation[] }>(
    isPainted && has("report") && !strata.isLoading && !findings.isLoading ? `/runs/${run}/report` : null,
    version,
    REST_MS,
  )
  const found = useFound(run, at.find, has("find"))
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const [follows, setFollowing] = useState<boolean | null>(null)
  const isFollowing = follows ?? (isRunning && at.step === undefined)
  const [view, setView] = useState<Span>({ from: 0, to: 1 })
  const { words, onWindow: askWords } = useWords(run, has("words"), version)
  const [foundAt, setFoundAt] = useState<number | null>(null)

  const list = useMemo(() => {
    const failed = rows
      .filter(({ status, kind }) => isTrouble(status) && kind !== "step" && kind !== "run")
      .map(({ n, name, status }) => ({ n, words: troubleWords(words.get(n)) ?? `${name} ${statusWord(status)}` }))
      .sort((a, b) => a.n - b.n)
    return lookHere(findings.value?.findings ?? [], report.value?.violations ?? [], failed, strata.value?.again ?? null)
  }, [rows, words, findings.value, report.value, strata.value])
  const broken = useMemo(() => brokenRules(report.value?.violations ?? []), [report.value])

  const isPrinting = usePrinting()
  const shown = useMemo(() => foldRows(rows, isPrinting ? NOT_FOLDED : folded), [rows, folded, isPrinting])
  const selected = selectedStep(at, head, rows, list, isFollowing)
  const row = selected === null ? undefined : byNumber.get(selected)
  const detailOpen = at.step !== undefined

  // Painted: what the benchmark waits for, and then for the detail.
  useEffect(() => {
    if (rows.length > 0) requestAnimationFrame(() => performance.mark("rows-ready"))
  }, [rows.length > 0])

  const now = useNow(isRunning, head?.run.started_at ?? "")
  const lastEnd = useMemo(() => rows.reduce((latest, one) => Math.max(latest, endOf(one)), 1), [rows])
  const endMicros = Math.max(lastEnd, now ?? head?.run.duration_us ?? 0)
  const scale = useMemo(() => timeScale(endMicros, busyOf(rows, endMicros), view), [rows, endMicros, view])

  const select = useCallback(
    (n: number, how: "push" | "replace" = "replace") => {
      setFollowing(false)
      setFolded((before) => {
        const around = foldsAround(rows, n).filter((one) => before.has(one))
        return around.length === 0 ? before : new Set([...before].filter((one) => !around.includes(one)))
      })
      change({ step: n, from: undefined }, how)
    },
    [rows],
  )
  const fold = useCallback((n: number) => {
    setFolded((before) => {
      const after = new Set(before)
      if (!after.delete(n)) after.add(n)
      return after
    })
  }, [])
  const onWindow = useCallback(
    (from: number, to: number) =>
      askWords(shown.slice(from, to).flatMap(({ row: one }) => (one.kind === LANE ? [] : [one.n]))),
    [shown, askWords],
  )

  /** To the row above; out of a lane it folds the lane. */
  const foldOut = ({ parent }: RunRow): void => {
    const above = parent === null ? undefined : byNumber.get(parent)
    if (above?.kind === LANE && !folded.has(above.n)) fold(above.n)
    const next = above?.kind === LANE ? above.parent : parent
    if (next !== null) select(next)
  }
  const follow = () => {
    setFollowing(true)
    change({ step: undefined })
  }
  const openFinding = (index: number) => {
    const step = list[index]?.step ?? null
    setFoundAt(index)
    if (step !== null) select(step, "push")
  }
  const handoff = async () => {
    try {
      const { text } = await ask<{ text: string }>(`/runs/${run}/handoff`)
      await copy(text, "the handoff packet")
    } catch (cause) {
      say(asProblem(cause).what)
    }
  }

  useKeys((key) => {
    const move = (by: 1 | -1) => {
      let at = shown.findIndex(({ row: one }) => one.n === selected) + by
      // A lane is no step: the selection goes over it.
      while (shown[at]?.row.kind === LANE) at += by
      const next = shown[Math.max(0, Math.min(shown.length - 1, at))]
      if (next && next.row.kind !== LANE) select(next.row.n)
    }
    const isInList = !document.activeElement?.closest(".pane, .readout, .strata-table, .side")
    switch (key) {
      case "j":
        return move(1)
      case "k":
        return move(-1)
      case "ArrowDown":
        return isInList ? move(1) : false
      case "ArrowUp":
        return isInList ? move(-1) : false
      case "ArrowLeft":
        if (!isInList || !row) return false
        if (row.below > 0 && !folded.has(row.n)) return fold(row.n)
        return foldOut(row)
      case "ArrowRight":
        if (!isInList || !row) return false
        if (folded.has(row.n)) return fold(row.n)
        for (const one of rows) if (one.kind === LANE && one.parent === row.n && folded.has(one.n)) fold(one.n)
        return
      case "[":
      case "]": {
        const calls = rows
          .filter(({ kind }) => kind === "model")
          .map(({ n }) => n)
          .sort((a, b) => a - b)
        const next = key === "]" ? calls.find((n) => n > (selected ?? 0)) : calls.findLast((n) => n < (selected ?? 0))
        return next === undefined ? say(key === "]" ? "no later model call" : "no earlier model call") : select(next)
      }
      case "n":
      case "N": {
        const by = key === "n" ? 1 : -1
        if (found && found.steps.length > 0) {
          const order =
            key === "n"
              ? found.steps.find((n) => n > (selected ?? 0))
              : found.steps.findLast((n) => n < (selected ?? 0))
          return select(order ?? (key === "n" ? found.steps[0]! : found.steps.at(-1)!))
        }
        if (list.length === 0) return say("no finding")
        const here = foundAt ?? list.findIndex(({ step }) => step === selected)
        return openFinding((here + by + (here === -1 && by === -1 ? 1 : 0) + list.length) % list.length)
      }
      case "Enter":
        if (!isInList || !row) return false
        change({ step: row.n }, "push")
        return requestAnimationFrame(() => document.getElementById("tab-panel")?.focus())
      case "Escape":
        if (at.panel) return change({ panel: undefined })
        if (document.activeElement?.id === "find" || !isInList)
          return document.querySelector<HTMLElement>('.row[tabindex="0"]')?.focus()
        if (at.find) return change({ find: undefined })
        if (detailOpen && innerWidth < 900) return change({ step: undefined })
        return false
      case "s":
        return change({ strata: at.strata === undefined ? "table" : at.strata === "table" ? "closed" : undefined })
      case "f":
        return change({ panel: at.panel ? undefined : "findings" })
      case "v":
        return change({ view: at.view ? undefined : "report" }, "push")
      case "y":
        return has("handoff") ? void handoff() : false
      case "r":
        dialog.value = "fork"
        return
      case "d":
        dialog.value = "diff"
        return
      case "w":
        return row?.kind === "model" ? change({ tab: "context" }) : false
      case "L":
        return isRunning ? follow() : say("this run has ended")
      default: {
        if (!/^[1-7]$/.test(key)) return false
        const tab = document.querySelectorAll<HTMLElement>('.pane [role="tab"]')[Number(key) - 1]
        return tab ? tab.click() : false
      }
    }
  })

  const summary = report.value?.summary
  const verdict =
    summary && summary.verdict !== "unknown"
      ? {
          verdict: summary.verdict,
          broken: report.value!.violations.filter(({ severity }) => severity === "fail").length,
        }
      : null
  const model = row?.kind === "model" ? row.name : null
  const isReport = at.view === "report"
  return (
    <>
      <TopBar
        found={
          found ? { total: found.total, at: Math.max(0, found.steps.filter((n) => n <= (selected ?? 0)).length) } : null
        }
      />
      <Head
        run={run}
        name={rows[0]?.name ?? ""}
        head={head}
        verdict={verdict}
        onHandoff={has("handoff") ? () => void handoff() : null}
        view={at.view}
      />
      {head?.run.crash && (
        <CrashBanner crash={head.run.crash} received={crashReceived(findings.value)} lost={head.run.totals.lost} />
      )}
      {problem && <ProblemPane problem={problem} retry={retry} />}
      <FindingsStrip
        list={list}
        suspects={findings.value?.is_unexplained ? findings.value.suspects : NO_SUSPECTS}
        at={foundAt}
        selected={selected}
        onSelect={openFinding}
      />
      {isReport ? (
        <ReportScreen run={run} version={version} />
      ) : (
        <>
          {hasStrata && (
            <StrataSection
              asked={strata}
              lane={at.lane}
              shape={at.strata}
              step={selected}
              onSelect={(n) => select(n)}
            />
          )}
          <main class={`split ${detailOpen ? "in-detail" : ""}`} style={{ position: "relative" }}>
            {steps.problem && rows.length === 0 ? (
              <ProblemPane problem={steps.problem} retry={steps.retry} />
            ) : (
              <TreeGrid
                rows={shown}
                selected={selected}
                words={words}
                broken={broken}
                hits={found?.set ?? NO_HITS}
                scale={scale}
                endMicros={endMicros}
                now={now}
                onSelect={select}
                onOpen={(n) => select(n, "push")}
                onFold={fold}
                onWindow={onWindow}
                onScrolled={(isAtEnd) => isRunning && setFollowing(isAtEnd && at.step === undefined)}
                onZoom={(by, where) => setView((before) => zoomed(before, by, where))}
                more={
                  isRunning && !isFollowing ? (
                    <button type="button" class="new-rows" onClick={follow}>
                      running · follow <kbd>L</kbd>
                    </button>
                  ) : null
                }
              />
            )}
            {row ? (
              <Detail
                run={run}
                row={row}
                tab={at.tab}
                form={at.form}
                from={at.from}
                find={at.find}
                version={version}
                features={meta.features}
                within={withinOf(row, byNumber)}
                {...neighboursOf(row, rows)}
                onBack={() => change({ step: undefined })}
              />
            ) : (
              <section class="pane">
                {rows.length > 0 && at.step !== undefined ? (
                  <p class="error-pane">there is no step #{at.step} in this run</p>
                ) : (
                  <p class="loading">loading…</p>
                )}
              </section>
            )}
            {at.panel === "findings" && findings.value && (
              <FindingsPanel
                findings={findings.value}
                violations={report.value?.violations ?? []}
                onSelect={(n) => select(n, "push")}
              />
            )}
          </main>
        </>
      )}
      {dialog.value === "fork" && (
        <ForkForm run={run} step={selected} isModelCall={row?.kind === "model"} model={model} data={null} />
      )}
      {dialog.value === "diff" && !isExported() && <DiffForm run={run} />}
    </>
  )
}

/** What takes a whole run to work out is told of a running one every so often. */
const REST_MS = 2000

const NO_HITS: ReadonlySet<number> = new Set()
const NOT_FOLDED: ReadonlySet<number> = new Set()

/** The step in the address, else the first finding, else the end of a running run, else the first step. */
function selectedStep(
  at: RunPlace,
  head: RunHead | null,
  rows: readonly RunRow[],
  list: readonly LookHere[],
  isFollowing: boolean,
): number | null {
  if (at.step !== undefined) return at.step
  if (isFollowing) return rows.reduce((most, { n }) => Math.max(most, n), 1)
  if (head?.run.crash?.step) return head.run.crash.step
  // Before the head says what ended it, the last step that did not end is where it will say so.
  if (head === null) return rows.findLast(({ status }) => status === "crashed")?.n ?? rows[0]?.n ?? null
  return list.find(({ step }) => step !== null)?.step ?? rows[0]?.n ?? null
}

const NO_SUSPECTS: Findings["suspects"] = []

/** The rules each step broke, in the rules' own short form. */
function brokenRules(violations: readonly Violation[]): ReadonlyMap<number, string> {
  const rules = new Map<number, string>()
  for (const { severity, rule, message, steps } of violations)
    if (severity === "fail")
      for (const { step_no } of steps) rules.set(step_no, rule === null ? message : `breaks ${rule}`)
  return rules
}

/** The crash says in its finding how much of the answer had come. */
function crashReceived(findings: Findings | null): string | null {
  const claim = findings?.findings.find(({ detector }) => detector === "crash")?.claim ?? ""
  const bytes = /(\d+) bytes of its response had come/.exec(claim)?.[1]
  return bytes === undefined ? null : `${(Number(bytes) / 1000).toFixed(1)} kB`
}

const endOf = (row: RunRow): number => (row.startMicros ?? 0) + (row.durationMicros ?? 0)

/** When leaves were at work; what only contains others says nothing about idle time. */
function busyOf(rows: readonly RunRow[], end: number): Span[] {
  return rows
    .filter(({ below, startMicros }) => below === 0 && startMicros !== null)
    .map((row) => ({ from: row.startMicros!, to: row.durationMicros === null ? end : endOf(row) }))
}

function zoomed({ from, to }: Span, by: number, at: number): Span {
  const width = Math.min(1, Math.max(0.0005, (to - from) * by))
  const start = Math.min(1 - width, Math.max(0, from + (to - from) * at - width * at))
  return { from: start, to: start + width }
}

/** A turn, a sub-agent: whatever the step stands under that is not the run itself. */
function withinOf({ parent }: RunRow, byNumber: ReadonlyMap<number, RunRow>): string | null {
  const above = parent === null ? undefined : byNumber.get(parent)
  return above === undefined || above.kind === "run" || above.name === "" ? null : above.name
}

function neighboursOf(row: RunRow, rows: readonly RunRow[]): { before: number | null; after: number | null } {
  const work = rows.filter(({ kind }) => kind !== "step" && kind !== "run" && kind !== LANE)
  const at = work.indexOf(row)
  return at === -1 ? { before: null, after: null } : { before: work[at - 1]?.n ?? null, after: work[at + 1]?.n ?? null }
}

interface Steps {
  readonly columns: StepColumns | null
  readonly problem: ApiProblem | null
  readonly retry: () => void
}

type StepPage = StepColumns & { readonly next_from: number | null }

/** All steps, ten thousand at a time; of a running run the open ones and what is new are asked for again. */
function useSteps(run: string, version: number): Steps {
  const [state, setState] = useState<{ run: string; columns: StepColumns | null; problem: ApiProblem | null }>({
    ...{ run, columns: null, problem: null },
  })
  const [tries, setTries] = useState(0)
  const known = useRef<StepColumns | null>(null)
  const isCurrent = state.run === run || state.columns?.run_id === run
  useAgain(run, tries, version, async (isRepeat, signal) => {
    // The address may have become the id it stood for: then these are its steps.
    if (!isCurrent) known.current = null
    else if (known.current !== null && isWhole(known.current) && !isRepeat && tries === 0) return
    try {
      for (let next: number | null = firstToAsk(known.current); next !== null; ) {
        const path = stepsPath(run, next)
        const page: StepPage = known.current === null ? await askOnce(path, signal) : await ask(path, signal)
        if (signal.aborted) return
        known.current = known.current ? joinColumns(known.current, page) : page
        setState({ run, columns: known.current, problem: null })
        next = page.next_from
      }
    } catch (cause) {
      if (!signal.aborted) setState({ run, columns: known.current, problem: asProblem(cause) })
    }
  })
  return {
    columns: isCurrent ? state.columns : null,
    problem: isCurrent ? state.problem : null,
    retry: () => setTries((count) => count + 1),
  }
}

const isWhole = ({ total, columns }: StepColumns): boolean => columns.n.length >= total

/** The first step that is open or not known yet. */
function firstToAsk(known: StepColumns | null): number {
  if (known === null) return 1
  const { n, duration_us } = known.columns
  const open = n.findIndex((_, at) => duration_us[at] === null && at > 0)
  return open === -1 ? Math.max(1, n.at(-1) ?? 1) : n[open]!
}

/** What a run's screen asks for first: so early that it is under way while the rest of the page is being made. */
export function askAhead({ run }: RunPlace): void {
  for (const path of [stepsPath(run, 1), runPath(run)]) askOnce(path).catch(() => {})
}

const runPath = (run: string): string => `/runs/${encodeURIComponent(run)}`
const stepsPath = (run: string, from: number): string => `${runPath(run)}/steps?from=${from}&limit=10000`

const WORDS_PAGE = 100

/** The words of rows that are seen, asked for in pages of a hundred steps a little after the scrolling stops. */
function useWords(run: string, isThere: boolean, version: number) {
  const [words, setWords] = useState<ReadonlyMap<number, RowWords>>(new Map())
  const wanted = useRef<readonly number[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asked = useRef(new Set<number>())
  const load = useCallback(async () => {
    const pages = [...new Set(wanted.current.map((n) => Math.floor((n - 1) / WORDS_PAGE)))]
    const missing = pages.filter((page) => !asked.current.has(page))
    for (const page of missing) asked.current.add(page)
    const loads = missing.map(async (page) => {
      try {
        const answer = await ask<{ words: readonly ({ n: number } & RowWords)[] }>(
          `/runs/${run}/words?from=${page * WORDS_PAGE + 1}&limit=${WORDS_PAGE}`,
        )
        setWords((before) => new Map([...before, ...answer.words.map((one) => [one.n, one] as const)]))
      } catch {
        // Rows have their names without them; the next scroll tries again.
        asked.current.delete(page)
      }
    })
    await Promise.all(loads)
  }, [run])
  // A run that goes on changes all the time; its words follow once a second.
  const again = async (): Promise<void> => {
    asked.current.clear()
    await load()
  }
  useAgain(isThere ? run : null, 0, version, again, 1000)
  const onWindow = useCallback(
    (ns: readonly number[]) => {
      if (!isThere) return
      wanted.current = ns
      clearTimeout(timer.current)
      timer.current = setTimeout(load, asked.current.size === 0 ? 0 : 60)
    },
    [load, isThere],
  )
  return { words, onWindow }
}

function useFound(run: string, find: string | undefined, isThere: boolean) {
  const [settled, setSettled] = useState(find)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(find), 200)
    return () => clearTimeout(timer)
  }, [find])
  const asked = useAnswer<{ total: number; steps: readonly number[] }>(
    isThere && settled ? `/runs/${run}/find?q=${encodeURIComponent(settled)}` : null,
  )
  return useMemo(
    () => (asked.value && find ? { ...asked.value, set: new Set(asked.value.steps) } : null),
    [asked.value, find],
  )
}

/** Microseconds since a running run began, a few times a second, so that open bars grow. */
function useNow(isRunning: boolean, startedAt: string): number | null {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(
      () => setNow(Date.now()),
      matchMedia("(prefers-reduced-motion: reduce)").matches ? 5000 : 250,
    )
    return () => clearInterval(timer)
  }, [isRunning])
  return isRunning ? Math.max(0, now - Date.parse(startedAt)) * 1000 : null
}
