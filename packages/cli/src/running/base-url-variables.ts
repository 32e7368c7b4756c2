import type { ExtraVariable } from "@orangebox/proxy"
import type { Command } from "commander"
import { collected } from "../option-values.js"
import { wrongUsage } from "../session.js"

export interface VariableOptions {
  readonly variable: readonly string[]
}

/** For every command that starts another one behind the proxy. */
export function withVariableOption(command: Command): Command {
  return command.option(
    "--variable <name[=url]>",
    "another variable that holds a base URL; may be repeated",
    collected,
    [] as readonly string[],
  )
}

export function parseVariable(text: string): ExtraVariable {
  const [name = "", ...rest] = text.split("=")
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    // What was given may be a URL with a login in it.
    throw wrongUsage("--variable does not begin with the name of a variable", "Give it as NAME or NAME=https://…")
  }
  return rest.length === 0 ? { name } : { name, url: rest.join("=") }
}
