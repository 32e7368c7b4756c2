import { formatPercent } from "@orangebox/text"
import { useState } from "preact/hooks"
import { useAnswer } from "../api/memory-cache.js"
import { change, place } from "../state.js"
import { hueOf } from "../tokens.js"
import { kindWord } from "./draw-strata.js"
import { waiting } from "./pane-state.js"
import { Line } from "./recorded.js"

interface Item {
  readonly position: number
  readonly id: string | null
  readonly contributor: string | null
  readonly kind: string
  readonly item_type: string | null
  readonly reason: string | null
  readonly tokens: number | null
  readonly share: number | null
  readonly hash: string | null
  readonly text: string | null
  readonly change: string | null
}

interface Context {
  readonly n: number
  readonly basis: string
  readonly inferred_by: string | null
  readonly delivery: string | null
  readonly prompt: {
    readonly tokens: number | null
    readonly counted_by: string | null
    readonly are_items_estimated: boolean
    readonly budget: number | null
  }
  readonly budget: {
    readonly tiers: Readonly<Record<string, { readonly reserved: number; readonly used: number }>>
  } | null
  readonly manifest: { readonly considered_count: number | null } | null
  readonly counts: { readonly items: number; readonly excluded: number | null }
  readonly changes: {
    readonly since: number
    readonly added: number
    readonly removed: number
    readonly changed: number
    readonly same: number
    readonly prefix: string
    readonly history_loss: { readonly why: string; readonly items: number } | null
  } | null
  readonly gaps: readonly string[]
  readonly items: readonly Item[]
  readonly missing: readonly Item[]
  readonly beside: readonly Item[]
  readonly excluded: readonly {
    readonly id: string | null
    readonly reason: string
    readonly score: number | null
    readonly tokens: number | null
    readonly source_ref: string | null
  }[]
  readonly removed: readonly { readonly item: Item; readonly excluded_now: unknown }[]
}

