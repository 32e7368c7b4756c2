import type { CommandRole, Place, Word } from "./command.js"

/** What a command runs: words as they are, or a text that a shell reads. */
export interface InnerRun {
  readonly words?: readonly Word[]
  readonly script?: Word
  /** The script runs in the shell that reads the text, so what it sets stays set. */
  readonly isSameShell?: boolean
  /** `$0`, `$1`, … of the script. */
  readonly positional?: readonly Word[]
  readonly place?: Place
  readonly chdir?: Word
  readonly environment?: readonly { readonly name: string; readonly value: Word }[]
  /** It runs in a folder that cannot be named. */
  readonly isElsewhere?: boolean
}

export interface Unwrapped {
  readonly role: CommandRole
  readonly runs: readonly InnerRun[]
  /** Why what it runs cannot be told. */
  readonly dynamic?: string
}

export const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash"])

export const unknownWord = (text: string): Word => ({ text, isKnown: false, hasGlob: false })
export const knownWord = (text: string): Word => ({ text, isKnown: true, hasGlob: false })

/** What stands on the input of a command: its text, or that it is unknown, or nothing that the text arranges. */
export type Input = Word | undefined

/** What a command runs in turn; undefined when it runs nothing but itself. */
export function unwrap(program: string, words: readonly Word[], input: Input): Unwrapped | undefined {
  if (SHELLS.has(program)) return unwrapShell(words, input)
  const prefix = Object.hasOwn(PREFIXES, program) ? PREFIXES[program] : undefined
  if (prefix !== undefined) return unwrapPrefix(prefix, words)
  const special = Object.hasOwn(SPECIAL, program) ? SPECIAL[program] : undefined
  if (special !== undefined) return special(words, input)
  const runner = Object.hasOwn(RUNNERS, program) ? RUNNERS[program] : undefined
  if (runner !== undefined) return unwrapRunner(runner, words)
  return undefined
}

/** A program that takes a command behind its own options. */
interface Prefix {
  /** Options whose value is the next word. */
  readonly values?: string
  /** Words of its own before the command. */
  readonly operands?: number
  readonly takesAssignments?: boolean
  readonly role?: CommandRole
  readonly place?: Place
  /** The option that names the folder to run in. */
  readonly chdir?: string
  /** Options whose value is a script. */
  readonly scripts?: string
  /** Options with which it only answers a question. */
  readonly queries?: string
}

const PREFIXES: Readonly<Record<string, Prefix>> = {
  sudo: {
    values: "-u -g -h -p -C -T -r -t -U -R --user --group --host --prompt --close-from --role --type --chroot",
    takesAssignments: true,
    role: "carrier",
    chdir: "-D --chdir",
    queries: "-l -v -V -k -K --list --validate --version",
  },
  doas: { values: "-u -C -a", role: "carrier" },
  env: { values: "-u --unset", takesAssignments: true, chdir: "-C --chdir", scripts: "-S --split-string" },
  nohup: {},
  setsid: {},
  time: { values: "-f -o --format --output" },
  nice: { values: "-n --adjustment" },
  timeout: { values: "-s -k --signal --kill-after", operands: 1 },
  stdbuf: { values: "-i -o -e --input --output --error" },
  command: { queries: "-v -V" },
  builtin: {},
  exec: { values: "-a" },
  strace: { values: "-e -o -p -s -u -E -P -a -b -O -S -I" },
  busybox: {},
  flock: { values: "-w -E --timeout --conflict-exit-code", operands: 1, scripts: "-c --command" },
  chroot: { operands: 1, role: "carrier", place: "container" },
}

const listOf = (options = ""): readonly string[] => (options === "" ? [] : options.split(" "))

