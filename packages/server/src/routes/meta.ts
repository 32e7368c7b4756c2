import { snakeJson } from "@orangebox/text"
import { route } from "../route.js"

/** Projections that this build has: a page shows no tab for one that is not named. */
const FEATURES = [
  "words",
  "conversation",
  "strata",
  "contexts",
  "cache",
  "findings",
  "decisions",
  "report",
  "verdict",
  "handoff",
  "find",
  "diff",
  "search",
  "conversations",
  "analytics",
  "live",
]

export const meta = route({
  path: "/meta",
  summary: "What this server is, and what its store holds",
  params: {},
  answer: "Meta",
  isHeavy: false,
  async handle(_, { store, version, data, freshness }) {
    const { runs, steps, events, bodies, gaps, conflicts, lastCommitAtMs, schemaVersion } = await store.status()
    return {
      version,
      data_folder: data,
      features: FEATURES,
      store: snakeJson({ runs, steps, events, bodies, gaps, conflicts, schemaVersion }),
      last_commit_at: lastCommitAtMs === null ? null : new Date(lastCommitAtMs).toISOString(),
      ...freshness,
    }
  },
})
