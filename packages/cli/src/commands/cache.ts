import { MIN_CACHE_BUDGET } from "@orangebox/query"
import { answerCache } from "@orangebox/reader"
import type { Command } from "commander"
import { budgetParser, parseCount } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import { tell } from "../tell.js"
import { type ViewFlags, viewOptions } from "../view-options.js"

export function define(command: Command, session: Session): void {
  command
    .description("Show what the provider's cache served of each prompt, what it could have served, and what broke it.")
    .argument("[address]", "a run, or one call of it: last#4", "last")
    .option("--budget <tokens>", `at most so many tokens, at least ${MIN_CACHE_BUDGET}`, budgetParser(MIN_CACHE_BUDGET))
    .option("--cursor <n>", "the call to begin with", parseCount)
    .option("--markdown", "as a fenced Markdown block")
    .addHelpText(
      "after",
      prose(
        session,
        "hit: at least 98 % of what could be read was. short, miss: less, nothing. unknown: nobody can say.\n≈ marks what was shared out by size; other figures are the provider's own. A miss for which nothing changed on our side is not_served.\nRules of providers are dated data; `cacheRules` in orangebox.config.json come before the built-in ones.",
      ),
    )
  bindShell<ViewFlags>(command, session, showCache, [
    ["orangebox cache", "the calls of the last run, one line each"],
    ["orangebox cache last#7", "one call: the first byte that differs, and who put it there"],
    ["orangebox cache last --json", "the same for a program"],
  ])
}

function showCache(
  session: Session,
  options: ViewFlags & GlobalOptions,
  address = "last",
): Promise<number | undefined> {
  return withRunAt(session, options, address, async (reading) =>
    tell(session, options, await answerCache(reading, viewOptions(session, options))),
  )
}
