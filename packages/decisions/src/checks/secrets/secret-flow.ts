import type { CommandEffects, CommandSpan, PathUse, SimpleCommand, Word } from "../../shell/index.js"
import { isLocalHost, joinPaths } from "../../shell/index.js"
import type { HeldSecrets } from "./held-secrets.js"
import {
  type Holds,
  holdsSecret,
  isSecretVariable,
  mayHoldSecrets,
  mayMatchSecret,
  secretVariableIn,
} from "./secret-names.js"

// What a command line takes of secrets and where that goes. A source is a command that reads something secret; a sender talks to another machine.
// What a source only prints for the agent stays here. What goes into a pipe, a word, a variable or a file may leave with any sender that could
// take it: where the text shows the way it is a breach, everywhere else it is unknown, and that is said.

export interface FlowCommand {
  readonly command: SimpleCommand
  readonly effects: CommandEffects
}

export interface SecretFlow {
  /** What leaves, for certain, and the command that sends it. */
  readonly sent: readonly { readonly message: string; readonly command: SimpleCommand }[]
  readonly unknown: string | undefined
}

/** Everybody is compared with everybody. */
const MOST_COMMANDS = 500
const NOTHING: SecretFlow = { sent: [], unknown: undefined }

interface Source {
  readonly holds: Exclude<Holds, "no">
  readonly what: string
}

/** Judges the commands of one command line, and notes what later ones may find lying about. */
export function secretFlow(commands: readonly FlowCommand[], held: HeldSecrets): SecretFlow {
  if (commands.length > MOST_COMMANDS)
    return { sent: [], unknown: "the text holds too many commands to follow secrets through" }
  const sources = commands.map((one) => sourceOf(one, held))
  const sent: { message: string; command: SimpleCommand }[] = []
  const unknown: string[] = []
  const isLoose = commands.map((_, at) => sources[at] !== undefined && getsAway(commands, at))
  for (const [at, { command, effects }] of commands.entries()) {
    const program = effects.program || "a command"
    if (effects.mayRun !== undefined) unknown.push(`${program}: ${effects.mayRun}`)
    if (program === "git" && addsSecret(command, held)) held.isCommitted = true
    if (!isSender(effects)) continue
    const own = sources[at]
    // A login sends a secret where it belongs; whether this is the place, only people know.
    const isLogin = command.words.some(({ text }) => LOGS_IN.test(text))
    if (own?.holds === "yes" && !isLogin)
      sent.push({ message: `${program} sends ${own.what} to another machine`, command })
    else if (own !== undefined) unknown.push(`${program} may send ${own.what}`)
    const fed = [command.wordsFrom, takesInput(command, effects) ? command.inputFrom : undefined]
    const carried = fed.flatMap((span) => carriedBy(span, commands, sources))
    for (const { source, isSure } of carried) {
      if (isSure && !isLogin) sent.push({ message: `${program} sends ${source.what} to another machine`, command })
      else unknown.push(`${program} may send ${source.what}`)
    }
    const loose = sources.find(
      (_, source) => source !== at && isLoose[source] && mayTake(commands[at]!, commands[source]!),
    )
    if (loose !== undefined) unknown.push(`whether ${program} sends ${loose.what} only running would tell`)
    if (held.isInVariable && hasUnknownWord(command)) unknown.push(`${program} may send what an earlier command read`)
    if (held.isCommitted && effects.kind === "push")
      unknown.push(`${program} may send a file with secrets that was added`)
  }
  const first = isLoose.indexOf(true)
  if (first !== -1) {
    const isInVariable = commands.some(({ command }, at) => isLoose[at] === true && command.isCaptured === true)
    held.take(
      commands.slice(first).flatMap(({ effects }) => effects.writes),
      isInVariable,
    )
  }
  return sent.length === 0 && unknown.length === 0 ? NOTHING : { sent, unknown: unknown[0] }
}

const LOGS_IN = /^(?:login|auth|--password-stdin|--with-token)$/

const isSender = ({ network }: CommandEffects): boolean =>
  network === true || (network?.some((host) => !isLocalHost(host)) ?? false)

/** They tell a file's name or its size, not what is in it, or only say their own words. */
const NAMES_ONLY = new Set(
  "ls dir tree stat file du df wc readlink realpath basename dirname locate find fd test [ [[ rm rmdir unlink touch mkdir truncate chmod chown chgrp cd pushd popd echo printf which type command export unset kill".split(
    " ",
  ),
)
/** With no name given they print every variable there is. */
const ENVIRONMENT = new Set(["env", "printenv", "set", "export", "declare", "typeset", "readonly"])
/** What their subcommands are called that give out secrets. */
const GIVES_SECRETS =
  /^(?:.*secret.*|.*credential.*|.*token.*|.*password.*|get-parameters?(?:-by-path)?|keyvault|config:?.*|configure|auth|env(?:ironment)?|output|inspect|decrypt|history)$/i
