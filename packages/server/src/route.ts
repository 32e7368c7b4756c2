import { InputError } from "@orangebox/contract"
import type { LoadedRun, PlacedReading, StoreReading } from "@orangebox/reader"
import type { TraceReader } from "@orangebox/store"
import { nearestWord, safeJson } from "@orangebox/text"

/** Something that a path or a query says. */
export type Param =
  | { readonly is: "text"; readonly about: string; readonly isNeeded?: true }
  | { readonly is: "count"; readonly about: string; readonly least?: number; readonly most?: number }
  | { readonly is: "flag"; readonly about: string }
  | { readonly is: "word"; readonly about: string; readonly words: readonly string[] }

export type Params = Readonly<Record<string, Param>>

type ValueOf<P extends Param> = P extends { is: "count" }
  ? number | undefined
  : P extends { is: "flag" }
    ? boolean
    : P extends { is: "word"; words: readonly (infer Word)[] }
      ? Word | undefined
      : P extends { isNeeded: true }
        ? string
        : string | undefined

export type Values<P extends Params> = { readonly [Name in keyof P]: ValueOf<P[Name]> }

/** What a route answers from. */
export interface Desk {
  /** The data folder, and the same where somebody named it: it stands in the commands that answers suggest. */
  readonly data: string
  readonly named: string | undefined
  readonly store: TraceReader
  readonly reading: StoreReading
  /** Part of every answer, as in the JSON of the command line. */
  readonly freshness: StoreReading["freshness"]
  readonly version: string
  /** Where an address is read; the run it points at or into; and a step of that. */
  place(address: string): PlacedReading
  whole(address: string): Promise<PlacedReading>
  step(address: string, n: number): Promise<PlacedReading>
  runIdOf(address: string): Promise<string>
  run(address: string): Promise<LoadedRun>
}

/** Bytes for a program: never shown by a browser. */
export interface Bytes {
  readonly bytes: Uint8Array
  readonly status: 200 | 206
  readonly headers: Readonly<Record<string, string>>
}

export interface Route {
  /** Below `/api/v1`, with the names of its parameters in braces. */
  readonly path: string
  readonly summary: string
  /** In the path where the path has it, else in the query. */
  readonly params: Params
  /** The schema of the answer by its name; bytes have none. */
  readonly answer: string
  readonly isBytes?: true
  /** False where it takes a few rows of the store; all others load a run, or many. */
  readonly isHeavy?: false
  handle(values: Readonly<Record<string, unknown>>, desk: Desk, headers: Headers): Promise<object>
}

/** Of a request, what an answer may depend on beside its parameters. */
export interface Headers {
  readonly range: string | undefined
}

/** A row of the table, with the types of its parameters read from what it says about them. */
export function route<const P extends Params>(
  row: Omit<Route, "handle" | "params"> & {
    readonly params: P
    handle(values: Values<P>, desk: Desk, headers: Headers): Promise<object>
  },
): Route {
  return row as unknown as Route
}

/** The values of a route's parameters, or what is wrong with them. */
export function readParams(
  { params }: Route,
  path: Readonly<Record<string, string>>,
  query: URLSearchParams,
): Record<string, unknown> {
  const names = Object.keys(params).filter((name) => !Object.hasOwn(path, name))
  for (const name of query.keys()) {
    if (!names.includes(name)) throw unknownName(name, names)
    if (query.getAll(name).length > 1) throw wrong(`${name} is given more than once`, "Give it once")
  }
  return Object.fromEntries(
    Object.entries(params).map(([name, param]) => [
      name,
      paramValue(name, param, Object.hasOwn(path, name) ? path[name] : (query.get(name) ?? undefined)),
    ]),
  )
}

function paramValue(name: string, param: Param, text: string | undefined): unknown {
  switch (param.is) {
    case "flag":
      if (text === undefined || text === "false") return false
      if (text === "true" || text === "") return true
      throw wrong(`${name} is ${safeJson(text)}`, "It must be true or false")
    case "count": {
      if (text === undefined) return undefined
      const { least = 0, most = Number.MAX_SAFE_INTEGER } = param
      const count = Number(text)
      if (/^\d{1,16}$/.test(text) && count >= least && count <= most) return count
      const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`
      throw wrong(`${name} is ${safeJson(text.slice(0, 80))}`, `It must be a whole number from ${least}${upTo}`)
    }
    case "word":
      if (text === undefined || param.words.includes(text)) return text
      throw wrong(`${name} is ${safeJson(text.slice(0, 80))}`, `It must be one of: ${param.words.join(", ")}`)
    case "text":
      if (param.isNeeded && (text === undefined || text.trim() === ""))
        throw wrong(`${name} is missing`, `Give it: ${param.about}`)
      return text
  }
}

function unknownName(name: string, names: readonly string[]): InputError {
  const meant = nearestWord(name, names)
  const there = names.length === 0 ? "It takes none" : `It takes: ${names.join(", ")}`
  return wrong(
    `there is no parameter ${safeJson(name.slice(0, 80))}`,
    meant === undefined ? there : `Did you mean ${meant}? ${there}`,
  )
}

const wrong = (what: string, next: string): InputError => new InputError("USAGE", { what, next })
