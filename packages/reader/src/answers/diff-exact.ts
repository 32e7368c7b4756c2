import { InputError } from "@orangebox/contract"
import { type StepView, stepTitle } from "@orangebox/query"
import { type ExactDiff, exactExitCode, exactText } from "@orangebox/replay"
import { diffExactly, type PointedAt, pointedAt } from "../diff/diff-exact.js"
import type { Answer, Shown } from "./answer.js"
import type { PlacedReading } from "./placed.js"

export interface ExactAsked {
  /** Every byte counts: key order, spacing, cache marks. */
  readonly exact?: boolean
  /** Of two steps only this body. */
  readonly body?: string
}

/**
 * Where two addresses point at two steps or two bodies, these are compared and nothing else. Undefined for two runs.
 *
 * @param asked all that is asked of the comparison: what does not go with what is compared is refused by its name
 */
export async function answerExact(
  a: PlacedReading,
  b: PlacedReading,
  asked: ExactAsked,
  { budget }: Shown,
): Promise<Answer | undefined> {
  const [pointedA, pointedB] = [await pointedAt(a), await pointedAt(b)]
  if (pointedA.of !== pointedB.of) throw mixed(pointedA, pointedB)
  checkAsked(pointedA.of, new Set(Object.keys(asked)))
  if (pointedA.of === "run") return undefined
  const { exact = false, body } = asked
  const { diff, steps } = await diffExactly([a, pointedA], [b, pointedB], body)
  const places = { a: placeOf(a, pointedA, steps.a), b: placeOf(b, pointedB, steps.b) }
  const behind = Math.max(a.freshness.behind_bytes, b.freshness.behind_bytes)
  return {
    text: () =>
      exactText(diff, {
        words: { a: wordsOf(places.a, steps.a), b: wordsOf(places.b, steps.b) },
        exact,
        ...(budget === undefined ? {} : { budget }),
        next: nextCommand(diff, places),
      }),
    json: () => ({ ...diff, behind_bytes: behind }),
    isBad: exactExitCode(diff, exact) !== 0,
  }
}

const wrongUsage = (what: string, next: string): InputError => new InputError("USAGE", { what, next })

const ABOUT_RUNS = ["all", "at", "columns", "html", "mask", "tier"]
const ABOUT_TWO = ["body", "exact"]

function checkAsked(of: PointedAt["of"], given: ReadonlySet<string>): void {
  const wrong = (of === "run" ? ABOUT_TWO : ABOUT_RUNS).find((name) => given.has(name))
  if (wrong === undefined) return
  throw of === "run"
    ? wrongUsage(`--${wrong} is about two steps or two bodies, and these are runs`, "Name them: last~1#4 last#4")
    : wrongUsage(`--${wrong} is about two runs, and these are a ${of} each`, "Leave it out, or name two runs")
}

function mixed(a: PointedAt, b: PointedAt): Error {
  return wrongUsage(
    `the first is a ${a.of} and the second a ${b.of}`,
    "Compare two runs, two steps (last~1#4 last#4) or two bodies (sha256:… sha256:…)",
  )
}

const placeOf = (reading: PlacedReading, { target }: PointedAt, step: StepView | undefined): string =>
  step === undefined ? target.id : `${reading.place(target.runId ?? "")}#${step.n}`

const wordsOf = (place: string, step: StepView | undefined): string =>
  step === undefined ? place : `${place.replace(/^--data \S+ /, "")} ${stepTitle(step).replace(/^#\d+ /, "")}`

/** Some bytes before the first that differs, so that it is read in its sentence. */
const BEFORE = 60
const SHOWN = 200

function nextCommand({ bodies, compared }: ExactDiff, places: { a: string; b: string }): string | undefined {
  const body = bodies.find(({ first_difference: first }) => first !== null)
  if (!body?.first_difference) return undefined
  const from = Math.max(0, body.first_difference.byte - BEFORE)
  const read = compared === "bodies" ? `last --body ${places.b}` : `${places.b} --body ${body.role}`
  return `orangebox step ${read} --from ${from} --bytes ${SHOWN}`
}