const SERVICES = new Set(
  "aws gcloud az kubectl helm gh npm pnpm yarn heroku terraform pulumi vercel netlify fly flyctl firebase wrangler docker podman redis-cli psql mysql".split(
    " ",
  ),
)

function sourceOf({ command, effects }: FlowCommand, held: HeldSecrets): Source | undefined {
  const { program, words } = command
  if (command.role === "function") return undefined
  const variable = variableIn(command)
  if (variable !== undefined) return { holds: "maybe", what: `the variable ${variable}` }
  if (program !== undefined && ENVIRONMENT.has(program) && command.role === "command") {
    const named = words.slice(1).filter(({ text }) => !text.startsWith("-"))
    const shown =
      program === "printenv" ? named.find(({ text, isKnown }) => !isKnown || isSecretVariable(text)) : undefined
    if (named.length === 0 && !words.some(({ text }) => /^[-+][a-oq-z]/.test(text)))
      return { holds: "yes", what: "the environment" }
    if (shown !== undefined) return { holds: "yes", what: `the variable ${shown.text}` }
  }
  if (program === "history") return { holds: "maybe", what: "the shell's history" }
  if (program !== undefined && SERVICES.has(program) && words.slice(1).some(({ text }) => GIVES_SECRETS.test(text)))
    return { holds: "maybe", what: `what ${program} tells of secrets` }
  if (program === "git" && /^(?:credential|config|var)$/.test(words[1]?.text ?? "") && words.length < 5)
    return { holds: "maybe", what: "git's settings" }
  if (program !== undefined && program !== "" && NAMES_ONLY.has(program)) return undefined
  const read = effects.reads.map((use) => fileSource(use, command.cwds, held)).filter((source) => source !== undefined)
  const sure = read.find(({ holds }) => holds === "yes") ?? read[0]
  if (sure !== undefined) return sure
  const named = namesSecret(command, held)
  return named === undefined ? undefined : { holds: "maybe", what: named }
}

function fileSource({ word, isTree }: PathUse, cwds: SimpleCommand["cwds"], held: HeldSecrets): Source | undefined {
  const { text, isKnown, hasGlob } = word
  if (text === "-" || /^\/dev\/(?:stdin|fd\/\d+|null|zero|u?random)$/.test(text)) return undefined
  if (!isKnown) return { holds: "maybe", what: "a file that is not named" }
  if (hasGlob) return mayMatchSecret(text) ? { holds: "maybe", what: text } : undefined
  const paths = joinPaths(cwds ?? [""], text) ?? [text]
  if (paths.some((path) => holdsSecret(path) || held.holds(path))) return { holds: "yes", what: text }
  return isTree && mayHoldSecrets(text) ? { holds: "maybe", what: `everything under ${text}` } : undefined
}

/** Texts that are put into a command beside its words: what it is given to read. */
const givenTo = ({ words, redirections, environment }: SimpleCommand): readonly Word[] => [
  ...words,
  ...environment.map(({ value }) => value),
  ...redirections.flatMap(({ operator, target, body }) => (operator.startsWith("<<") ? [body ?? target] : [])),
]

function variableIn(command: SimpleCommand): string | undefined {
  for (const { text, isKnown } of givenTo(command)) {
    const name = isKnown ? undefined : secretVariableIn(text)
    if (name !== undefined) return name
  }
  return undefined
}

/** Options that name what a program proves itself with. It is used, not sent. */
const OWN_KEYS: Readonly<Record<string, RegExp>> = {
  ssh: /^-[iF]$/,
  scp: /^-[iF]$/,
  sftp: /^-[iF]$/,
  curl: /^(?:-E|--cert|--key|--cacert|--netrc-file)$/,
  kubectl: /^--kubeconfig$/,
  docker: /^--(?:tlskey|tlscert|config)$/,
}
/** Subcommands of git that say nothing of what is in a file. */
const GIT_NAMES_ONLY = /^(?:add|rm|mv|check-ignore|commit|status|ls-files|checkout|restore|reset|update-index|config)$/

