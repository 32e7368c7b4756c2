import { type CaptureMode, given } from "@orangebox/contract"
import { type Command, Option } from "commander"

export interface CaptureOptions {
  readonly profile?: "audit" | "debug"
  readonly capture?: CaptureMode
  readonly allowFull?: boolean
}

/** What a recording command may say about what is kept, over the configuration. */
export function withCaptureOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--profile <name>",
        "audit: a manifest of every call, bodies only on a fault, nothing goes out unrecorded; default: as configured, else debug",
      ).choices(["audit", "debug"]),
    )
    .addOption(
      new Option(
        "--capture <mode>",
        "what is kept: all, all but secrets, or digests; default: as configured, else redacted",
      ).choices(["full", "redacted", "hashed"]),
    )
    .option("--allow-full", "needed beside --capture full wherever the environment is not local")
}

/** The same for the recorder. */
export function captureOf({ profile, capture, allowFull }: CaptureOptions): CaptureOptions {
  return given({ profile, capture, allowFull })
}