function unwrapPrefix(prefix: Prefix, words: readonly Word[]): Unwrapped {
  const role = prefix.role ?? "wrapper"
  const values = listOf(prefix.values)
  const folders = listOf(prefix.chdir)
  const scripts = listOf(prefix.scripts)
  const queries = listOf(prefix.queries)
  const environment: { name: string; value: Word }[] = []
  const runs: InnerRun[] = []
  let chdir: Word | undefined
  let operands = prefix.operands ?? 0
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]!
    if (!word.isKnown) return { role, runs, dynamic: "the command behind it is not written out" }
    if (word.text === "--") {
      at++
      break
    }
    if (word.text.startsWith("-") && word.text !== "-") {
      if (queries.includes(word.text)) return { role: "command", runs }
      const taken = takesOption(word, words[at + 1], [...values, ...folders, ...scripts])
      if (taken === undefined) continue
      if (taken.isNext) at++
      if (folders.includes(taken.option)) chdir = taken.value
      if (scripts.includes(taken.option)) runs.push({ script: taken.value })
      continue
    }
    const assignment = prefix.takesAssignments === true ? /^([A-Za-z_]\w*)=/.exec(word.text) : null
    if (assignment !== null) {
      environment.push({ name: assignment[1] as string, value: knownWord(word.text.slice(assignment[0].length)) })
      continue
    }
    if (operands === 0) break
    operands--
  }
  // Words of its own may stand behind `--` too.
  at += Math.min(operands, Math.max(0, words.length - at))
  const rest = words.slice(at)
  const where = { ...(prefix.place && { place: prefix.place }), ...(chdir && { chdir }) }
  if (rest.length > 0) runs.push({ words: rest, environment, ...where })
  return { role: runs.length === 0 ? "command" : role, runs }
}

/** The value of an option that takes one: in the same word or in the next. */
function takesOption(
  word: Word,
  next: Word | undefined,
  options: readonly string[],
): { option: string; value: Word; isNext: boolean } | undefined {
  for (const option of options) {
    if (word.text === option) return { option, value: next ?? unknownWord(""), isNext: true }
    const isLong = option.startsWith("--")
    if (isLong && word.text.startsWith(`${option}=`)) {
      return { option, value: { ...word, text: word.text.slice(option.length + 1) }, isNext: false }
    }
    if (!isLong && !word.text.startsWith("--") && word.text.startsWith(option)) {
      return { option, value: { ...word, text: word.text.slice(option.length) }, isNext: false }
    }
  }
  return undefined
}

/** Skips options, and answers where the first word of another kind stands. */
function skipOptions(words: readonly Word[], from: number, valueOptions: readonly string[]): number {
  let at = from
  for (; at < words.length; at++) {
    const word = words[at]!
    if (word.text === "--") return at + 1
    if (!word.text.startsWith("-") || word.text === "-") return at
    if (takesOption(word, words[at + 1], valueOptions)?.isNext === true) at++
  }
  return at
}

function unwrapShell(words: readonly Word[], input: Input): Unwrapped {
  const role = "wrapper"
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!
    if (!word.isKnown) return { role, runs: [], dynamic: "the shell's script is not written out" }
    if (word.text === "--" || word.text === "-") continue
    if (/^[-+]/.test(word.text)) {
      if (word.text === "-O" || word.text === "+O" || word.text === "-o" || word.text === "+o") at++
      else if (word.text === "--rcfile" || word.text === "--init-file") {
        return { role, runs: [], dynamic: "the shell reads a start-up file" }
      } else if (/^-[a-zA-Z]*c/.test(word.text)) {
        // The script is the first word behind all options.
        const script = words.slice(at + 1).findIndex((one) => !/^[-+]./.test(one.text))
        const text = script === -1 ? undefined : words[at + 1 + script]
        if (text === undefined) return { role, runs: [], dynamic: "the shell is given no script" }
        return { role, runs: [{ script: text, positional: words.slice(at + 2 + script) }] }
      } else if (/^-[a-zA-Z]*s/.test(word.text)) break
      continue
    }
    // `<(…)` and /dev/stdin were read or are not known; a file's content is not in the text.
    if (/^\/dev\/(?:stdin|fd\/0)$/.test(word.text)) break
    return { role: "command", runs: [], dynamic: `it runs the script ${word.text}` }
  }
  if (input === undefined) {
    return words.some((word) => word.text === "--version" || word.text === "--help")
      ? { role: "command", runs: [] }
      : { role, runs: [], dynamic: "the shell reads its script from its input" }
  }
  return { role, runs: [{ script: input }] }
}

