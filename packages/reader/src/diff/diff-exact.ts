import { InputError, numberIn, payloadOf, textIn } from "@orangebox/contract"
import { bodiesOf, type RunView, type StepView } from "@orangebox/query"
import {
  type BodySide,
  type ComparedBody,
  compareBodies,
  compareHashes,
  type ExactDiff,
  type ExactFact,
  type ExactSide,
  exactVerdict,
} from "@orangebox/replay"
import { isAbsent, type Target } from "@orangebox/store"
import { findTarget, runOf } from "../address/find-target.js"
import type { RunReading } from "../open/run-at.js"
import type { RunReader } from "../open/run-reader.js"
import { absenceOf } from "../run/body-absence.js"

/** What an address points at, as far as comparing goes. */
export interface PointedAt {
  readonly of: "run" | "step" | "body"
  readonly target: Target
}

export async function pointedAt({ reader, address }: RunReading): Promise<PointedAt> {
  const target = await findTarget(reader, address)
  if (target.kind === "body") return { of: "body", target }
  return { of: target.stepId === null || target.kind === "run" ? "run" : "step", target }
}

/** A step or a body with everything that is compared of it. */
interface Side {
  readonly side: ExactSide
  readonly step: StepView | undefined
  readonly bodies: readonly ReadBody[]
}

interface ReadBody extends BodySide {
  readonly role: string
  readonly content: Uint8Array | undefined
}

export interface ExactReading {
  readonly diff: ExactDiff
  readonly steps: { readonly a: StepView | undefined; readonly b: StepView | undefined }
}

/** Exactly two steps, or exactly two bodies. @param role only this body of the steps */
export async function diffExactly(
  [readingA, a]: readonly [RunReading, PointedAt],
  [readingB, b]: readonly [RunReading, PointedAt],
  role?: string,
): Promise<ExactReading> {
  const compared = a.of === "body" ? "bodies" : "steps"
  const sides = [await sideOf(readingA.reader, a), await sideOf(readingB.reader, b)] as const
  const [sideA, sideB] = sides.map((side) => (role === undefined ? side : onlyBody(side, role))) as [Side, Side]
  if (role !== undefined && sideA.bodies.length + sideB.bodies.length === 0) throw noSuchBody(role, sides)
  const facts = role === undefined ? factsApart(sideA.step, sideB.step) : []
  const bodies = compareSides(sideA.bodies, sideB.bodies)
  const found = { facts, bodies }
  return {
    diff: { v: 1, compared, verdict: exactVerdict(found), a: sideA.side, b: sideB.side, ...found },
    steps: { a: sideA.step, b: sideB.step },
  }
}

const onlyBody = (side: Side, role: string): Side => ({
  ...side,
  bodies: side.bodies.filter((body) => body.role === role),
})

function noSuchBody(role: string, sides: readonly Side[]): InputError {
  const roles = [...new Set(sides.flatMap(({ bodies }) => bodies.map((body) => body.role)))]
  return new InputError("NO_BODY", {
    what: `neither of them has a body "${role}"`,
    next: roles.length === 0 ? "Neither has any body" : `There is: ${roles.join(", ")}`,
  })
}

async function sideOf(reader: RunReader, { of, target }: PointedAt): Promise<Side> {
  if (of === "body") {
    const body = await readBody(reader, { role: "body", hash: target.id })
    return { side: { run_id: null, n: null, step_id: null }, step: undefined, bodies: [body] }
  }
  const { view } = await runOf(reader, target)
  const step = view.steps.find(({ id }) => id === target.stepId) ?? view.steps[0]!
  return {
    side: { run_id: view.runId ?? null, n: step.n, step_id: step.id ?? null },
    step,
    bodies: await stepBodies(reader, view, step),
  }
}

/** What was sent and what came back; of a call with several tries, over the wire by the last of them. */
async function stepBodies(reader: RunReader, view: RunView, step: StepView): Promise<ReadBody[]> {
  const attempt = step.children.map((n) => view.steps[n - 1]!).findLast((child) => child.attemptNo !== undefined)
  const onWire = attempt === undefined ? [] : bodiesOf(attempt.events)
  const own = bodiesOf(step.events).filter(({ role }) => !onWire.some((body) => body.role === role))
  const bodies: ReadBody[] = []
  for (const body of [...own, ...onWire]) bodies.push(await readBody(reader, body))
  for (const stream of await reader.partialStreamsOf(view.runId ?? "")) {
    if (stream.stepId !== step.id && stream.stepId !== attempt?.id) continue
    const content = await reader.readPartialStream(stream.streamId)
    if (!content || bodies.some(({ role }) => role === stream.role)) continue
    bodies.push({ role: stream.role, hash: null, bytes: content.length, absent: null, is_partial: true, content })
  }
  return bodies
}

/** @param named as the event says that names it: a body that never came into the store is known by that alone */
async function readBody(
  reader: RunReader,
  named: Pick<ReturnType<typeof bodiesOf>[number], "role" | "hash"> & Partial<ReturnType<typeof bodiesOf>[number]>,
): Promise<ReadBody> {
  const { role, hash } = named
  const reading = await reader.readBody(hash)
  if (!isAbsent(reading))
    return { role, hash, bytes: reading.bytes.length, absent: null, is_partial: false, content: reading.bytes }
  const bytes = (await reader.bodyInfo(hash))?.byteSize ?? named.byteSize ?? null
  const absent = absenceOf(named.absent, reading).word
  return { role, hash, bytes, absent, is_partial: false, content: undefined }
}

/** By their names; several of one name in their order. */
function compareSides(a: readonly ReadBody[], b: readonly ReadBody[]): ComparedBody[] {
  const left = [...b]
  const pairs = a.map((body): readonly [ReadBody | undefined, ReadBody | undefined] => {
    const at = left.findIndex(({ role }) => role === body.role)
    return [body, at === -1 ? undefined : left.splice(at, 1)[0]]
  })
  for (const body of left) pairs.push([undefined, body])
  return pairs.map(([one, other]) => comparePair(one, other))
}

function comparePair(a: ReadBody | undefined, b: ReadBody | undefined): ComparedBody {
  const known = a?.content && b?.content ? compareBodies(a.content, b.content) : undefined
  const compared = known ?? compareHashes(a?.hash ?? null, b?.hash ?? null)
  // A body that only one side has is a difference, whether its bytes are there or not.
  const verdict = a && b ? compared.verdict : "differs"
  return { ...compared, verdict, role: (a ?? b)!.role, a: a ? recordOf(a) : null, b: b ? recordOf(b) : null }
}

const recordOf = ({ hash, bytes, absent, is_partial }: ReadBody): BodySide => ({ hash, bytes, absent, is_partial })

function factsApart(a: StepView | undefined, b: StepView | undefined): ExactDiff["facts"] {
  const [factsA, factsB] = [factsOf(a), factsOf(b)]
  return Object.keys(factsA).flatMap((name) => {
    const [one = null, other = null] = [factsA[name], factsB[name]]
    return one === other ? [] : [{ name, a: one, b: other }]
  })
}

/** What a step is and how it ended, without what differs by itself: ids, times, counts of tokens. */
function factsOf(step: StepView | undefined): Readonly<Record<string, ExactFact>> {
  const closing = payloadOf(step?.closed)
  return {
    kind: step?.kind ?? null,
    name: step?.name ?? null,
    status: step?.status ?? null,
    error_class: textIn(closing, "error_class") ?? null,
    exit_code: numberIn(closing, "exit_code") ?? null,
    http_status: numberIn(closing, "http_status") ?? null,
    finish_reason: textIn(closing, "finish_reason") ?? null,
  }
}