/** What one call saw, piece by piece, and what was left out. */
export function ContextTab({ run, n, version }: { run: string; n: number; version: number }) {
  const asked = useAnswer<Context>(`/runs/${run}/contexts/${n}`, version)
  const context = asked.value
  const why = place.value.screen === "run" ? place.value.why : undefined
  if (context === null) return waiting(asked)
  const { prompt, changes, items, excluded, removed, budget, counts } = context
  const isGuess = prompt.are_items_estimated
  return (
    <>
      <div class="bar-line">
        <b>
          #{n} saw {prompt.tokens === null ? "?" : prompt.tokens.toLocaleString("en")} tokens of{" "}
          {prompt.budget === null ? "?" : prompt.budget.toLocaleString("en")}
        </b>
        <span class={context.inferred_by ? "inferred" : ""}>
          basis: {context.basis}
          {context.inferred_by && " (derived)"}
        </span>
        {prompt.counted_by && <span>counted by {prompt.counted_by}</span>}
        {changes && (
          <span>
            since{" "}
            <button type="button" class="plain mono" onClick={() => change({ step: changes.since }, "push")}>
              #{changes.since}
            </button>
            : +{changes.added} −{changes.removed} ~{changes.changed}, {changes.same} the same, prefix {changes.prefix}
          </span>
        )}
      </div>
      <ContextBar items={items} />
      <WhyForm run={run} why={why} />
      <ItemTable items={items} isGuess={isGuess} />
      {changes && (
        <p>
          <b>GONE SINCE #{changes.since}</b>{" "}
          {removed.length === 0
            ? "none"
            : removed
                .map(({ item }) => item.id ?? item.contributor ?? item.kind)
                .map((name, at) => (
                  <span key={at}>
                    {at > 0 && " · "}
                    <Line text={name} />
                  </span>
                ))}
          {changes.history_loss && (
            <span class="inferred">
              {" "}
              {changes.history_loss.why}: {changes.history_loss.items} pieces
            </span>
          )}
        </p>
      )}
      <section>
        <p>
          <b>LEFT OUT</b>{" "}
          {counts.excluded === null
            ? "nobody recorded what was left out"
            : `${counts.excluded}${context.manifest?.considered_count ? ` of ${context.manifest.considered_count} considered` : ""}`}
        </p>
        {excluded.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">what</th>
                <th scope="col">why</th>
                <th scope="col" class="num">
                  score
                </th>
                <th scope="col" class="num">
                  tokens
                </th>
              </tr>
            </thead>
            <tbody>
              {excluded.map((one, at) => (
                <tr key={at}>
                  <td class="mono">
                    <Line text={one.id ?? one.source_ref ?? "?"} />
                  </td>
                  <td>{one.reason.replaceAll("_", " ")}</td>
                  <td class="num mono">{one.score === null ? "?" : Number(one.score.toPrecision(3))}</td>
                  <td class="num mono">{one.tokens ?? "?"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {budget && (
        <p>
          <b>BUDGET</b>{" "}
          {Object.entries(budget.tiers)
            .map(([tier, { used, reserved }]) => `${tier} ${used}/${reserved}`)
            .join(" · ")}
        </p>
      )}
      {context.missing.length > 0 && (
        <>
          <p class="bad">
            <b>TOLD, BUT NOT SENT</b>
          </p>
          <ItemTable items={context.missing} isGuess={isGuess} />
        </>
      )}
      {context.beside.length > 0 && (
        <>
          <p>
            <b>BESIDE THE COMPILED PROMPT</b>
          </p>
          <ItemTable items={context.beside} isGuess={isGuess} />
        </>
      )}
      {context.gaps.map((gap) => (
        <p key={gap} class="warn">
          <Line text={gap} />
        </p>
      ))}
    </>
  )
}

/** The prompt as one bar, at least two pixels a piece, so that nothing is too small to be there. */
function ContextBar({ items }: { items: readonly Item[] }) {
  return (
    <div class="stack" aria-hidden="true">
      {items.map((item, at) => (
        <i
          key={at}
          class={`b-${hueOf(item.kind)}`}
          style={{ flex: `${item.tokens ?? 1} 0 2px`, opacity: item.change === "same" ? 0.45 : 1 }}
        />
      ))}
    </div>
  )
}

const SIGNS: Readonly<Record<string, string>> = { added: "+", changed: "~", same: " " }

function ItemTable({ items, isGuess }: { items: readonly Item[]; isGuess: boolean }) {
  return (
    <table class="items">
      <thead>
        <tr>
          <th scope="col">
            <span class="only-heard">change</span>
          </th>
          <th scope="col">piece</th>
          <th scope="col">kind</th>
          <th scope="col" class="num">
            tokens
          </th>
          <th scope="col" class="num">
            share
          </th>
          <th scope="col">begins</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.position}>
            <td class={item.change === "added" ? "ok mono" : "mono"}>
              {item.change === null ? "" : (SIGNS[item.change] ?? "?")}
            </td>
            <td class="mono">
              <button
                type="button"
                class="plain"
                title="why is this here?"
                onClick={() => change({ why: item.id ?? item.contributor ?? item.hash ?? undefined })}
              >
                {item.position} <Line text={item.id ?? item.contributor ?? "?"} />
              </button>
            </td>
            <td class="nowrap">{kindWord(item.kind, 1)}</td>
            <td class="num mono">
              {item.tokens === null ? "?" : `${isGuess ? "≈" : ""}${item.tokens.toLocaleString("en")}`}
            </td>
            <td class="num mono">{item.share === null ? "?" : formatPercent(item.share, 1)}</td>
            <td class="second">
              {item.text !== null && <Line text={item.text.slice(0, 200).replaceAll(/\s+/g, " ").slice(0, 90)} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface Why {
  readonly matched_by: string | null
  readonly contexts: number
  readonly items: readonly {
    readonly id: string | null
    readonly kind: string
    readonly sightings: readonly {
      readonly n: number
      readonly state: string
      readonly reason: string | null
      readonly tokens: number | null
      readonly is_changed: boolean
    }[]
  }[]
}

/** `context --why`: the way of a piece through the run. */
function WhyForm({ run, why }: { run: string; why: string | undefined }) {
  const [text, setText] = useState(why ?? "")
  const asked = useAnswer<Why>(why ? `/runs/${run}/why?item=${encodeURIComponent(why)}` : null)
  return (
    <section>
      <form
        class="bar-line"
        onSubmit={(event) => {
          event.preventDefault()
          change({ why: text || undefined })
        }}
      >
        <label>
          why is{" "}
          <input
            value={text}
            placeholder="an id, a hash, some words"
            onInput={(event) => setText(event.currentTarget.value)}
          />{" "}
          here?
        </label>
        <button type="submit">Ask</button>
        {why && (
          <button type="button" onClick={() => change({ why: undefined })}>
            ✕
          </button>
        )}
      </form>
      {why && asked.value === null && waiting(asked)}
      {asked.value && asked.value.items.length === 0 && <p class="quiet">in none of {asked.value.contexts} contexts</p>}
      {asked.value?.items.map((item, at) => (
        <p key={at} class="mono">
          <b>
            <Line text={item.id ?? item.kind} />
          </b>
          :{" "}
          {item.sightings.map(({ n, state, reason, is_changed }) => (
            <span key={n}>
              <button type="button" class="plain" onClick={() => change({ step: n }, "push")}>
                #{n}
              </button>
              <span class={state === "included" ? "ok" : state === "excluded" ? "warn" : "quiet"}>
                {" "}
                {state}
                {is_changed && ", changed"}
                {reason && ` (${reason.replaceAll("_", " ")})`}
              </span>{" "}
            </span>
          ))}
        </p>
      ))}
    </section>
  )
}
