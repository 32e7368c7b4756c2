import { answerContext, answerWhy, contextsAsked } from "@orangebox/reader"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { EVERYTHING } from "../everything.js"
import { route } from "../route.js"

export const contexts = route({
  path: "/runs/{address}/contexts",
  summary: "The contexts of a run, one line each",
  params: { address: ADDRESS },
  answer: "ContextList",
  async handle({ address }, desk) {
    return (await answerContext(await contextsAsked(await desk.whole(address)), EVERYTHING)).json()
  },
})

export const context = route({
  path: "/runs/{address}/contexts/{n}",
  summary: "What a step saw, why, what was left out, and what changed since the step before",
  params: { address: ADDRESS, n: STEP_NUMBER, all: { is: "flag", about: "also messages that the call before held" } },
  answer: "Context",
  async handle({ address, n = 0, all }, desk) {
    return (await answerContext(await contextsAsked(await desk.step(address, n)), { ...EVERYTHING, all })).json()
  },
})

export const why = route({
  path: "/runs/{address}/why",
  summary: "One item through the contexts of a run: where it was included, left out or absent",
  params: {
    address: ADDRESS,
    item: { is: "text", isNeeded: true, about: "an id, a contributor, a hash or a text" },
  },
  answer: "Why",
  async handle({ address, item }, desk) {
    return (await answerWhy(await contextsAsked(await desk.whole(address), true), item, EVERYTHING)).json()
  },
})