const joined = (words: readonly Word[]): Word => ({
  text: words.map((word) => word.text).join(" "),
  isKnown: words.every((word) => word.isKnown),
  hasGlob: false,
})

const XARGS_VALUES = listOf(
  "-I -n -P -L -d -E -s -a -l --max-args --max-procs --delimiter --arg-file --replace --max-lines",
)
const SSH_VALUES = listOf("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B")
const CONTAINER_VALUES = listOf(
  "-e -u -w -v -p -n -c -l -f -h -m --env --user --workdir --env-file --detach-keys --name --network --net --volume --mount --publish " +
    "--entrypoint --label --memory --cpus --platform --pull --restart --hostname --add-host --ulimit --tmpfs --gpus --ipc --pid --shm-size " +
    "--cap-add --cap-drop --security-opt --device --dns --link --log-driver --log-opt --namespace --container --index --project-name --file",
)

/** The mark that `xargs -I{}` puts its input in the place of. */
function replacedBy(options: readonly Word[]): string | undefined {
  const at = options.findIndex(({ text }) => /^(?:-I|-i|--replace)/.test(text))
  if (at === -1) return undefined
  const { text } = options[at]!
  return (/^(?:-[Ii]|--replace=)(.+)$/.exec(text)?.[1] ?? (text === "-I" ? options[at + 1]?.text : undefined)) || "{}"
}

