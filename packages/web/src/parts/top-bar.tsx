import { formatBytes } from "@orangebox/text"
import { formatPlace, type Place } from "../address-bar.js"
import { isExported } from "../api/client.js"
import { behindBytes, feedState, storeProblem } from "../api/live.js"
import { change, dialog, go, place, theme, toggleTheme } from "../state.js"
import { Line } from "./recorded.js"

const SCREENS: readonly [string, Place][] = [
  ["Runs", { screen: "runs" }],
  ["Search", { screen: "search" }],
  ["Analytics", { screen: "analytics" }],
]

/** A link to a place of this page: a real address to copy or open elsewhere, followed here without loading anything. */
export function Link({
  to,
  children,
  name,
  isHere,
}: {
  to: Place
  children: preact.ComponentChildren
  name?: string
  isHere?: boolean
}) {
  return (
    <a
      href={formatPlace(to)}
      class={name ?? ""}
      aria-current={isHere ? "page" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

export function TopBar({ found }: { found: { total: number; at: number } | null }) {
  const here = place.value
  const isRuns = here.screen === "runs" || here.screen === "run"
  return (
    <header class="top">
      <span class="logo">
        <i aria-hidden="true" />
        orangebox
      </span>
      {!isExported() && (
        <nav aria-label="screens">
          {SCREENS.map(([name, to]) => (
            <Link key={name} to={to} isHere={(to.screen === "runs" && isRuns) || to.screen === here.screen}>
              {name}
            </Link>
          ))}
        </nav>
      )}
      {here.screen === "run" && (
        <span class="mono quiet crumb cut">
          / runs / <Line text={shortId(here.run)} />
        </span>
      )}
      <span class="grow" />
      {here.screen === "run" && !isExported() && (
        <form
          class="find"
          role="search"
          onSubmit={(event) => {
            event.preventDefault()
            document.querySelector<HTMLElement>('.row[tabindex="0"]')?.focus()
          }}
        >
          <input
            id="find"
            type="search"
            placeholder="Find in this run"
            aria-label="find in this run"
            value={here.find ?? ""}
            onInput={(event) => change({ find: event.currentTarget.value || undefined })}
          />
          <span class="tail">
            {found ? found.total === 0 ? "nowhere" : `${found.at}/${found.total}` : <kbd>/</kbd>}
          </span>
        </form>
      )}
      <StoreState />
      <button
        type="button"
        class="plain"
        onClick={toggleTheme}
        aria-label={theme.value === "dark" ? "light colours" : "dark colours"}
      >
        {theme.value === "dark" ? "☀" : "☾"}
      </button>
      <button type="button" class="plain" onClick={() => (dialog.value = "keys")} aria-label="keys">
        <kbd>?</kbd>
      </button>
    </header>
  )
}

function StoreState() {
  if (isExported()) return <span class="second dot">exported</span>
  if (feedState.value === "gone") return <span class="second dot gone">no server</span>
  if (storeProblem.value !== null)
    return (
      <span class="second dot gone" title={storeProblem.value}>
        store not readable
      </span>
    )
  if (behindBytes.value > 0) return <span class="second dot behind">{formatBytes(behindBytes.value)} behind</span>
  return <span class="second dot">store is current</span>
}

/** `run_01M7HG7J…DHG2J`: ids begin with time, so both ends are needed to tell them apart. */
export const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 12)}…${id.slice(-5)}` : id)
