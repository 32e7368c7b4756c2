import { isNameKept } from "../../captured-text.js"
import { matchesName } from "../paths/glob.js"
import { type ArgumentProblem, defineRule, PASSED, unknownAnswer, unknownOption } from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface ToolsArgument {
  readonly names: readonly string[]
}

export const toolsDeny = defineRule<ToolsArgument>({
  name: "tools.deny",
  form: "tools.deny <name>…",
  about: "None of these tools is called; names may hold * and ?, and case does not count",
  example: "tools.deny web_search mcp__*__delete_*",
  concerns: ["alignment", "policy"],
  judged: "before",
  read: readNames,
  onAction: ({ names }, { action }) => {
    if (action.tool === null) return undefined
    const name = action.tool.name.toLowerCase()
    const denied = names.find((pattern) => matchesName(pattern, name))
    if (denied === undefined) return isNameKept(name) ? PASSED : unknownAnswer("the name of the tool is not kept")
    const message = `${action.tool.name} is a tool that must not be called (${denied})`
    return {
      findings: [{ certainty: "sure", message, excerpt: action.tool.name, pointers: action.evidence.slice(0, 1) }],
    }
  },
})

/** A policy of the user's own may mask or hash the names of tools. */

function readNames(text: RuleText): ToolsArgument | ArgumentProblem {
  const option = unknownOption(text, [])
  if (option !== undefined) return option
  if (text.values.length === 0) return { position: text.rest.position, reason: "the name of a tool is missing" }
  return { names: text.values.map((value) => value.text.toLowerCase()) }
}
