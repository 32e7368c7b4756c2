import type { Action } from "../../action.js"
import { holdsMask } from "../../captured-text.js"
import { hostOf, isLocalHost } from "../../shell/effects/hosts.js"
import { knownTool } from "../../tools/known-tools.js"
import { matchesName } from "../paths/glob.js"
import type { PreparedAction } from "../prepared-action.js"
import { type Answer, type ArgumentProblem, defineRule, type Finding, unknownOption } from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface NetworkArgument {
  readonly allowed: readonly string[]
}

export const networkDeny = defineRule<NetworkArgument>({
  name: "network.deny",
  form: "network.deny [allow=<host>…]",
  about:
    "Nothing talks to another machine, but for the hosts allowed (*.example.org: all below it); this machine is always allowed",
  example: "network.deny allow=api.github.com allow=*.npmjs.org",
  concerns: ["alignment", "policy"],
  judged: "before",
  read: readAllowed,
  onAction: ({ allowed }, prepared) => judgeNetwork(allowed, prepared),
})

function readAllowed(text: RuleText): NetworkArgument | ArgumentProblem {
  const option = unknownOption(text, ["allow"])
  if (option !== undefined) return option
  if (text.values[0] !== undefined)
    return { position: text.values[0].position, reason: "hosts are given as allow=<host>" }
  const allowed: string[] = []
  for (const { text: host, position } of text.options.get("allow") ?? []) {
    if (!/^(?:\*\.)?[\p{L}\p{N}.:_-]+$/u.test(host))
      return { position, reason: "a host is a name such as api.github.com or *.npmjs.org" }
    allowed.push(host.toLowerCase().normalize("NFKC"))
  }
  return { allowed }
}

function judgeNetwork(
  allowed: readonly string[],
  { action, commands, opaque, unreadable, untold }: PreparedAction,
): Answer | undefined {
  if (action.tool === null && commands.length === 0 && action.targets.length === 0) return undefined
  const findings: Finding[] = []
  const unknown: string[] = []
  const said = new Set<string>()
  const say = (host: string, who: string, excerpt: string, pointers: Finding["pointers"]): void => {
    if (holdsMask(host)) unknown.push(`which host ${who} talks to was masked when it was recorded`)
    if (holdsMask(host) || isLocalHost(host) || allowed.some((pattern) => allows(pattern, host)) || said.has(host))
      return
    said.add(host)
    findings.push({ certainty: "sure", message: `${who} talks to ${host}, which is not allowed`, excerpt, pointers })
  }
  if (untold !== undefined && !isEditor(action)) unknown.push(untold)
  for (const { command, effects, ran } of commands) {
    const excerpt = ran.text.slice(command.start, command.end)
    const who = effects.program ?? "a command"
    if (effects.network === true) {
      if (allowed.length > 0) unknown.push(`which host ${who} talks to is not in the command`)
      else
        findings.push({
          certainty: "sure",
          message: `${who} talks to other machines`,
          excerpt,
          pointers: [ran.evidence],
        })
    } else for (const host of effects.network ?? []) say(host, who, excerpt, [ran.evidence])
  }
  for (const { target, evidence } of action.targets) {
    const hosts = holdsMask(target) ? undefined : hostOf(target)
    if (hosts === undefined) unknown.push(`which host ${target.slice(0, 80)} names is not known`)
    else for (const host of hosts) say(host, action.tool?.name ?? "the action", target, [evidence])
  }
  if (action.type === "api_call" && action.commands.length === 0 && action.targets.length === 0) {
    if (allowed.length > 0) unknown.push(`which host ${action.tool?.name ?? "the call"} talks to is not recorded`)
    else {
      const message = `${action.tool?.name ?? "the action"} is a call to another machine`
      findings.push({
        certainty: "possible",
        message,
        excerpt: action.tool?.name ?? null,
        pointers: action.evidence.slice(0, 1),
      })
    }
  }
  unknown.push(...unreadable, ...opaque)
  return { findings, unknown: unknown[0] }
}

/** Which file an editor changes has nothing to do with it; a tool that is an editor only in the configuration's words may do more. */
const isEditor = ({ type, tool, unread }: Action): boolean =>
  knownTool(tool?.name ?? "")?.action === "edit" || (type === "edit" && !unread.includes("args"))

const allows = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : matchesName(pattern, host)
