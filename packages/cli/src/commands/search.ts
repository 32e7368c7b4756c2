import { EVENT_TYPES } from "@orangebox/contract"
import { answerSearch, type SearchAsked } from "@orangebox/reader"
import type { Command } from "commander"
import { choiceParser, parsePositive } from "../option-values.js"
import { withReading } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"
import { tell } from "../tell.js"
import { viewOptions } from "../view-options.js"

type SearchOptions = Omit<SearchAsked, "text">

export function define(command: Command, session: Session): void {
  command
    .description("Search everything recorded: prompts, answers, tool calls and their results, logs.")
    .argument("<words...>", 'words that must all occur, as words or parts of words; "in quotes" exactly so')
    .option("--run <address>", "only in this run")
    .option("--kind <event type>", "only in events of this type and their bodies", choiceParser(EVENT_TYPES))
    .option("--limit <n>", "how many", parsePositive, 20)
    .option("--cursor <cursor>", "where the page before ended")
  bindShell<SearchOptions>(command, session, search, [
    ["orangebox search timeout", "everything that mentions it"],
    ["orangebox search leap year --kind tool_result", "both words, in tool results"],
    ["orangebox search '\"exit code 1\"' --run last", "the exact phrase, in the last run"],
  ])
}

function search(
  session: Session,
  options: SearchOptions & GlobalOptions,
  ...words: string[]
): Promise<number | undefined> {
  const text = words.join(" ")
  if (text.replaceAll('"', "").trim() === "") {
    throw wrongUsage("there is nothing to search for", "Name a word, a part of one, or a phrase in quotes")
  }
  return withReading(session, options, async (reading) =>
    tell(session, options, await answerSearch(reading, { ...options, text }, viewOptions(session, {}))),
  )
}
