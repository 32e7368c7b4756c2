import { EMPTY_PROFILE, type OverrideProfile, type OverrideRule, parseProfile } from "@orangebox/replay"
import { wrongUsage } from "../session.js"
import { readJsonFile } from "./masks.js"

export interface ProfileOptions {
  readonly set: readonly string[]
  readonly profile?: string
}

/** What a fork changes, from a file or from `--set name=value`. */
export function profileOf({ set, profile }: ProfileOptions): OverrideProfile {
  if (profile !== undefined && set.length > 0) {
    throw wrongUsage(
      "--set and --profile are two ways to say what changes",
      "Put the change into the profile, or use --set alone",
    )
  }
  if (profile !== undefined) return parseProfile(readJsonFile(profile), profile)
  return { ...EMPTY_PROFILE, rules: set.map(ruleOf) }
}

function ruleOf(text: string): OverrideRule {
  const at = text.indexOf("=")
  const name = text.slice(0, at).trim()
  const value = text.slice(at + 1)
  if (at < 1 || name === "" || value === "") {
    throw wrongUsage(`--set ${text}: this is no name=value`, "Give it as --set model=claude-x or --set temperature=0")
  }
  const select = { kind: "model" as const }
  return name === "model"
    ? { id: `set ${name}`, select, op: { type: "model.swap", model: value, reasoning_blocks: "auto" } }
    : { id: `set ${name}`, select, op: { type: "param.set", set: { [name]: jsonOrText(value) } } }
}

/** `0`, `true` and `[1]` are JSON; what is not, is the text itself. */
function jsonOrText(value: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
