import { randomBytes } from "node:crypto"
import { given } from "@orangebox/contract"
import {
  beforeAfterOf,
  beforeAfterText,
  briefJson,
  briefText,
  compareBeforeAfter,
  type RunView,
  stepJson,
  stepText,
} from "@orangebox/query"
import type { Target } from "@orangebox/store"
import { recordedWord, shellWord } from "@orangebox/text"
import { findTarget, runOf } from "../address/find-target.js"
import { briefParts } from "../run/brief-parts.js"
import { type FoundBody, findBody } from "../run/find-body.js"
import { stepContents } from "../run/step-contents.js"
import type { Answer, Shown } from "./answer.js"
import { inFolder, type PlacedReading } from "./placed.js"

/** A step that an address points at. */
export interface StepAsked {
  readonly reading: PlacedReading
  readonly view: RunView
  readonly n: number
  /** How its run is written in the commands we suggest. */
  readonly place: string
  /** An id that others chose may stand in several steps: where the others are. */
  readonly remarks: readonly string[]
}

/** The step of an address; of one that names only a run, the run's root step. */
export async function stepAsked(reading: PlacedReading): Promise<StepAsked> {
  const target = await findTarget(reading.reader, reading.address)
  const { view, row } = await runOf(reading.reader, target)
  const n = view.steps.find(({ id }) => id === target.stepId)?.n ?? 1
  return { reading, view, n, place: reading.place(row.runId), remarks: await otherPlaces(reading, target) }
}

async function otherPlaces({ store, address, data }: PlacedReading, { kind, id }: Target): Promise<string[]> {
  if (!store || kind === "run" || kind === "step" || kind === "trace") return []
  const { total } = await store.occurrencesOf(kind, id, { limit: 1 })
  if (total < 2) return []
  const all = `orangebox show ${inFolder(data, shellWord(address))} --places`
  return [`${recordedWord(address, 72)} stands in ${total} steps, this is one of them; all: ${all}`]
}

/** A step in a few lines. */
export async function answerBrief({ reading, view, n, place, remarks }: StepAsked, { budget }: Shown): Promise<Answer> {
  const parts = await briefParts(reading.reader, reading.store, view, n)
  const shown = { address: place, nonce: randomBytes(2).toString("hex"), ...given({ budget }) }
  return {
    remarks,
    text: () => briefText(view, n, parts, shown),
    json: () => ({ ...briefJson(view, n, parts), ...reading.freshness }),
  }
}

/** A step row by row, and what was said in it. */
export async function answerStep({ reading, view, n, place, remarks }: StepAsked, looks: Shown): Promise<Answer> {
  const shown = { ...looks, address: place }
  const contents = await stepContents(reading.reader, view, n)
  return {
    remarks,
    text: () => stepText(view, n, { ...shown, contents }),
    json: () => ({ ...stepJson(view, n, shown), ...reading.freshness }),
  }
}

/** What changed between the prompt that was built for a step and what was sent. */
export async function answerBeforeAfter({ reading, view, n, remarks }: StepAsked, { budget }: Shown): Promise<Answer> {
  const refs = beforeAfterOf(view, n)
  const [before, after] = await Promise.all(
    [refs.before, refs.after].map(async ({ n: at, hash }) => findBody(reading.reader, view, at, hash)),
  )
  const comparison = compareBeforeAfter(textOf(before!), textOf(after!))
  return {
    remarks,
    text: () =>
      `#${refs.before.n} as built, #${refs.after.n} as sent\n${beforeAfterText(comparison, given({ budget }))}`,
    json: () => ({ ...refs, is_equal: comparison.isEqual, changes: comparison.changes, ...reading.freshness }),
  }
}

const textOf = ({ bytes }: FoundBody): string => Buffer.from(bytes).toString("utf8")
