import { formatBytes, formatDuration } from "@orangebox/text"
import { useEffect, useRef } from "preact/hooks"
import { useAnswer } from "../api/memory-cache.js"
import { shortForkCommand } from "../model/run-commands.js"
import type { RunRow } from "../model/run-rows.js"
import { safeWords } from "../model/visible-text.js"
import { change, copy } from "../state.js"
import { BodySlice } from "./body-slice.js"
import { CacheTab } from "./cache-tab.js"
import { ContextTab } from "./context-tab.js"
import { ConversationTab } from "./conversation-tab.js"
import { EventsTab, type StepAnswer, type StepBody } from "./events-tab.js"
import { ProblemPane, waiting } from "./pane-state.js"
import { Line } from "./recorded.js"
import { ToolTab } from "./tool-tab.js"

interface Props {
  readonly run: string
  readonly row: RunRow
  readonly tab: string | undefined
  readonly form: string | undefined
  readonly from: number | undefined
  readonly find: string | undefined
  readonly version: number
  readonly features: readonly string[]
  /** The step it is part of, by its name. */
  readonly within: string | null
  readonly before: number | null
  readonly after: number | null
  readonly onBack: () => void
}

/** One step: what it was asked, what it saw, what it answered, every fact about it. */
export function Detail(props: Props) {
  const { run, row, version, features } = props
  const asked = useAnswer<StepAnswer>(`/runs/${run}/steps/${row.n}`, version)
  const answer = asked.value
  const tabs = tabsFor(row, answer, features)
  const chosen = tabs.find(({ id }) => id === props.tab) ?? tabs[0]!
  const pane = useRef<HTMLDivElement>(null)
  useEffect(() => {
    pane.current?.scrollTo(0, 0)
  }, [row.n, chosen.id])
  // Painted: what the benchmark waits for.
  useEffect(() => {
    if (answer !== null) requestAnimationFrame(() => performance.mark("run-ready"))
  }, [answer !== null])
  return (
    <section class="pane" aria-label={`step ${row.n}`}>
      <div class="pane-head">
        <div class="pane-title">
          <button type="button" class="back" onClick={props.onBack}>
            ← Back
          </button>
          <span class="mono here">#{row.n}</span>
          <h2>{row.kind}</h2>
          <span class="cut">
            <Line text={row.name} />
          </span>
          <span class="quiet cut grow">
            {props.within !== null && (
              <>
                <Line text={props.within} /> ·{" "}
              </>
            )}
            {factsOf(row, answer)}
          </span>
          <Neighbours before={props.before} after={props.after} />
        </div>
        <div class="tabs" role="tablist" aria-label="parts of the step">
          {tabs.map(({ id, name }) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`tab-${id}`}
              aria-selected={id === chosen.id}
              aria-controls="tab-panel"
              tabIndex={id === chosen.id ? 0 : -1}
              onClick={() => change({ tab: id, form: undefined, from: undefined })}
              onKeyDown={(event) => moveTab(event, tabs, chosen.id)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <div
        class="pane-body"
        id="tab-panel"
        role="tabpanel"
        aria-labelledby={`tab-${chosen.id}`}
        tabIndex={0}
        ref={pane}
      >
        {chosen.id === "conversation" ? (
          <ConversationTab run={run} n={row.n} version={version} find={props.find} />
        ) : chosen.id === "context" ? (
          <ContextTab run={run} n={row.n} version={version} />
        ) : chosen.id === "cache" ? (
          <CacheTab run={run} n={row.n} version={version} />
        ) : answer === null ? (
          waiting(asked)
        ) : chosen.id === "tool" ? (
          <ToolTab answer={answer} version={version} find={props.find} />
        ) : chosen.id === "events" ? (
          <EventsTab answer={answer} />
        ) : (
          <BodySlice
            body={chosen.body}
            partial={chosen.isTorn ? `/runs/${run}/steps/${row.n}/bodies/${chosen.id}` : null}
            form={props.form}
            from={props.from}
            find={props.find}
            version={version}
          />
        )}
        {asked.problem && answer !== null && <ProblemPane problem={asked.problem} retry={asked.retry} />}
      </div>
      {row.kind === "model" && (
        <div class="command">
          <span>what if?</span>
          <code>{shortForkCommand(run, row.n)}</code>
          <button type="button" onClick={() => copy(shortForkCommand(run, row.n), "the command")}>
            Copy
          </button>
        </div>
      )}
    </section>
  )
}

interface Tab {
  readonly id: string
  readonly name: string
  readonly body: StepBody | null
  /** Only what had come of it. */
  readonly isTorn: boolean
}

/** Only those that apply, and that this build can fill. */
export function tabsFor(row: RunRow, answer: StepAnswer | null, features: readonly string[]): Tab[] {
  const tabs: Tab[] = []
  const add = (id: string, name: string, body: StepBody | null = null, isTorn = false) =>
    tabs.push({ id, name, body, isTorn })
  const isModel = row.kind === "model"
  if (isModel && features.includes("conversation")) add("conversation", "Conversation")
  if (isModel && features.includes("contexts")) add("context", "Context")
  if (isModel && features.includes("cache")) add("cache", "Cache")
  if (row.kind === "tool") add("tool", "Tool")
  for (const body of answer?.bodies ?? [])
    if (WHOLE_BODIES.includes(body.role) && tabs.every(({ id }) => id !== body.role))
      add(body.role, titleOf(body.role, body.byte_size), body)
  for (const { role, byte_size } of answer?.partials ?? [])
    if (WHOLE_BODIES.includes(role) && tabs.every(({ id }) => id !== role))
      add(role, titleOf(role, byte_size), null, true)
  add("events", answer === null ? "Events" : `Events ${answer.step.events}`)
  return tabs
}

const WHOLE_BODIES = ["request", "response"]
const titleOf = (role: string, size: number | null): string =>
  `${role[0]!.toUpperCase()}${role.slice(1)} ${formatBytes(size)}`

function factsOf(row: RunRow, answer: StepAnswer | null): string {
  const model = answer?.step.model
  const parts = [
    model?.first_byte_ms == null ? null : `first byte ${formatDuration(model.first_byte_ms * 1000)}`,
    row.durationMicros === null ? row.status : formatDuration(row.durationMicros),
    model?.finish_reason == null ? null : safeWords(model.finish_reason, 40),
    answer && answer.step.body_bytes > 0 ? formatBytes(answer.step.body_bytes) : null,
  ]
  return parts.filter((part) => part !== null).join(" · ")
}

function Neighbours({ before, after }: { before: number | null; after: number | null }) {
  const to = (n: number) => (
    <button type="button" class="plain mono" onClick={() => change({ step: n, from: undefined }, "push")}>
      #{n}
    </button>
  )
  if (before === null && after === null) return null
  return (
    <span class="quiet">
      {before !== null && <>after {to(before)}</>}
      {before !== null && after !== null && " · "}
      {after !== null && <>then {to(after)}</>}
    </span>
  )
}

function moveTab(event: KeyboardEvent, tabs: readonly Tab[], chosen: string): void {
  const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
  if (by === 0) return
  event.preventDefault()
  event.stopPropagation()
  const at = tabs.findIndex(({ id }) => id === chosen)
  const next = tabs[(at + by + tabs.length) % tabs.length]!
  change({ tab: next.id, form: undefined, from: undefined })
  requestAnimationFrame(() => document.getElementById(`tab-${next.id}`)?.focus())
}
