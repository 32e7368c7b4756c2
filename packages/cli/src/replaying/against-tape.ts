import { openDataFolder } from "@orangebox/journal"
import { dataPath, type ReplaySource } from "@orangebox/reader"
import { findConfig } from "@orangebox/recorder"
import { parseVariable, type VariableOptions } from "../running/base-url-variables.js"
import type { GlobalOptions, Session } from "../session.js"

export type AgainstTape = ReturnType<typeof againstTape>

/** What every replay through the proxy is given, whether a command asks or the recorded calls are sent again. */
export function againstTape(
  session: Session,
  options: VariableOptions & GlobalOptions,
  { tape, recording, maskKey }: ReplaySource,
) {
  return {
    tape,
    // What is asked now is masked as the recording was.
    recorder: maskKey?.bytes === undefined ? {} : { key: maskKey.bytes },
    recording,
    folder: openDataFolder(dataPath(options.data)).path,
    variables: options.variable.map(parseVariable),
    upstreams: findConfig(process.cwd())?.config.upstreams ?? {},
    onWarning: (message: string) => session.terminal.say(`orangebox: ${message}`),
  }
}
