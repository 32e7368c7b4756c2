import type { Route } from "./route.js"
import { analytics } from "./routes/analytics.js"
import { body, bodyOfStep, picture, rawBody } from "./routes/bodies.js"
import { cache, cacheOfStep } from "./routes/cache.js"
import { context, contexts, why } from "./routes/contexts.js"
import { conversation } from "./routes/conversation.js"
import { diff, diffItem } from "./routes/diff.js"
import { decisions, findings, handoff, report, verdict } from "./routes/judgement.js"
import { meta } from "./routes/meta.js"
import { openApiRoute } from "./routes/openapi.js"
import { run } from "./routes/run.js"
import { runs } from "./routes/runs.js"
import { conversationRuns, find, search } from "./routes/search.js"
import { step } from "./routes/step.js"
import { steps } from "./routes/steps.js"
import { strata } from "./routes/strata.js"
import { words } from "./routes/words.js"

/** Everything that can be asked for below `/api/v1`, in the order of the documentation. */
export const ROUTES: readonly Route[] = [
  ...[meta, runs, run, steps, words, step, conversation, bodyOfStep],
  ...[strata, contexts, context, why, cache, cacheOfStep],
  ...[findings, decisions, report, verdict, handoff, find],
  ...[diff, diffItem, body, rawBody, picture, search, conversationRuns, analytics],
  openApiRoute(() => ROUTES),
]

const PATTERNS = ROUTES.map((route) => ({ route, pieces: route.path.split("/") }))

/** The route of a path and what its places hold. Pieces are decoded one by one, so an id may hold anything. */
export function findRoute(
  path: string,
): { readonly route: Route; readonly path: Readonly<Record<string, string>> } | undefined {
  const given = path.split("/")
  for (const { route, pieces } of PATTERNS) {
    if (pieces.length !== given.length) continue
    const values: Record<string, string> = {}
    const isFit = pieces.every((piece, at) => {
      if (!piece.startsWith("{")) return piece === given[at]
      values[piece.slice(1, -1)] = decodeURIComponent(given[at]!)
      return true
    })
    if (isFit) return { route, path: values }
  }
  return undefined
}
