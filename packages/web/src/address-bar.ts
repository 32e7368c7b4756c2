// The address is the state: whatever is on screen can be copied as a link and comes back. It carries no key.

export type Place =
  | {
      readonly screen: "runs"
      readonly status?: string
      readonly app?: string
      readonly model?: string
      readonly has?: string
      readonly since?: string
      readonly text?: string
    }
  | {
      readonly screen: "run"
      readonly run: string
      readonly step?: number
      readonly tab?: string
      readonly find?: string
      readonly lane?: string
      /** What a body is shown as, and from which byte. */
      readonly form?: string
      readonly from?: number
      /** `report` instead of steps. */
      readonly view?: "report"
      /** `findings` open beside the run, strata as a table or closed. */
      readonly panel?: "findings"
      readonly strata?: "table" | "closed"
      /** A piece whose way through the run is asked for. */
      readonly why?: string
    }
  | { readonly screen: "diff"; readonly a: string; readonly b: string; readonly item?: number }
  | { readonly screen: "analytics"; readonly by?: string; readonly since?: string }
  | { readonly screen: "search"; readonly text?: string }

const RUN_WORDS = ["tab", "find", "lane", "form", "why"] as const
const FILTER_WORDS = ["status", "app", "model", "has", "since", "text"] as const

/** A place from path and query. What is not understood is left out; an unknown path is the list of runs. */
export function parsePlace(path: string, query: string): Place {
  const words = new URLSearchParams(query)
  const [first, second, third] = path.split("/").filter(Boolean).map(decoded)
  const chosen = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.flatMap((name) => (words.get(name) ? [[name, words.get(name)!]] : [])))
  if (first === "runs" && second) {
    const step = wholeNumber(third)
    const from = wholeNumber(words.get("from"))
    const strata = words.get("strata")
    return {
      screen: "run",
      run: second,
      ...(step === undefined || step === 0 ? {} : { step }),
      ...chosen(RUN_WORDS),
      ...(from === undefined ? {} : { from }),
      ...(words.get("view") === "report" ? { view: "report" as const } : {}),
      ...(words.get("panel") === "findings" ? { panel: "findings" as const } : {}),
      ...(strata === "table" || strata === "closed" ? { strata } : {}),
    }
  }
  const a = words.get("a")
  const b = words.get("b")
  if (first === "diff" && a && b) {
    const item = wholeNumber(words.get("item"))
    return { screen: "diff", a, b, ...(item === undefined ? {} : { item }) }
  }
  if (first === "analytics") return { screen: "analytics", ...chosen(["by", "since"]) }
  if (first === "search") return { screen: "search", ...chosen(["text"]) }
  return { screen: "runs", ...chosen(FILTER_WORDS) }
}

export function formatPlace(place: Place): string {
  const { screen, ...rest } = place
  const words: Record<string, string | number | undefined> = { ...rest }
  let path = `/${screen}`
  if (place.screen === "run") {
    path = `/runs/${encodeURIComponent(place.run)}${place.step === undefined ? "" : `/${place.step}`}`
    delete words["run"]
    delete words["step"]
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(words))
    if (value !== undefined && value !== "") query.set(name, String(value))
  return query.size === 0 ? path : `${path}?${query}`
}

const wholeNumber = (text: string | null | undefined): number | undefined =>
  text && /^\d{1,15}$/.test(text) ? Number(text) : undefined

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
