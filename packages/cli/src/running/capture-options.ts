import type { CaptureMode } from "@orangebox/contract"
import { type Command, Option } from "commander"

export interface CaptureOptions {
  readonly capture?: CaptureMode
  readonly allowFull?: boolean
}

/** What a recording command may say about what is kept, over the configuration. */
export function withCaptureOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--capture <mode>",
        "what is kept: all, all but secrets, or digests; default: as configured, else redacted",
      ).choices(["full", "redacted", "hashed"]),
    )
    .option("--allow-full", "needed beside --capture full wherever the environment is not local")
}

/** The same for whoever records. */
export function captureOf({ capture, allowFull }: CaptureOptions): CaptureOptions {
  return { ...(capture === undefined ? {} : { capture }), ...(allowFull === undefined ? {} : { allowFull }) }
}
