import { advice, InputError, suggested } from "@orangebox/contract"
import { type Address, parseAddress } from "@orangebox/query"
import type { Resolution, Target } from "@orangebox/store"
import { nearestWord, recordedText, recordedWord, safeJson } from "@orangebox/text"
import type { RunReader } from "../open/run-reader.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"

/** From what a user typed to the one thing it stands for; anything less than one is an error that says what there is. */
export async function findTarget(store: RunReader, typed: string): Promise<Target> {
  const recorded = await recordedAs(store, typed)
  if (recorded) return recorded
  const address = parseAddress(typed)
  const resolution = onlyOf(address, typed, await store.resolve(lookupText(address)))
  switch (resolution.found) {
    case "one":
      return resolution.target
    case "many":
      throw ambiguous(typed, resolution)
    case "none":
      throw (await noSuchStep(store, address)) ?? tooFarBack(address, resolution) ?? unknown(store, typed, resolution)
  }
}

/** What has exactly this id, or the step of a run that has: an id that was recorded is one, whatever it looks like. */
export async function recordedAs(store: Pick<RunReader, "resolve">, typed: string): Promise<Target | undefined> {
  const text = typed.trim()
  const resolution = await store.resolve(text)
  if (resolution.found !== "one") return undefined
  const { target } = resolution
  const isStepOfIt = target.kind === "step" && /#\d+$/.test(text) && text.startsWith(`${target.runId}#`)
  return target.id === text || isStepOfIt ? target : undefined
}

/** The run that an address points at or into. */
export async function findRun(store: RunReader, typed: string): Promise<LoadedRun> {
  return runOf(store, await findTarget(store, typed))
}

/** The run of something that was found. */
export async function runOf(store: RunReader, { kind, id, runId }: Target): Promise<LoadedRun> {
  const run = runId === null ? undefined : await loadRun(store, runId)
  if (run) return run
  throw new InputError("NO_RUN", { what: `${safeJson(id)} is a ${kind} that belongs to no run` })
}

function lookupText(address: Address): string {
  switch (address.form) {
    case "last":
      return address.back === 0 ? "last" : `last~${address.back}`
    case "run":
      return address.idPrefix
    case "step":
      return `${lookupText(address.run)}#${address.n}`
    case "step_id":
      return address.stepId
    case "trace":
      return address.traceId
    case "event":
      return address.eventId
    case "body":
      return address.hashPrefix
    case "id":
      return address.id
  }
}

/**
 * `conversation:x` means that conversation, also where a tool call has the same id, and nothing else where there is none. What only looks
 * like the id of a tool call may be anything.
 */
function onlyOf(address: Address, typed: string, resolution: Resolution): Resolution {
  if (address.form !== "id" || address.of === undefined) return resolution
  if (resolution.found === "one") {
    const isOther = resolution.target.kind !== address.of && typed.trim() !== address.id
    return isOther ? { found: "none", nearest: [resolution.target] } : resolution
  }
  if (resolution.found !== "many") return resolution
  const candidates = resolution.candidates.filter(({ kind }) => kind === address.of)
  return candidates.length === 1 ? { found: "one", target: candidates[0]! } : resolution
}

async function noSuchStep(store: RunReader, address: Address): Promise<InputError | undefined> {
  if (address.form !== "step") return undefined
  const run = await store.resolve(lookupText(address.run))
  if (run.found !== "one") return undefined
  const { id } = run.target
  return new InputError("STEP_NUMBER", {
    what: `there is no step #${address.n}, this run has ${(await store.stepsOf(id)).length}`,
    where: id,
    next: advice`See its steps with: ${suggested("show", store.addressOf?.(id) ?? id)}`,
  })
}

function tooFarBack(address: Address, { nearest }: Extract<Resolution, { found: "none" }>): InputError | undefined {
  const run = address.form === "step" ? address.run : address
  if (run.form !== "last" || nearest.length === 0) return undefined
  return new InputError("UNKNOWN_ID", {
    what: `last~${run.back} is further back than there are runs`,
    next: advice`See what there is with: ${suggested("runs")}`,
  })
}

function ambiguous(typed: string, { candidates, total }: Extract<Resolution, { found: "many" }>): InputError {
  const shown = candidates.slice(0, 5).map(describe)
  const more = total > shown.length ? [`and ${total - shown.length} more`] : []
  return new InputError("AMBIGUOUS_ID", {
    what: `${safeJson(typed)} fits ${total} things`,
    next: `Type more of one of them:\n${[...shown, ...more].map((line) => `          ${line}`).join("\n")}`,
  })
}

function unknown(
  store: RunReader,
  typed: string,
  { nearest, pruned }: Extract<Resolution, { found: "none" }>,
): InputError {
  if (pruned) {
    return new InputError("PRUNED", {
      what: `${safeJson(typed)} was pruned on ${new Date(pruned.onMs).toISOString().slice(0, 10)}`,
      next: "Its share in the daily sums is still there; its events and bodies are gone",
    })
  }
  if (nearest.length === 0) {
    return new InputError("NOTHING_RECORDED", {
      what: "nothing is recorded here yet",
      next: "Record a run with the SDK or with orangebox run, or see one with: orangebox demo",
    })
  }
  if (store.addressOf !== undefined) {
    return new InputError("UNKNOWN_ID", {
      what: `the file holds no run ${safeJson(typed)}`,
      next: `It holds:\n${nearest.map((target) => `          ${describe(target)}`).join("\n")}`,
    })
  }
  return new InputError("UNKNOWN_ID", {
    what: `nothing recorded here has the address ${safeJson(typed)}`,
    next: advice`${meantWords(typed)}See what there is with: ${suggested("runs")}\n        Nearest:\n${nearest.map((target) => `          ${describe(target)}`).join("\n")}`,
  })
}

/** `lst`, `lats#4`: the one word among addresses. */
function meantWords(typed: string): string {
  const [word = ""] = /^[a-z]+/i.exec(typed.trim()) ?? []
  const meant = nearestWord(word, ["last"])
  return meant === undefined ? "" : `Did you mean ${safeJson(typed.trim().replace(word, meant))}? `
}

function describe({ kind, id, label }: Target): string {
  return `${recordedWord(id, 72)}  ${kind} ${recordedText(label, 60)}`
}
