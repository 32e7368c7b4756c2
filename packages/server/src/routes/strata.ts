import { loadStrata } from "@orangebox/reader"
import { ADDRESS } from "../address-param.js"
import { route } from "../route.js"

export const strata = route({
  path: "/runs/{address}/strata",
  summary: "What the model saw, call by call: the pieces of every prompt of a lane as bands",
  params: { address: ADDRESS, lane: { is: "text", about: "the lane; the main one where nothing is said" } },
  answer: "Strata",
  async handle({ address, lane }, desk) {
    const run = await desk.run(address)
    return { run_id: run.row.runId, ...(await loadStrata(desk.store, desk.store, run, lane)), ...desk.freshness }
  },
})
