import type { Verdict } from "@orangebox/contract"
import { overrideAt } from "@orangebox/reader"
import { recordedText, safeJson } from "@orangebox/text"
import { type Command, Option } from "commander"
import { annotationDoor, loginName } from "../decisions/login-name.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface OverrideOptions {
  readonly verdict: Exclude<Verdict, "unknown">
  readonly reason: string
  readonly author?: string
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Say what you think of a run or of one of its steps. It is kept beside the run, with your name and your reason.",
    )
    .argument("<address>", "a run, or a step as last#5; also while it goes on")
    .addOption(
      new Option("--verdict <verdict>", "what you find").choices(["pass", "warn", "fail"]).makeOptionMandatory(),
    )
    .requiredOption("--reason <text>", "why; secrets in it are masked")
    .option("--author <name>", "who says so; default: the name you are logged in with")
    .addHelpText(
      "after",
      prose(
        session,
        "The run itself does not change, nor does its digest. The last word counts; earlier ones stay on record.\norangebox report follows it; orangebox check does only with --accept-overrides.",
      ),
    )
  bindShell<OverrideOptions>(command, session, override, [
    ["orangebox override last --verdict pass --reason 'agreed with ops'", "about the run as a whole"],
    ["orangebox override last#5 --verdict fail --reason 'wrong file'", "about one step"],
  ])
}

async function override(session: Session, options: OverrideOptions & GlobalOptions, address = ""): Promise<undefined> {
  const author = options.author ?? loginName()
  if (author === undefined) {
    throw wrongUsage("nobody knows who you are here", "Say it with --author")
  }
  if (author.trim() === "" || author.length > 200) {
    throw wrongUsage("--author is a name of up to 200 characters", "Say who you are")
  }
  if (options.reason.trim() === "") {
    throw wrongUsage("--reason is empty", "Say why: whoever reads the run will want to know")
  }
  const { verdict, reason } = options
  const { runId, n, event } = await withReader(session, options, (reader) =>
    overrideAt(reader, annotationDoor(), address, { author, verdict, reason }),
  )
  const { author: by, reason: why } = event.payload
  const { event_id, timestamp_utc: at } = event
  session.terminal.out(
    options.json
      ? safeJson({ event_id, run_id: runId, step_no: n, author: by, verdict, reason: why, at }, 2)
      : `${runId}${n === null ? "" : `#${n}`}: ${recordedText(by, 60)} says ${verdict}: ${recordedText(why, 200)}`,
  )
  return undefined
}
