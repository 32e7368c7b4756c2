import { keepRun } from "@orangebox/reader"
import { formatBytes, plural, safeJson, shellWord } from "@orangebox/text"
import type { Command } from "commander"
import { refuseToOverwrite, writeNewFile } from "../new-file.js"
import { withReader } from "../reading.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"

interface KeepOptions {
  readonly secretKey?: boolean
  readonly force?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Keep a run as the fixture of a test: one file that can answer for models and tools, checked to be whole.",
    )
    .argument("<run>", "the run, or an exported file")
    .argument("<file>", "the fixture, such as test/fixtures/fix-date.obxrun")
    .option(
      "--secret-key",
      "also the key its secrets are told apart by, where the agent under test asks with the same ones",
    )
    .option("--force", "replace a file that is there")
    .addHelpText(
      "after",
      prose(
        session,
        "It is what was captured: secrets are masked. A run that could not be replayed is refused. Serve it in a test with withTape of @orangebox/testing, hold a new run against it with orangebox check --against; docs/testing.md shows both.",
      ),
    )
  bindShell<KeepOptions>(command, session, keep, [
    ["orangebox keep last test/fixtures/fix-date.obxrun", "the last run"],
    ["orangebox check last --against test/fixtures/fix-date.obxrun", "does a changed agent still decide the same?"],
  ])
}

async function keep(
  session: Session,
  options: KeepOptions & GlobalOptions,
  address = "",
  file = "",
): Promise<undefined> {
  refuseToOverwrite(file, options.force ?? false)
  const { runId, calls, pieces } = await withReader(session, options, (reader) =>
    keepRun(reader, address, options.secretKey ?? false),
  )
  // A fixture is shared with a repository; what is in it was masked when it was recorded.
  const bytes = writeNewFile(file, pieces, options.force ?? false, 0o644)
  session.terminal.out(
    options.json
      ? safeJson({ run_id: runId, file, bytes, calls }, 2)
      : `${runId} → ${shellWord(file)}\n${formatBytes(bytes)}; answers ${plural(calls, "call")}: withTape(${JSON.stringify(file)}, …)`,
  )
  return undefined
}
