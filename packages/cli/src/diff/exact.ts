import { type StepView, stepTitle } from "@orangebox/query"
import { diffExactly, type PointedAt, pointedAt } from "@orangebox/reader"
import { type ExactDiff, exactExitCode, exactText } from "@orangebox/replay"
import { safeJson } from "@orangebox/text"
import type { PlacedReading } from "../reading.js"
import { type GlobalOptions, type Session, wrongUsage } from "../session.js"

export interface ExactOptions extends GlobalOptions {
  readonly exact?: boolean
  readonly body?: string
  readonly budget?: number
}

/** Where two addresses point at two steps or two bodies, these are compared and nothing else. Undefined for two runs. */
export async function diffOfTwo(
  { terminal }: Session,
  a: PlacedReading,
  b: PlacedReading,
  options: ExactOptions,
): Promise<number | undefined> {
  const [pointedA, pointedB] = [await pointedAt(a), await pointedAt(b)]
  if (pointedA.of !== pointedB.of) throw mixed(pointedA, pointedB)
  checkOptions(pointedA.of, new Set(Object.keys(options)))
  if (pointedA.of === "run") return undefined
  const { diff, steps } = await diffExactly([a, pointedA], [b, pointedB], options.body)
  const places = { a: placeOf(a, pointedA, steps.a), b: placeOf(b, pointedB, steps.b) }
  const behind = Math.max(a.freshness.behind_bytes, b.freshness.behind_bytes)
  terminal.out(
    options.json
      ? safeJson({ ...diff, behind_bytes: behind }, 2)
      : exactText(diff, {
          words: { a: wordsOf(places.a, steps.a), b: wordsOf(places.b, steps.b) },
          exact: options.exact ?? false,
          ...(options.budget === undefined ? {} : { budget: options.budget }),
          next: nextCommand(diff, places),
        }),
  )
  return exactExitCode(diff, options.exact ?? false)
}

const ABOUT_RUNS = ["all", "at", "columns", "html", "mask", "tier"]
const ABOUT_TWO = ["body", "exact"]

function checkOptions(of: PointedAt["of"], given: ReadonlySet<string>): void {
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
