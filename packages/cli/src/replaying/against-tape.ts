import type { Event } from "@orangebox/contract"
import { openDataFolder } from "@orangebox/journal"
import type { ExtraVariable } from "@orangebox/proxy"
import { dataPath, type ReplaySource } from "@orangebox/reader"
import { findConfig } from "@orangebox/recorder"
import type { Tape } from "@orangebox/replay"
import { parseVariable, type VariableOptions } from "../running/base-url-variables.js"
import type { GlobalOptions, Session } from "../session.js"

/** What every replay through the proxy is given, whether a command asks or the recorded calls are sent again. */
export interface AgainstTape {
  readonly tape: Tape
  readonly sourceEvents: readonly Event[]
  readonly folder: string
  readonly variables: readonly ExtraVariable[]
  readonly upstreams: Readonly<Record<string, string>>
  readonly onWarning: (message: string) => void
}

export function againstTape(
  session: Session,
  options: VariableOptions & GlobalOptions,
  { tape, events }: ReplaySource,
): AgainstTape {
  return {
    tape,
    sourceEvents: events,
    folder: openDataFolder(dataPath(options.data)).path,
    variables: options.variable.map(parseVariable),
    upstreams: findConfig(process.cwd())?.config.upstreams ?? {},
    onWarning: (message) => session.terminal.say(`orangebox: ${message}`),
  }
}
