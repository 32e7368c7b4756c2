import { answerCache } from "@orangebox/reader"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { EVERYTHING } from "../everything.js"
import { route } from "../route.js"

const answer = "CacheAudit"

export const cache = route({
  path: "/runs/{address}/cache",
  summary: "What the provider's cache served of each prompt, and what broke it",
  params: { address: ADDRESS },
  answer,
  async handle({ address }, desk) {
    return (await answerCache(await desk.whole(address), EVERYTHING)).json()
  },
})

export const cacheOfStep = route({
  path: "/runs/{address}/cache/{n}",
  summary: "The same for the calls of one step",
  params: { address: ADDRESS, n: STEP_NUMBER },
  answer,
  async handle({ address, n = 0 }, desk) {
    return (await answerCache(await desk.step(address, n), EVERYTHING)).json()
  },
})
