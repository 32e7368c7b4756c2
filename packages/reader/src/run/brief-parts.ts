import { OrangeboxError } from "@orangebox/contract"
import {
  type BeforeAfter,
  type BriefParts,
  beforeAfterOf,
  type ContextView,
  compareBeforeAfter,
  contextsWithin,
  type RunView,
  recordedContexts,
} from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import { contextsBefore, loadContext } from "../context/find-context.js"
import type { RunReader } from "../open/run-reader.js"
import { findBody } from "./find-body.js"
import { stepContents } from "./step-contents.js"

/** All that a brief of step #n is made of. @param store where the run before in its conversation is, if anywhere */
export async function briefParts(
  reader: RunReader,
  store: TraceReader | undefined,
  view: RunView,
  n: number,
): Promise<BriefParts> {
  return {
    contents: await stepContents(reader, view, n),
    context: await contextAt(reader, store, view, n),
    beforeAfter: await beforeAfterAt(reader, view, n),
  }
}

async function contextAt(
  reader: RunReader,
  store: TraceReader | undefined,
  view: RunView,
  n: number,
): Promise<ContextView | undefined> {
  if (view.steps[n - 1]?.kind !== "model") return undefined
  const contexts = recordedContexts(view)
  const [context] = contextsWithin(view, contexts, n)
  if (!context) return undefined
  const before = await contextsBefore(store, view)
  return (await loadContext(reader, [...before, ...contexts], context)).view
}

/** Undefined where one of the two forms was not recorded, or its bytes are gone. */
async function beforeAfterAt(reader: RunReader, view: RunView, n: number): Promise<BeforeAfter | undefined> {
  if (view.steps[n - 1]?.kind !== "model") return undefined
  try {
    const { before, after } = beforeAfterOf(view, n)
    const texts = [
      await findBody(reader, view, before.n, before.hash),
      await findBody(reader, view, after.n, after.hash),
    ]
    const [built, sent] = texts.map(({ bytes }) => Buffer.from(bytes).toString("utf8"))
    return compareBeforeAfter(built!, sent!)
  } catch (error) {
    if (error instanceof OrangeboxError) return undefined
    throw error
  }
}