/** A file with secrets that stands anywhere among a command's words, alone or in one of them: `HEAD:.env`, `f=@.env;type=x`. */
function namesSecret({ program, words }: SimpleCommand, held: HeldSecrets): string | undefined {
  if (program === "git" && GIT_NAMES_ONLY.test(words[1]?.text ?? "") && words[1]?.text !== "add") return undefined
  const ownKeys = OWN_KEYS[program ?? ""]
  for (const [at, { text }] of words.entries()) {
    if (at === 0 || (/:\/\//.test(text) && !/\bfile:/.test(text)) || /\s/.test(text)) continue
    if (ownKeys?.test(words[at - 1]!.text) === true) continue
    // What stands behind a host is the other machine's.
    const isRemote = /^(?:scp|rsync|sftp)$/.test(program ?? "") && /^[^/]*:/.test(text)
    const named = isRemote
      ? undefined
      : text.split(/[@=:<;,]/).find((part) => part !== "" && (holdsSecret(part) || held.holds(part)))
    if (named !== undefined) return named
  }
  return undefined
}

/** What a push will send: a file with secrets by its name, or, with all that changed, one that a secret was written to. */
function addsSecret(command: SimpleCommand, held: HeldSecrets): boolean {
  const verb = command.words.findIndex(({ text }) => text === "add" || text === "commit")
  if (verb === -1) return false
  const isAdd = command.words[verb]!.text === "add"
  if (isAdd && namesSecret(command, held) !== undefined) return true
  const takesAll = isAdd ? /^(?:-A|-u|--all|--update|\.|\*|:\/)$/ : /^(?:-\w*a\w*|--all)$/
  return held.isInPlainFile && command.words.slice(verb).some(({ text }) => takesAll.test(text))
}

/** They fetch, and take nothing from their input unless they are told to. */
const FETCHERS = new Set(["curl", "wget", "ping", "dig", "nslookup", "host", "whois", "traceroute"])
const isFetcher = ({ program, kind }: CommandEffects, words: readonly Word[]): boolean =>
  FETCHERS.has(program ?? "") ||
  kind === "install" ||
  (program === "git" && kind === undefined) ||
  ((program === "docker" || program === "podman") && words[1]?.text === "pull")

const NAMES_INPUT = /(?:^|[@=<])-(?:;|$)|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0/
const hasUnknownWord = ({ words }: SimpleCommand): boolean => words.some(({ isKnown }) => !isKnown)

const takesInput = (command: SimpleCommand, effects: CommandEffects): boolean =>
  !isFetcher(effects, command.words) ||
  hasUnknownWord(command) ||
  command.words.some(({ text }) => NAMES_INPUT.test(text))

/** The sources among commands that feed a sender. What stands between them and it carries on what it reads, if it is known to. */
function carriedBy(
  span: CommandSpan | undefined,
  commands: readonly FlowCommand[],
  sources: readonly (Source | undefined)[],
): { source: Source; isSure: boolean }[] {
  if (span === undefined) return []
  const between = commands.slice(span.from, span.to)
  const areKnown = between.every(
    ({ effects, command }) => effects.mayRun === undefined && command.dynamic === undefined,
  )
  const areLossless = !between.some(({ effects }) => DIGESTS.test(effects.program ?? ""))
  return sources
    .slice(span.from, span.to)
    .flatMap((source) =>
      source === undefined ? [] : [{ source, isSure: source.holds === "yes" && areKnown && areLossless }],
    )
}

/** What comes out of them tells little of what went in, or nothing. */
const DIGESTS = /^(?:wc|cksum|\w+sum|true|false|:)$/

/** Whether what a source reads goes anywhere but to the agent: into a substitution, a file, a function, a pipe that does more than show it. */
function getsAway(commands: readonly FlowCommand[], at: number): boolean {
  const { command, effects: own } = commands[at]!
  if (command.isCaptured === true || own.opaque !== undefined) return true
  if (command.program === "git" && !GIT_SHOWS.test(command.words[1]?.text ?? "")) return true
  const goesOn = commands.some(
    ({ command: { inputFrom, role, program, redirections }, effects }, index) =>
      role === "function" ||
      program === "exec" ||
      program === "coproc" ||
      (program === "" && redirections.length > 0) ||
      (index >= at && effects.writes.length > 0) ||
      effects.linked.length > 0 ||
      (inputFrom !== undefined &&
        inputFrom.from <= at &&
        at < inputFrom.to &&
        (isSender(effects) || effects.mayRun !== undefined)),
  )
  return goesOn || SETS_VARIABLES.test(command.program ?? "")
}

const GIT_SHOWS = /^(?:show|cat-file|diff|log|blame|grep|config|credential|var)$/
const SETS_VARIABLES = /^(?:read|mapfile|readarray|source|\.|mv|ln)$/

/** Whether a sender could take what got away: a fetcher whose words are all known sends only these. */
function mayTake(sender: FlowCommand, source: FlowCommand): boolean {
  const { command, effects } = sender
  if (!isFetcher(effects, command.words)) return true
  if (source.command.isCaptured === true) return true
  return takesInput(command, effects) || effects.reads.length > 0
}
