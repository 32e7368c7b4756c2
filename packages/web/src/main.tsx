import { render } from "preact"
import { useEffect, useState } from "preact/hooks"
import { formatPlace } from "./address-bar.js"
import { type ApiProblem, isExported, openSession, readExportedAnswers } from "./api/client.js"
import { followFeed } from "./api/live.js"
import { askOnce, asProblem } from "./api/memory-cache.js"
import type { Meta } from "./api/shapes.js"
import { safeWords } from "./model/visible-text.js"
import { KeyList } from "./parts/key-list.js"
import { ProblemPane } from "./parts/pane-state.js"
import { AnalyticsScreen } from "./screens/analytics.js"
import { DiffScreen } from "./screens/diff.js"
import { NoKey } from "./screens/no-key.js"
import { askAhead, RunScreen } from "./screens/run.js"
import { RunsScreen } from "./screens/runs.js"
import { SearchScreen } from "./screens/search.js"
import { copy, dialog, go, place, readAddress, said, startTheme, toggleTheme } from "./state.js"
import { useKeys } from "./use-keys.js"

/** The run an exported page is about stands first among its answers. */
function start(): void {
  startTheme()
  if (readExportedAnswers()) {
    const run = document.getElementById("answers")?.dataset["run"]
    place.value = { screen: "run", run: run ?? "" }
  }
  readAddress()
  addEventListener("popstate", readAddress)
  render(<App />, document.getElementById("app")!)
}

type Opening =
  | { readonly state: "opening" }
  | { readonly state: "no-key" }
  | { readonly state: "open"; readonly meta: Meta }
  | { readonly state: "failed"; readonly problem: ApiProblem }

function App() {
  const [opening, setOpening] = useState<Opening>({ state: "opening" })
  const open = async () => {
    try {
      if (!(await openSession())) return setOpening({ state: "no-key" })
      if (place.value.screen === "run") askAhead(place.value)
      const meta = await askOnce<Meta>("/meta")
      setOpening({ state: "open", meta })
      // One run, and no place named: it is what one wants to see.
      if (!isExported() && location.pathname === "/" && meta.store.runs === 1)
        go({ screen: "run", run: "last" }, "replace")
      void followFeed()
    } catch (cause) {
      const problem = asProblem(cause)
      setOpening(problem.status === 401 ? { state: "no-key" } : { state: "failed", problem })
    }
  }
  useEffect(() => {
    void open()
  }, [])

  useKeys((key) => {
    switch (key) {
      case "?":
        dialog.value = "keys"
        return
      case "t":
        return toggleTheme()
      case "u":
        return isExported() ? false : go({ screen: "runs" })
      case "c":
        return isExported() ? false : void copy(location.origin + formatPlace(place.value), "the link")
      case "/":
        return document.getElementById("find")?.focus() ?? false
      default:
        return false
    }
  })
  const here = place.value
  useEffect(() => {
    document.title = `${here.screen === "run" ? safeWords(here.run) : here.screen} · orangebox`
  }, [here])

  return (
    <>
      {opening.state === "opening" ? (
        <p class="loading">loading…</p>
      ) : opening.state === "no-key" ? (
        <NoKey />
      ) : opening.state === "failed" ? (
        <ProblemPane problem={opening.problem} retry={() => void open()} />
      ) : here.screen === "run" ? (
        <RunScreen at={here} meta={opening.meta} />
      ) : here.screen === "diff" ? (
        <DiffScreen at={here} meta={opening.meta} />
      ) : here.screen === "analytics" ? (
        <AnalyticsScreen at={here} />
      ) : here.screen === "search" ? (
        <SearchScreen at={here} />
      ) : (
        <RunsScreen key={formatPlace(here)} at={here} meta={opening.meta} />
      )}
      {dialog.value === "keys" && <KeyList />}
      <div class={said.value === "" ? "only-heard" : "toast"} role="status" aria-live="polite">
        {said.value}
      </div>
    </>
  )
}

start()
