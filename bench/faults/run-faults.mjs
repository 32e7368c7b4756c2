/** Lays faults into recorded runs, asks `diagnose`, and counts. Everything is drawn from one seed, and whatever goes wrong names its shape. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bodiesOf, briefText, diagnosisText, sliceBody } from "@orangebox/query"
import { briefParts, diagnoseRun, findBody, findRun, loadCacheAudit, readStore } from "@orangebox/reader"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { fitted, isAmong, openAgent, shapeName, shapesFrom } from "./agent.mjs"
import { CLEAN_TWINS } from "./clean-twins.mjs"
import { CACHE_FAULTS, layCacheFault } from "./injectors/cache.mjs"
import { INJECTORS } from "./injectors/index.mjs"
import { startModelServer } from "./model-server.mjs"

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

async function onStage(work) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-faults-"))
  const server = await startModelServer()
  try {
    return await work({ folder, server })
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

/**
 * @param seed what everything is drawn from
 * @param shapesEach how many shapes each fault is laid in
 * @param only names of injectors, to look at one
 */
export function runFaults({ seed, shapesEach, only }) {
  return onStage(async (stage) => {
    const laid = []
    let serial = 0
    for (const [name, injector] of Object.entries(INJECTORS)) {
      if (only && !only.includes(name)) continue
      const random = randomFrom(seed * 1000 + serial++)
      for (const shape of drawn(random, shapesEach, injector.shapes)) {
        const fault = await laidIn({ stage, shape, key: `${seed}x${serial++}`, random }, injector)
        laid.push({ name, detector: injector.detector ?? name, injector, shape, ...fault })
      }
    }
    for (const [cause, { shapes }] of Object.entries(CACHE_FAULTS)) {
      if (only && !only.includes("cache_bust")) continue
      const random = randomFrom(seed * 1000 + serial++)
      for (const shape of drawn(random, shapesEach, shapes)) {
        stage.server.evict()
        const fault = await layCacheFault({ stage, shape, key: `${seed}x${serial++}` }, cause)
        laid.push({ name: "cache_bust", detector: "cache_bust", injector: CACHE_INJECTOR, shape, ...fault })
      }
    }
    return readStore({ data: stage.folder }, async ({ store }) => {
      const results = []
      for (const fault of laid) results.push(await judge(store, stage.folder, fault))
      return results
    })
  })
}

export const DETECTORS_TRIED = new Set([
  "cache_bust",
  ...Object.entries(INJECTORS).map(([name, { detector = name }]) => detector),
])

const CACHE_INJECTOR = { confidence: "proven", isOfFive: true }

/** So many shapes of those that are possible, in the order that the seed decides. */
const drawn = (random, count, shapes) =>
  shapesFrom(random)
    .flatMap((shape) => fitted(shape, shapes) ?? [])
    .slice(0, count)

async function laidIn(place, { lay, play, start, fails }) {
  if (play) return play(place)
  const agent = await openAgent(place, start)
  const fault = await lay(agent, place)
  return { ...fault, runId: await agent.finish(fails ? { error: fails } : {}) }
}

/** Found at its cause and named right; the five that seed 001 began with also as the first of all. */
export const isKept = ({ isOfFive, isFound, isKind, isBy, rank }) =>
  isFound && isKind && isBy && (!isOfFive || rank === 1)

async function judge(store, data, fault) {
  const { name, detector, injector, shape, runId, kind, by, segment } = fault
  const run = await findRun(store, runId)
  const diagnosis = await diagnoseRun(store, store, run, { data })
  const cause = causeIn(run.view, fault.cause)
  const isSeen = !isAmong(shape, injector.hiddenIn)
  const at = (finding) => finding.detector === detector && isSameCall(run.view, finding.cause, cause)
  const found = diagnosis.findings.find(at)
  const why = diagnosis.notRun.find((one) => one.detector === detector)?.why
  return {
    name,
    shape: shapeName(shape),
    runId,
    kind: kind ?? null,
    confidence: injector.confidence,
    isOfFive: injector.isOfFive === true,
    isSeen,
    isFound: found !== undefined,
    isKind: kind === undefined || found?.kind === kind,
    isSegment: segment === undefined || (await changedSegment(store, run, cause)) === segment,
    hasSegment: segment !== undefined,
    isBy: by === undefined || by.test(found?.by ?? ""),
    rank: found?.rank ?? null,
    saidWhyNot: why !== undefined,
    cause,
    told: diagnosis.findings.map(
      (finding) => `${finding.detector}${finding.kind ? ` ${finding.kind}` : ""} #${finding.cause}`,
    ),
    why,
    deadPointers: await deadPointers(store, run.view, diagnosis.findings),
    tokens: await journeyTokens(store, run, diagnosis),
  }
}

/** Who the segment belongs to that the cache audit says changed first. */
async function changedSegment(store, run, n) {
  const { calls } = await loadCacheAudit(store, store, run)
  const changed = calls.find(({ call }) => call.n === n)?.found?.segment
  return (changed?.now ?? changed?.before)?.contributor
}

/** A call and its tries are one thing. */
const isSameCall = (view, n, cause) =>
  n === cause || (view.steps[n - 1]?.parent === cause && view.steps[n - 1]?.attemptNo !== undefined)

