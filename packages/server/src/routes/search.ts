import { given } from "@orangebox/contract"
import { answerFind, answerSearch, answerShow } from "@orangebox/reader"
import { ADDRESS } from "../address-param.js"
import { EVERYTHING } from "../everything.js"
import { route } from "../route.js"

const WORDS = {
  is: "text",
  isNeeded: true,
  about: 'words that must all occur, as words or parts of words; "in quotes" exactly so',
} as const

export const find = route({
  path: "/runs/{address}/find",
  summary: "The steps of a run in which a text stands",
  params: { address: ADDRESS, q: WORDS },
  answer: "Found",
  async handle({ address, q }, desk) {
    return answerFind(await desk.whole(address), q)
  },
})

export const search = route({
  path: "/search",
  summary: "Where a text stands in everything recorded",
  params: {
    q: WORDS,
    run: { is: "text", about: "only in this run" },
    kind: { is: "text", about: "only in events of this type and their bodies" },
    limit: { is: "count", least: 1, most: 200, about: "how many; 20 where nothing is said" },
    cursor: { is: "text", about: "where the page before ended" },
  },
  answer: "SearchPage",
  async handle({ q, run, kind, limit = 20, cursor }, desk) {
    return (await answerSearch(desk.reading, { text: q, limit, ...given({ run, kind, cursor }) }, {})).json()
  },
})

export const conversationRuns = route({
  path: "/conversations/{id}",
  summary: "The runs of a conversation, and who else names it",
  params: { id: { is: "text", isNeeded: true, about: "the id of the conversation" } },
  answer: "ConversationRuns",
  async handle({ id }, desk) {
    return (await answerShow(desk.place(`conversation:${id}`), {}, EVERYTHING)).json()
  },
})
