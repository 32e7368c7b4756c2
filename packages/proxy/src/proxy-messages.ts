import type { CaptureMode } from "@orangebox/contract"
import type { Handoff, RecorderOptions } from "@orangebox/recorder"
import type { ProxyLimits } from "./limits.js"
import type { ProxyStats } from "./proxy-stats.js"

/** What the supervisor tells the process that runs the proxy. */
export type ToProxy =
  | { readonly kind: "start"; readonly task: ProxyTask }
  | { readonly kind: "command_started"; readonly pid: number }
  | {
      readonly kind: "command_ended"
      readonly exitCode: number | null
      readonly signal: string | null
      readonly stdout: { readonly byteSize: number; readonly sha256: string; readonly base64: string | null } | null
    }
  /** Our stdout has no reader any more: see `STDOUT_HEIR`. */
  | { readonly kind: "stdout_gone" }

/**
 * Where the command's stdout is read along, the proxy has the other end of that pipe and our stdout as well, and does nothing with them: it
 * is there when the process that reads along is killed, and a command that lives on must not lose its stdout.
 */
export const STDOUT_HEIR = { from: 4, to: 5 } as const

/** What it answers. */
export type FromProxy =
  | { readonly kind: "listening"; readonly port: number; readonly run: Handoff; readonly isRecording: boolean }
  | { readonly kind: "stats"; readonly stats: ProxyStats; readonly lost: number }
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "failed"; readonly code: string; readonly what: string; readonly next: string | undefined }
  | { readonly kind: "finished" }

export interface ProxyTask {
  readonly app: string
  readonly cwd: string
  readonly folder: string | undefined
  readonly upstreams: Readonly<Record<string, string>>
  readonly versioned: readonly string[]
  readonly port: number
  readonly token: string
  readonly limits: Partial<ProxyLimits>
  readonly caFile: string | undefined
  readonly profile: RecorderOptions["profile"]
  readonly capture: CaptureMode | undefined
  readonly allowFull: boolean | undefined
  /** Whether changes of the git work tree are recorded. */
  readonly workspace: boolean
  readonly classifier: string | undefined
  readonly inheritsStdout: boolean
  readonly run: {
    readonly entrypoint: string
    readonly input: string
    /** The run of a proxy that died before this one. */
    readonly parent: Handoff | undefined
  }
}
