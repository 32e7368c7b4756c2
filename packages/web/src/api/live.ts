import { signal } from "@preact/signals"
import { isExported, request } from "./client.js"
import { forget } from "./memory-cache.js"

/** `here`: the feed is open. `gone`: the server does not answer; it is tried again. */
export const feedState = signal<"here" | "gone" | "off">("off")
/** Grows with every change of the store, so that lists ask again. */
export const storeVersion = signal(0)
/** Runs that changed, each with how often. */
export const runVersions = signal<ReadonlyMap<string, number>>(new Map())
export const behindBytes = signal(0)
/** What keeps the server from reading its store, by its code. */
export const storeProblem = signal<string | null>(null)

/** The run on screen: of the others only the newest are told about. */
const followedRun = signal<string | null>(null)
let current = new AbortController()

export function followRun(run: string | null): void {
  if (followedRun.value === run) return
  followedRun.value = run
  current.abort()
}

/** Follows the feed of ids for as long as the page lives. What changed is asked for again by whoever shows it. */
export async function followFeed(): Promise<void> {
  if (isExported()) return
  let lastId: string | null = null
  let wait = 500
  for (;;) {
    current = new AbortController()
    try {
      const run = followedRun.value
      const response = await request(
        run === null ? "/live" : `/live?run=${encodeURIComponent(run)}`,
        current.signal,
        lastId === null ? {} : { "last-event-id": lastId },
      )
      // Who was away may have missed something.
      if (feedState.value === "gone") askForAll()
      feedState.value = "here"
      wait = 500
      for await (const event of eventsOf(response.body!)) {
        if (event.id !== null) lastId = event.id
        take(event.name, event.data)
      }
    } catch {
      if (current.signal.aborted) continue
      feedState.value = "gone"
    }
    if (current.signal.aborted) continue
    await new Promise((resume) => setTimeout(resume, wait))
    wait = Math.min(wait * 2, 10_000)
  }
}

function take(name: string, text: string): void {
  const data =
    text === ""
      ? {}
      : (JSON.parse(text) as {
          ids?: string[]
          run_id?: string
          behind_bytes?: number
          problem?: string | null
          ask_again?: boolean
        })
  if (data.behind_bytes !== undefined) behindBytes.value = data.behind_bytes
  if (data.problem !== undefined) storeProblem.value = data.problem
  if (name === "hello" && data.ask_again) askForAll()
  const ids = name === "runs" ? (data.ids ?? []) : name === "steps" && data.run_id ? [data.run_id] : []
  if (ids.length === 0) return
  forget((path) => path.startsWith("/runs?") || path.startsWith("/meta") || ids.some((id) => path.includes(id)))
  const versions = new Map(runVersions.value)
  for (const id of ids) versions.set(id, (versions.get(id) ?? 0) + 1)
  runVersions.value = versions
  storeVersion.value += 1
}

function askForAll(): void {
  forget(() => true)
  runVersions.value = new Map([...runVersions.value].map(([id, version]) => [id, version + 1]))
  if (followedRun.value !== null)
    runVersions.value = new Map([
      ...runVersions.value,
      [followedRun.value, (runVersions.value.get(followedRun.value) ?? 0) + 1],
    ])
  storeVersion.value += 1
}

/** Server-sent events out of a stream of bytes. `EventSource` would do it, but it sends no header, and the key is one. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ id: string | null; name: string; data: string }> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    const blocks = text.split(/\r?\n\r?\n/)
    text = blocks.pop()!
    for (const block of blocks) {
      const fields = new Map<string, string>()
      for (const line of block.split(/\r?\n/)) {
        const [, name, data] = /^(\w+):? ?(.*)$/.exec(line) ?? []
        if (name) fields.set(name, name === "data" && fields.has("data") ? `${fields.get("data")}\n${data}` : data!)
      }
      if (fields.has("event") || fields.has("data"))
        yield { id: fields.get("id") ?? null, name: fields.get("event") ?? "message", data: fields.get("data") ?? "" }
    }
  }
}
