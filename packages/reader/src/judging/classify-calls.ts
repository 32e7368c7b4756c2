import { classifier } from "@orangebox/decisions"
import { type Classify, findConfig } from "@orangebox/recorder"
import { checkPlace } from "./check-place.js"

/**
 * The address of this module, for a recording that has a process of its own: functions do not travel between processes. Tests read the
 * sources; a child process always runs the build.
 */
export const CLASSIFIER = new URL(
  import.meta.url.endsWith(".ts") ? "../../dist/judging/classify-calls.js" : "classify-calls.js",
  import.meta.url,
).href

/** What of a tool call outlives its text, by the rules and the tools of the configuration that holds for a folder. */
export function classifyIn(cwd: string, dataFolder: string): Classify {
  const { checks = [], tools } = findConfig(cwd)?.config ?? {}
  return classifier(checks, checkPlace({ data: dataFolder }), tools === undefined ? {} : { tools })
}
