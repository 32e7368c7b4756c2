import { InputError } from "@orangebox/contract"
import { findRun, findTarget, type PlacedReading, placedInStore, type StandingReading } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import { etagOf } from "./etag.js"
import { refusalOf } from "./problem.js"
import type { Reply } from "./reply.js"
import { type Bytes, type Desk, readParams } from "./route.js"
import { findRoute } from "./route-table.js"

export interface ApiOptions {
  readonly reading: StandingReading
  /** The data folder as somebody named it, for the commands that answers suggest. */
  readonly named: string | undefined
  readonly version: string
  behindBytes(): number
}

export interface ApiAsked {
  readonly path: string
  readonly query: string
  readonly headers: { readonly range?: string | undefined }
}

/** Whether an answer is made of the store and the configuration alone, so that it stays true until one of them changes. */
export function isOfRuns(path: string): boolean {
  try {
    const route = findRoute(path)?.route
    return route !== undefined && !route.isBytes && (route.path.includes("{address}") || route.path.startsWith("/diff"))
  } catch {
    return false
  }
}

/** Whether answering takes a whole run: what a thread of its own is for. */
export function isHeavy(path: string): boolean {
  try {
    return findRoute(path)?.route.isHeavy !== false
  } catch {
    return false
  }
}

/** The same as `answer`, or what is wrong as the answer. */
export async function answerOrRefusal(options: ApiOptions, asked: ApiAsked): Promise<Reply> {
  try {
    return await answer(options, asked)
  } catch (error) {
    return refusalOf(error)
  }
}

/** Answers what is asked below `/api/v1`. Throws what there is to say where it cannot. */
export async function answer(options: ApiOptions, asked: ApiAsked): Promise<Reply> {
  const found = routeOf(asked.path)
  const values = readParams(found.route, found.path, new URLSearchParams(asked.query))
  try {
    const desk = await openDesk(options)
    const value = await found.route.handle(values, desk, { range: asked.headers.range })
    if (found.route.isBytes) {
      const { bytes, status, headers } = value as Bytes
      return { status, headers, body: bytes }
    }
    const text = safeJson(value)
    return { status: 200, headers: { "content-type": "application/json", etag: etagOf(text) }, body: text }
  } catch (error) {
    throw options.reading.damageIn(error)
  }
}

async function openDesk({ reading: standing, named, version, behindBytes }: ApiOptions): Promise<Desk> {
  const store = await standing.at()
  const reading = { store, freshness: { behind_bytes: behindBytes() } }
  const place = (address: string): PlacedReading => placedInStore(reading, address, named)
  const runIdOf = async (address: string): Promise<string> => {
    const { runId, id, kind } = await findTarget(store, address)
    if (runId !== null) return runId
    throw new InputError("NO_RUN", { what: `${safeJson(id)} is a ${kind} that belongs to no run` })
  }
  return {
    ...{ data: standing.data, named, version, store, reading, freshness: reading.freshness, place, runIdOf },
    whole: async (address) => place(await runIdOf(address)),
    step: async (address, n) => place(`${await runIdOf(address)}#${n}`),
    run: async (address) => findRun(store, await runIdOf(address)),
  }
}

function routeOf(path: string): NonNullable<ReturnType<typeof findRoute>> {
  try {
    const found = findRoute(path)
    if (found !== undefined) return found
  } catch {
    // A piece that cannot be decoded names nothing.
  }
  throw new InputError("NO_SUCH_PATH", {
    what: "there is nothing at this path",
    next: "GET /api/v1/openapi.json lists what there is",
  })
}
