import { loadConversation } from "@orangebox/reader"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { route } from "../route.js"

export const conversation = route({
  path: "/runs/{address}/steps/{n}/conversation",
  summary: "A model call as people read it: what is new in its prompt, and what it answered",
  params: { address: ADDRESS, n: STEP_NUMBER },
  answer: "CallConversation",
  async handle({ address, n = 0 }, desk) {
    const { row, view } = await desk.run(address)
    return { run_id: row.runId, ...(await loadConversation(desk.store, desk.store, view, n)), ...desk.freshness }
  },
})
