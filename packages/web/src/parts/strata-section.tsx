import { useMemo } from "preact/hooks"
import type { Asked } from "../api/memory-cache.js"
import { safeWords } from "../model/visible-text.js"
import { change } from "../state.js"
import { usePrinting } from "../use-printing.js"
import { waiting } from "./pane-state.js"
import { MANY_CALLS, Strata, type StrataAnswer, strataPicture } from "./strata.js"
import { StrataBars } from "./strata-bars.js"
import { StrataReadout } from "./strata-readout.js"
import { StrataTable } from "./strata-table.js"

/** With fewer there is nothing to follow from call to call. */
const FEWEST_CALLS = 3

export const strataPath = (run: string, lane?: string): string =>
  `/runs/${run}/strata${lane === undefined ? "" : `?lane=${encodeURIComponent(lane)}`}`

/** What the model saw, call by call: the picture, its table, and the selected call in numbers. */
export function StrataSection({
  asked,
  lane,
  shape: chosen,
  step,
  onSelect,
}: {
  asked: Asked<StrataAnswer>
  lane: string | undefined
  shape: "table" | "closed" | undefined
  step: number | null
  onSelect: (n: number) => void
}) {
  // Paper has the numbers.
  const shape = usePrinting() ? "table" : chosen
  const data = asked.value
  const picture = useMemo(() => (data ? strataPicture(data) : null), [data])
  const calls = data?.calls ?? []
  // A step between two calls is shown with the call before it, which led to it.
  const at = step === null ? -1 : calls.findLastIndex(({ n }) => n <= step)
  const selected = at === -1 ? null : at
  const isMany = calls.length > MANY_CALLS
  const isFew = calls.length > 0 && calls.length < FEWEST_CALLS && shape === undefined
  const toggle = (to: "table" | "closed" | undefined, name: string) => (
    <button type="button" aria-pressed={shape === to} onClick={() => change({ strata: to })}>
      {name}
    </button>
  )
  return (
    <section
      class={`strata ${shape === "closed" || isFew ? "closed" : ""} ${isMany && shape === undefined ? "deep" : ""}`}
      aria-label="what the model saw"
    >
      <div class="strata-body">
        <div class="strata-head">
          <h2>What the model saw, call by call</h2>
          <span class="quiet cut">
            {isFew
              ? "each bar is one call, each part one piece of its prompt: faint was read from the cache, hatched was sent before and paid again"
              : "each column is one call, each band one piece of the prompt at its place; straight bands can be cached"}
          </span>
          <span class="grow" />
          {data && data.lanes.length > 1 && (
            <select
              aria-label="lane"
              value={lane ?? data.lane ?? ""}
              onChange={(event) => change({ lane: event.currentTarget.value || undefined })}
            >
              {data.lanes.map((one) => (
                <option key={one.lane} value={one.lane}>
                  {one.lane === "" ? "main" : safeWords(one.lane, 40)} ({one.calls})
                </option>
              ))}
            </select>
          )}
          <span class="choice" role="group" aria-label="strata as">
            {toggle(undefined, "picture")}
            {toggle("table", "table")}
            {toggle("closed", "closed")}
          </span>
        </div>
        {shape === "closed" ? null : picture === null ? (
          waiting(asked)
        ) : calls.length === 0 ? (
          <p class="error-pane quiet">No model call of this run says what it was sent.</p>
        ) : shape === "table" ? (
          <StrataTable picture={picture} selected={selected} onSelect={(call) => onSelect(calls[call]!.n)} />
        ) : isFew ? (
          <StrataBars picture={picture} selected={selected} onSelect={(call) => onSelect(calls[call]!.n)} />
        ) : (
          <Strata
            picture={picture}
            selected={selected}
            label={pictureName(data!)}
            onSelect={(call) => onSelect(calls[call]!.n)}
          />
        )}
        {data?.merged && shape !== "closed" && (
          <p class="quiet strata-head">
            {data.total_bands.toLocaleString("en")} bands, neighbours of one kind drawn together
          </p>
        )}
      </div>
      {shape !== "closed" && !isFew && picture && calls.length > 0 && (
        <StrataReadout picture={picture} call={selected ?? 0} />
      )}
    </section>
  )
}

function pictureName({ calls }: StrataAnswer): string {
  const broken = calls.filter(({ broke }) => broke).length
  return `what the model saw in ${calls.length} calls${broken > 0 ? `; ${broken} broke the cache` : ""}; the table has the numbers`
}
