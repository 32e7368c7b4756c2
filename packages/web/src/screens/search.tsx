import { useEffect, useState } from "preact/hooks"
import type { Place } from "../address-bar.js"
import { useAnswer } from "../api/memory-cache.js"
import { waiting } from "../parts/pane-state.js"
import { Line } from "../parts/recorded.js"
import { Link, shortId, TopBar } from "../parts/top-bar.js"
import { change } from "../state.js"
import { useKeys } from "../use-keys.js"

interface Hits {
  readonly hits: readonly {
    readonly run_id: string
    readonly n: number | null
    readonly event_type: string
    readonly at: string
    readonly snippet: string
    readonly places: number
  }[]
  readonly total: number
  readonly is_total_exact: boolean
}

/** Recorded words, wherever they stand. */
export function SearchScreen({ at }: { at: Extract<Place, { screen: "search" }> }) {
  const [text, setText] = useState(at.text ?? "")
  const asked = useAnswer<Hits>(at.text ? `/search?q=${encodeURIComponent(at.text)}` : null)
  useKeys((key) => (key === "/" ? document.getElementById("search-text")?.focus() : false))
  useEffect(() => document.getElementById("search-text")?.focus(), [])
  return (
    <>
      <TopBar found={null} />
      <form
        class="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          change({ text: text || undefined }, "push")
        }}
      >
        <input
          id="search-text"
          type="search"
          aria-label="words in any run"
          placeholder="words in any run"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Search</button>
        {asked.value && (
          <span class="second">
            {asked.value.hits.length} of {asked.value.is_total_exact ? "" : "at least "}
            {asked.value.total.toLocaleString("en")}
          </span>
        )}
      </form>
      <main class="page">
        <h1 class="only-heard">Search</h1>
        {at.text && asked.value === null && waiting(asked)}
        {asked.value?.hits.length === 0 && <p class="second">No run on record says that.</p>}
        <ul class="form">
          {asked.value?.hits.map((hit, index) => (
            <li key={index} class="panel">
              <p class="bar-line">
                <Link
                  to={{
                    screen: "run",
                    run: hit.run_id,
                    ...(hit.n === null ? {} : { step: hit.n }),
                    ...(at.text ? { find: at.text } : {}),
                  }}
                  name="mono here"
                >
                  {shortId(hit.run_id)}
                  {hit.n !== null && ` #${hit.n}`}
                </Link>
                <span class="second">{hit.event_type.replaceAll("_", " ")}</span>
                <span class="quiet">{hit.at.slice(0, 16).replace("T", " ")}</span>
                {hit.places > 1 && <span class="quiet">in {hit.places} places</span>}
              </p>
              <p class="mono">
                <Line text={hit.snippet} find={at.text} />
              </p>
            </li>
          ))}
        </ul>
      </main>
    </>
  )
}
