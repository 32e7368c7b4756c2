import { textHash } from "@orangebox/contract"
import { addToList } from "../add-to-list.js"
import type { CallKind, RecordedAnswer, Tape, TapeCall } from "../tape/tape.js"

/**
 * What a run asked and was answered, as one hash.
 *
 * Calls with equal questions count in order, lane by lane; calls with different questions count as a set. Their order in time is not part
 * of it on purpose: a replay answers in microseconds what took seconds, so calls that overlapped no longer do, and the other way round.
 * Where order matters to a model it is in the question, because every request carries its history. Names of steps, lanes and runs are new in
 * every run and stay out as well.
 */
export function fingerprintOf(
  tape: Tape,
  covers: readonly CallKind[] = ["model", "tool", "retriever", "http"],
): string {
  const sequences = new Map<string, string[]>()
  const byId = new Map(tape.calls.map((call) => [call.stepId, call]))
  for (const call of tape.calls) {
    if (!isCounted(call, covers)) continue
    addToList(sequences, `${call.lane}\0${call.kind}\0${call.sig}`, stepHash(call, triesOf(call, byId)))
  }
  const hashes = [...sequences].map(([key, steps]) =>
    textHash(`${key.slice(key.indexOf("\0") + 1)}\0${steps.join("\0")}`),
  )
  return textHash(`obx-run-fingerprint\0${1}\0${hashes.sort().join("\0")}`)
}

/** Kind, question, status, answer, and the tries it took. */
function stepHash(call: TapeCall, tries: readonly TapeCall[] = []): string {
  const own = [call.kind, call.sig ?? "", ...answerWords(call.answer)]
  return textHash(`obx-step\0${JSON.stringify([own, tries.map((attempt) => answerWords(attempt.answer))])}`)
}

function answerWords(answer: RecordedAnswer | null): readonly (string | number | null)[] {
  if (answer === null) return ["open"]
  const { status, httpStatus, body, error } = answer
  return [status, httpStatus, body?.hash ?? null, error?.errorClass ?? null, error?.message ?? null]
}

// An aside of the harness may or may not happen again; a try is counted with its call, and so is whatever a call did inside itself; what was
// deduced was never asked.
export const isCounted = (call: TapeCall, covers: readonly CallKind[]): boolean =>
  !call.isAuxiliary && !call.isInferred && call.attemptOf === null && call.within === null && covers.includes(call.kind)

/**
 * The tries of a call as the wire saw them. Below an SDK's own call they are left out: that call has its own question and answer, and
 * is served as one value.
 */
function triesOf(call: TapeCall, byId: ReadonlyMap<string, TapeCall>): readonly TapeCall[] {
  return call.attempts.flatMap((id) => {
    const attempt = byId.get(id)
    return attempt && attempt.sig === call.sig ? [attempt] : []
  })
}
