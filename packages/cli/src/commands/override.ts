import { InputError, type Verdict } from "@orangebox/contract"
import { findTarget, rulesHere, runOf, writeOverride } from "@orangebox/reader"
import { recordedText, safeJson } from "@orangebox/text"
import { type Command, Option } from "commander"
import { annotationDoor, loginName } from "../decisions/login-name.js"
import { catchUpHere, withReading } from "../reading.js"
import { examples, type GlobalOptions, type Session, shellOf } from "../session.js"

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
      "\nThe run itself does not change, nor does its digest. The last word counts; earlier ones stay on record.\norangebox report follows it; orangebox check does only with --accept-overrides.",
    )
    .addHelpText(
      "after",
      examples([
        ["orangebox override last --verdict pass --reason 'agreed with ops'", "about the run as a whole"],
        ["orangebox override last#5 --verdict fail --reason 'wrong file'", "about one step"],
      ]),
    )
    .action(shellOf<OverrideOptions>(session, override))
}

function override(session: Session, options: OverrideOptions & GlobalOptions, address = ""): Promise<undefined> {
  const author = options.author ?? loginName()
  if (author === undefined) {
    throw new InputError("USAGE", { what: "nobody knows who you are here", next: "Say it with --author" })
  }
  if (author.trim() === "" || author.length > 200) {
    throw new InputError("USAGE", { what: "--author is a name of up to 200 characters", next: "Say who you are" })
  }
  if (options.reason.trim() === "") {
    throw new InputError("USAGE", {
      what: "--reason is empty",
      next: "Say why: whoever reads the run will want to know",
    })
  }
  return withReading(session, options, async ({ folder, store }) => {
    const target = await findTarget(store, address)
    const run = await runOf(store, target)
    const { verdict, reason } = options
    // The first step is the run itself.
    const n = run.view.steps.find(({ id }) => id === target.stepId)?.n
    const stepId = n === undefined || n === 1 ? null : target.stepId
    const event = writeOverride(
      annotationDoor(),
      folder,
      run,
      { author, verdict, reason, stepId },
      rulesHere(process.cwd(), options).ruleset,
    )
    await catchUpHere(session, folder.path)
    const place = stepId === null ? run.row.runId : `${run.row.runId}#${n}`
    session.terminal.out(
      options.json
        ? safeJson(
            {
              event_id: event.event_id,
              run_id: run.row.runId,
              step_no: stepId === null ? null : n,
              author: event.payload.author,
              verdict,
              reason: event.payload.reason,
              at: event.timestamp_utc,
            },
            2,
          )
        : `${place}: ${recordedText(event.payload.author, 60)} says ${verdict}: ${recordedText(event.payload.reason, 200)}`,
    )
    return undefined
  })
}
