import { InputError } from "@orangebox/contract"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { route } from "../route.js"

export const steps = route({
  path: "/runs/{address}/steps",
  summary: "The steps of a run as columns: what a list of ten thousand is painted from",
  params: {
    address: ADDRESS,
    from: { ...STEP_NUMBER, about: "the step to begin with" },
    limit: { is: "count", least: 1, most: 10_000, about: "how many" },
  },
  answer: "StepColumns",
  isHeavy: false,
  async handle({ address, from = 1, limit = 10_000 }, { store, runIdOf, freshness }) {
    const runId = await runIdOf(address)
    const found = await store.stepColumns(runId, { from, limit })
    if (found === undefined)
      throw new InputError("UNKNOWN_ID", {
        what: "the run is not there any more",
        where: runId,
        next: "See what there is with: orangebox runs",
      })
    const last = found.columns.n.at(-1)
    return {
      run_id: runId,
      total: found.total,
      next_from: last != null && last < found.total ? last + 1 : null,
      words: found.words,
      columns: found.columns,
      ...freshness,
    }
  },
})