function causeIn({ steps }, { model, tool, queue, named, step, call }) {
  const nth = (list, at) => list[at - 1]?.n
  if (step !== undefined) return step
  if (model !== undefined || call !== undefined)
    return nth(
      steps.filter(({ kind, attemptNo }) => kind === "model" && attemptNo === undefined),
      model ?? call,
    )
  if (tool !== undefined)
    return nth(
      steps.filter(({ kind }) => kind === "tool"),
      tool,
    )
  if (queue !== undefined)
    return nth(
      steps.filter((one) => one.workKind?.startsWith("queue.")),
      queue,
    )
  return steps.find(({ name }) => name === named)?.n
}

async function deadPointers(store, view, findings) {
  const dead = []
  for (const { detector, evidence } of findings) {
    if (evidence.length === 0) dead.push(`${detector} has no evidence`)
    for (const { runId, n, role, from, to } of evidence) {
      const whole = runId === null ? view : (await findRun(store, runId)).view
      const step = whole.steps[n - 1]
      const has = (one) =>
        bodiesOf(one.events).some((body) => body.role === role) || one.partials.some((body) => body.role === role)
      const opens =
        step !== undefined &&
        (role === null || has(step)) &&
        (from === null || (from < to && to <= (await findBody(store, whole, n, role)).bytes.length))
      if (!opens) dead.push(`${detector} → ${runId ?? ""}#${n} ${role ?? ""} ${from ?? ""}..${to ?? ""}`)
    }
  }
  return dead
}

/** From an id to the bytes: the diagnosis, the step it names, and the body it points at, as a debugging agent reads them. */
async function journeyTokens(store, run, diagnosis) {
  const { view } = run
  const address = run.row.runId
  const texts = [diagnosisText(view, diagnosis, { address })]
  const [top] = diagnosis.findings
  if (top !== undefined) {
    const parts = await briefParts(store, store, view, top.cause)
    texts.push(briefText(view, top.cause, parts, { address, nonce: "0a1b" }))
    const pointer = top.evidence.find(({ runId, role }) => runId === null && role !== null)
    const body = pointer && (await findBody(store, view, pointer.n, pointer.role).catch(() => undefined))
    if (body) texts.push(sliceBody(body.bytes, { budget: SLICE_TOKENS, cursor: pointer.from ?? 0 }).text)
  }
  return texts.reduce((sum, text) => sum + encode(text, { allowedSpecial: "all" }).length, 0)
}

const SLICE_TOKENS = 600

/** Runs with nothing wrong, in the same shapes: what is said of them all the same. */
export function runCleanTwins({ seed, shapesEach }) {
  return onStage(async (stage) => {
    const laid = []
    let serial = 0
    for (const [name, twin] of Object.entries(CLEAN_TWINS)) {
      const random = randomFrom(seed * 7000 + serial++)
      for (const shape of drawn(random, shapesEach, twin.shapes)) {
        stage.server.evict()
        const place = { stage, shape, key: `${seed}c${serial++}`, random }
        for (const runId of await playedIn(place, twin)) laid.push({ name, shape, runId })
      }
    }
    return readStore({ data: stage.folder }, async ({ store }) => {
      const results = []
      for (const { name, shape, runId } of laid) {
        const run = await findRun(store, runId)
        const { findings, suspects } = await diagnoseRun(store, store, run, { data: stage.folder })
        const bad = findings.filter(({ severity }) => severity === "fatal" || severity === "harm")
        results.push({
          name,
          shape: shapeName(shape),
          runId,
          suspects: suspects.length,
          bad: bad.map(({ detector, kind, cause }) => `${detector} ${kind ?? ""} #${cause}`),
          isOfFive: findings.some(({ detector, severity }) => FIVE.has(detector) && severity !== "notice"),
          told: findings.map(({ detector, severity }) => `${severity} ${detector}`),
        })
      }
      return results
    })
  })
}

async function playedIn(place, { lay, play, start, output }) {
  if (play) return play(place)
  const agent = await openAgent(place, start)
  await lay(agent, place)
  return [await agent.finish(output === undefined ? {} : { output })]
}

const FIVE = new Set(["crash", "corrupted_history", "double_delivery", "misroute", "cache_bust"])

/** Two faults in one run: both have to be told, the one that ended it first. */
export function runPairs({ seed, shapesEach }) {
  return onStage(async (stage) => {
    const { layPair } = await import("./pairs.mjs")
    const random = randomFrom(seed * 31)
    const shapes = shapesFrom(random)
      .filter(({ door }) => door === "sdk")
      .slice(0, shapesEach)
    const laid = []
    for (const [at, shape] of shapes.entries())
      laid.push({ shape, ...(await layPair({ stage, shape, key: `${seed}p${at}`, random })) })
    return readStore({ data: stage.folder }, async ({ store }) => {
      const results = []
      for (const { shape, runId, detectors } of laid) {
        const run = await findRun(store, runId)
        const { findings } = await diagnoseRun(store, store, run, { data: stage.folder })
        const told = findings.map(({ detector }) => detector)
        results.push({
          shape: shapeName(shape),
          runId,
          detectors,
          told,
          isBoth: detectors.every((one) => told.includes(one)),
          isInOrder: told[0] === detectors[0],
        })
      }
      return results
    })
  })
}