const SPECIAL: Readonly<Record<string, (words: readonly Word[], input: Input) => Unwrapped | undefined>> = {
  eval: (words) => {
    const script = joined(words.slice(words[1]?.text === "--" ? 2 : 1))
    return { role: "wrapper", runs: script.text === "" ? [] : [{ script, isSameShell: true }] }
  },
  xargs: (words, input) => {
    const at = skipOptions(words, 1, XARGS_VALUES)
    const replaced = replacedBy(words.slice(1, at))
    // What is put in the place of a mark stands on the input.
    const command = words
      .slice(at)
      .map((word) => (replaced !== undefined && word.text.includes(replaced) ? unknownWord(word.text) : word))
    if (command.length === 0) return undefined
    const given =
      input?.isKnown === true && at === 1
        ? input.text
            .split(/\s+/)
            .filter((word) => word !== "" && !/["'\\]/.test(word))
            .map(knownWord)
        : []
    const rest = given.length > 0 && given.length <= 64 ? given : [unknownWord("…")]
    return { role: "wrapper", runs: [{ words: [...command, ...rest] }] }
  },
  watch: (words) => {
    const command = words.slice(skipOptions(words, 1, listOf("-n -d --interval")))
    return command.length === 0 ? undefined : { role: "wrapper", runs: [{ script: joined(command) }] }
  },
  su: (words) => {
    const at = words.findIndex((word, index) => index > 0 && /^(?:-c|--command)/.test(word.text))
    const script = at === -1 ? undefined : takesOption(words[at]!, words[at + 1], ["-c", "--command"])?.value
    return script === undefined ? undefined : { role: "carrier", runs: [{ script }] }
  },
  trap: (words) =>
    words.length > 2 ? { role: "wrapper", runs: [{ script: words[1]!, isSameShell: true }] } : undefined,
  alias: (words) => {
    const runs = words.slice(1).flatMap((word): InnerRun[] => {
      const equals = word.text.indexOf("=")
      // Its caller adds words.
      return equals > 0 ? [{ script: { ...word, text: `${word.text.slice(equals + 1)} "$ALIAS_ARGUMENT"` } }] : []
    })
    return runs.length === 0 ? undefined : { role: "wrapper", runs }
  },
  ssh: (words) => {
    const local = words.find((word) => /(?:proxycommand|localcommand|knownhostscommand)/i.test(word.text))
    if (local !== undefined) return { role: "carrier", runs: [], dynamic: "an option of it runs a command here" }
    const host = skipOptions(words, 1, SSH_VALUES)
    const command = words.slice(skipOptions(words, host + 1, SSH_VALUES))
    if (command.length === 0) return undefined
    return { role: "carrier", runs: [{ script: joined(command), place: "remote" }] }
  },
  docker: unwrapContainer,
  podman: unwrapContainer,
  "docker-compose": unwrapContainer,
  kubectl: unwrapContainer,
  find: unwrapFind,
  fd: (words) => {
    const at = words.findIndex((word) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(word.text))
    return at === -1 ? undefined : { role: "command", runs: [{ words: [...words.slice(at + 1), unknownWord("{}")] }] }
  },
}

function unwrapContainer(words: readonly Word[]): Unwrapped | undefined {
  const verb = words.findIndex((word, index) => index > 0 && (word.text === "exec" || word.text === "run"))
  if (verb === -1) return undefined
  const separator = words.findIndex((word, index) => index > verb && word.text === "--")
  const name = skipOptions(words, verb + 1, CONTAINER_VALUES)
  const command = words.slice(separator === -1 ? name + 1 : separator + 1)
  if (command.length === 0) return undefined
  return { role: "carrier", runs: [{ words: command, place: "container" }] }
}

const FIND_EXEC = new Set(["-exec", "-execdir", "-ok", "-okdir"])

/** `find` runs its commands on what lies under its roots; `{}` stands for all of that. */
function unwrapFind(words: readonly Word[]): Unwrapped | undefined {
  const runs: InnerRun[] = []
  let at = 1
  while (at < words.length && /^-[HLPDO]/.test(words[at]!.text)) at++
  const firstRoot = at
  while (at < words.length && !/^[-(!]/.test(words[at]!.text)) at++
  const roots = words.slice(firstRoot, at)
  const found = (roots.length === 0 ? [knownWord(".")] : roots).map(
    (root): Word => ({ text: `${root.text.replace(/\/+$/, "")}/**`, isKnown: root.isKnown, hasGlob: true }),
  )
  for (; at < words.length; at++) {
    const option = words[at]!.text
    if (!FIND_EXEC.has(option)) continue
    const command: Word[] = []
    for (at++; at < words.length && words[at]!.text !== ";" && words[at]!.text !== "+"; at++) {
      const word = words[at]!
      if (word.text === "{}") command.push(...found)
      else command.push(word.text.includes("{}") ? unknownWord(word.text) : word)
    }
    if (command.length > 0) runs.push({ words: command, isElsewhere: option.endsWith("dir") })
  }
  return runs.length === 0 ? undefined : { role: "command", runs }
}

/** Package managers that run another program, with the verbs that do so and the options that take a value: `uv run --with x pytest`. */
const RUNNERS: Readonly<Record<string, readonly [verbs: string, values: string]>> = {
  npx: ["", "-p --package -w --workspace"],
  bunx: ["", ""],
  uvx: ["", "--from --with -p --python"],
  pipx: ["run", "--spec"],
  pnpm: ["exec dlx", "-C --dir --filter -F"],
  yarn: ["exec dlx", "--cwd"],
  npm: ["exec x", "--prefix -C -w --workspace"],
  uv: ["run", "--with --extra --group -p --python --directory --project --env-file"],
  poetry: ["run", "-C --directory -P --project"],
  pipenv: ["run", ""],
  conda: ["run", "-n -p --name --prefix"],
  bundle: ["exec", ""],
}

function unwrapRunner([verbs, options]: (typeof RUNNERS)[string], words: readonly Word[]): Unwrapped | undefined {
  const values = listOf(options)
  let at = skipOptions(words, 1, values)
  const script = words.slice(1, at + 1).findIndex((word) => word.text === "-c" || word.text === "--call")
  if (script !== -1 && words[script + 2] !== undefined)
    return { role: "wrapper", runs: [{ script: words[script + 2]! }] }
  if (verbs !== "") {
    if (!listOf(verbs).includes(words[at]?.text ?? "")) return undefined
    at = skipOptions(words, at + 1, values)
  }
  const command = words.slice(at)
  return command.length === 0 ? undefined : { role: "wrapper", runs: [{ words: command }] }
}
