import type { Redirection, SimpleCommand } from "./command.js"
import { type CommandEffects, type PathUse, running } from "./effects/effects.js"
import { hostsOf } from "./effects/hosts.js"
import { ownScriptOf, projectCodeOf, testRunnerOf } from "./effects/own-scripts.js"
import { effectsOfProgram } from "./effects/programs.js"

/**
 * What one command does to files and to other machines, as far as its words tell. Builds and test runs are taken at their word; a program
 * without a description is `opaque`.
 *
 *     classifyCommand(parseShell("cp a.ts src/ > log").commands[0])
 *     // { program: "cp", reads: [a.ts], writes: [src/, src/a.ts, log], … }
 */
export function classifyCommand(command: SimpleCommand): CommandEffects {
  const { program, words } = command
  const redirected = redirectedPaths(command.redirections)
  if (program === undefined)
    return { ...NOTHING, ...redirected, program, opaque: command.dynamic ?? "the program is not known" }
  const effects = effectsOf(program, command)
  const testRunner = testRunnerOf(program, words)
  const hidden = command.dynamic ?? codeInEnvironment(command) ?? projectCodeOf(program, words)
  const script = testRunner === undefined ? ownScriptOf(program, words) : undefined
  const opaque = hidden ?? (testRunner === undefined ? (effects.opaque ?? script) : undefined)
  const mayRun = hidden ?? (testRunner === undefined ? (effects.mayRun ?? script) : undefined)
  const network = withProxy(redirected.network ?? effects.network, command)
  return {
    ...NOTHING,
    ...effects,
    program,
    writes: [...(effects.writes ?? []), ...redirected.writes],
    reads: [...(effects.reads ?? []), ...redirected.reads],
    network,
    testRunner,
    opaque,
    mayRun,
  }
}

const NOTHING: CommandEffects = {
  program: undefined,
  writes: [],
  reads: [],
  deletes: [],
  linked: [],
  network: undefined,
  testRunner: undefined,
  kind: undefined,
  opaque: undefined,
  mayRun: undefined,
}

function effectsOf(program: string, { role, words, isAlias }: SimpleCommand): Partial<CommandEffects> {
  if (role === "function" || program === "") return {}
  const described = effectsOfProgram(program, words)
  // What a wrapper runs stands in the reading as a command of its own; what it writes down of it does not.
  if (role === "wrapper") return { writes: described?.writes ?? [] }
  if (described !== undefined || role === "carrier") return described ?? {}
  const reason = `what ${program} does is not known`
  return isAlias === true ? { opaque: reason } : running(reason)
}

/** What goes through a proxy talks to the proxy, wherever else it goes. */
function withProxy(network: CommandEffects["network"], { environment }: SimpleCommand): CommandEffects["network"] {
  const proxies = environment.filter(({ name, value }) => /^(?:https?|all|ftp)_proxy$/i.test(name) && value.text !== "")
  if (network === undefined || network === true || proxies.length === 0) return network
  const hosts = hostsOf(proxies.map(({ value }) => value))
  return hosts === true ? true : [...network, ...hosts]
}

const NO_FILE = /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+|full|zero)$/

function redirectedPaths(redirections: readonly Redirection[]): {
  writes: PathUse[]
  reads: PathUse[]
  network: readonly string[] | true | undefined
} {
  const writes: PathUse[] = []
  const reads: PathUse[] = []
  let network: readonly string[] | true | undefined
  for (const { operator, target } of redirections) {
    if (operator === "<<" || operator === "<<-" || operator === "<<<") continue
    const socket = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(target.text)
    if (socket !== null) {
      network = target.isKnown ? [(socket[1] as string).toLowerCase()] : true
      continue
    }
    if (NO_FILE.test(target.text)) continue
    if ((operator === ">&" || operator === "<&") && /^(?:\d+-?|-)$/.test(target.text)) continue
    const use = { word: target, isTree: false }
    if (operator === "<" || operator === "<&") reads.push(use)
    else writes.push(use)
  }
  return { writes, reads, network }
}

/** Variables that make a harmless program run something else. */
const RUNS_CODE =
  /^(?:LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|ENV|PROMPT_COMMAND|GIT_SSH|GIT_SSH_COMMAND|GIT_EDITOR|GIT_PAGER|GIT_EXTERNAL_DIFF|GIT_ASKPASS|EDITOR|VISUAL|PAGER|PERL5OPT|PERL5LIB|PYTHONSTARTUP|PYTHONPATH|RUBYOPT|RUBYLIB|NODE_OPTIONS|NODE_PATH|PATH|JAVA_TOOL_OPTIONS)$/

function codeInEnvironment(command: SimpleCommand): string | undefined {
  const telling = command.environment.find(
    ({ name, value }) => RUNS_CODE.test(name) && !isHarmlessValue(name, value.text),
  )
  return telling === undefined ? undefined : `${telling.name} may make it run something else`
}

const isHarmlessValue = (name: string, value: string): boolean =>
  value === "" ||
  (/^(?:EDITOR|VISUAL|GIT_EDITOR|PAGER|GIT_PAGER)$/.test(name) && /^(?:cat|true|:|less|more)$/.test(value)) ||
  (name === "NODE_OPTIONS" && /^--max[-_]old[-_]space[-_]size=\d+$/.test(value)) ||
  (name === "PYTHONPATH" && /^[\w./:]*$/.test(value))
