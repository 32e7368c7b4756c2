import {
  askForSnapshot,
  findRun,
  type LoadedRun,
  listSnapshots,
  materialise,
  type Reading,
  type SnapshotAnswer,
} from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import { type Command, Option } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { parseCount } from "../option-values.js"
import { withReader, withReading } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import {
  answerWords,
  type ShownSnapshot,
  snapshotJson,
  snapshotsText,
  writtenText,
} from "../snapshot/format-snapshot.js"
import { whileNotInterrupted } from "../while-not-interrupted.js"

interface SnapshotOptions {
  readonly as: "builder" | "runtime"
  readonly wait: number
  readonly list?: boolean
  readonly write?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Store what a live run's models saw and its tools said, and list the snapshots of a run, whichever fault they were taken for.",
    )
    .argument("<run>", "a run: last, or run_01JT9")
    .addOption(new Option("--as <role>", "who asks, for the record").choices(["builder", "runtime"]).default("builder"))
    .option("--wait <seconds>", "how long to wait until a step ends, which is when it is taken", parseCount, 10)
    .option("--list", "only what there is; ask for nothing")
    .option("--write", "put the snapshots below .orangebox/snapshots/, for other tools to read")
    .addHelpText(
      "after",
      prose(
        session,
        "A request that was not taken in time stays and is taken when the next step ends. Exits with 1 when it was not taken, when there is no snapshot, and when one could not be written. Files that --write made are yours: prune and redact do not know them.",
      ),
    )
  bindShell<SnapshotOptions>(command, session, snapshot, [
    ["orangebox snapshot last", "of a live run: take one now. Of any other: what it left"],
    ["orangebox snapshot last --list --write", "the bytes as files"],
    ["orangebox snapshot run_01JT9 --as runtime --wait 60", "on behalf of the user of the agent"],
  ])
}

async function snapshot(
  session: Session,
  options: SnapshotOptions & GlobalOptions,
  address = "last",
): Promise<ExitCode> {
  // From here on the run is known by its whole id: "last" may be another one by the time the snapshot is there.
  const runId = await withReading(session, options, async ({ store }) => (await findRun(store, address)).row.runId)
  const answer = options.list ? undefined : await ask(session, options, runId)
  return withReading(session, options, async (reading) => {
    const run = await findRun(reading.store, runId)
    const shown = await snapshotsOf(reading, run, options.write === true)
    const { terminal } = session
    if (options.json) {
      const request = answer && { as: options.as, reason: null, ...answer }
      const json = {
        run_id: runId,
        status: run.row.status,
        request: request ?? null,
        snapshots: shown.map(snapshotJson),
      }
      terminal.out(safeJson({ ...json, ...reading.freshness }, 2))
    } else {
      const words = answerWords(answer, shown.length)
      if (words !== undefined) terminal.say(words)
      if (shown.length > 0) terminal.outVerbatim(snapshotsText(shown, terminal.columns))
      else if (answer === undefined) terminal.say("orangebox: this run has no snapshot")
      if (options.write && shown.length > 0) terminal.out(writtenText(shown))
    }
    return isAsWanted(answer, shown) ? EXIT.fine : EXIT.findings
  })
}

function ask(session: Session, options: SnapshotOptions & GlobalOptions, runId: string): Promise<SnapshotAnswer> {
  return whileNotInterrupted((signal) =>
    withReader(session, options, (reader) =>
      askForSnapshot(reader, {
        runId,
        requestedBy: options.as === "builder" ? "builder_user" : "runtime_user",
        waitMs: options.wait * 1000,
        signal,
      }),
    ),
  )
}

async function snapshotsOf({ store, folder }: Reading, run: LoadedRun, isToWrite: boolean): Promise<ShownSnapshot[]> {
  const shown: ShownSnapshot[] = []
  for (const listed of listSnapshots(run)) {
    // What was kept when it was taken may have been let go of since; the event does not change.
    const snapshot = { ...listed, absent: listed.absent ?? (await store.bodyInfo(listed.hash))?.absent?.absent ?? null }
    shown.push(isToWrite ? { ...snapshot, written: await materialise(store, folder.path, snapshot) } : snapshot)
  }
  return shown
}

/** A run that is over cannot be asked; what it left is then the answer. */
function isAsWanted(answer: SnapshotAnswer | undefined, shown: readonly ShownSnapshot[]): boolean {
  if (answer?.outcome === "waiting" || shown.length === 0) return false
  return shown.every(
    ({ written }) => written === undefined || written.outcome === "written" || written.outcome === "same",
  )
}
