import { readFileSync } from "node:fs"
import { Command } from "commander"
import { addCollect } from "./commands/collect.js"
import { addCompletion } from "./commands/completion.js"
import { addDemo } from "./commands/demo.js"
import { addDoctor } from "./commands/doctor.js"
import { addPrune } from "./commands/prune.js"
import { addRuns } from "./commands/runs.js"
import { addSearch } from "./commands/search.js"
import { addShow } from "./commands/show.js"
import { addSql } from "./commands/sql.js"
import { addStep } from "./commands/step.js"
import { addVerify } from "./commands/verify.js"
import { examples, type Session } from "./session.js"
import type { TerminalStreams } from "./terminal.js"

/** Every command, in the order in which a newcomer meets them. */
export function buildProgram(
  session: Session,
  { stdout, stderr }: Pick<TerminalStreams, "stdout" | "stderr">,
): Command {
  const program = new Command("orangebox")
    .description("The flight recorder for AI agents: what an agent saw, what it did, where it went wrong.")
    .version(versionOf(), "-V, --version", "print the version")
    .option("--data <folder>", "data folder; default: ORANGEBOX_HOME, else the nearest .orangebox upwards from here")
    .option("--json", "print one JSON document on stdout, as described in docs/cli-json.md")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => title })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      // Errors of usage are told like all others, by the caller.
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText(
      "after",
      examples([
        ["orangebox demo", "see it all on a scripted agent: no key, no network"],
        ["orangebox show", "the last run, one line per step"],
        ["orangebox step last#13", "everything about one step"],
      ]),
    )
    .addHelpText(
      "after",
      "\nA run is addressed by its id, the beginning of one, or last; a step as last#13.\nExit codes: 0 fine, 1 findings, 2 bad usage or input, 3 system error.",
    )
  addDemo(program, session)
  addRuns(program, session)
  addShow(program, session)
  addStep(program, session)
  addSearch(program, session)
  addSql(program, session)
  addVerify(program, session)
  addCollect(program, session)
  addPrune(program, session)
  addDoctor(program, session)
  addCompletion(program, session)
  return program
}

function versionOf(): string {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
  return manifest.version
}
