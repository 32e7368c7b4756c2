import type { CommandRole, CommandSpan, ExitTells, Redirection, ShellProblem, SimpleCommand, Word } from "./command.js"
import { type Allowance, Cursor } from "./cursor.js"
import { type ExpansionRules, expandWhole, expandWord } from "./expand.js"
import { readItems } from "./read-items.js"
import { joinPaths, mergeFolders, type Scope } from "./scope.js"
import { outputOf } from "./standard-output.js"
import type { Item, Joint, RawAssignment } from "./syntax.js"
import { type InnerRun, type Input, unknownWord, unwrap } from "./wrappers.js"

/** Commands one text may hold before the rest is given up. */
const MAX_COMMANDS = 20_000
/** Commands that run commands that run commands. */
const MAX_WRAPPING = 16

interface Range {
  readonly start: number
  readonly end: number
}

type CommandItem = Extract<Item, { kind: "command" }>

/** A command as it is about to run. */
interface Call {
  readonly words: readonly Word[]
  readonly redirections: readonly Redirection[]
  readonly environment: SimpleCommand["environment"]
  readonly scope: Scope
  readonly input: Input
  readonly isConditional: boolean
  readonly range: Range
  readonly wordsFrom: CommandSpan | undefined
}

/**
 * Walks what was read in the order a shell would, following the folder and the variables the text itself sets. It takes every branch: a
 * command that may run is a command.
 */
export class Interpreter {
  readonly commands: SimpleCommand[] = []
  private readonly allowance: Allowance
  private readonly functions = new Set<string>()
  private readonly aliases = new Set<string>()
  private readonly unreliable = new Set<string>()
  private wandersInLoops = false
  private wanders = false
  private stopsOnError = false
  private depth = 0
  private isFull = false
  /** What stands on the input of the commands walked now. */
  private inputFrom: CommandSpan | undefined
  private isCaptured = false
  private exit: ExitTells = { success: true, failure: true }

  constructor(allowance: Allowance) {
    this.allowance = allowance
  }

  get problems(): readonly ShellProblem[] {
    return this.allowance.problems
  }

  /** Reads and walks a text. `range` is where it stands in the text the user gave, when it is not that text itself. */
  read(text: string, scope: Scope, range?: Range): void {
    const before = this.allowance.problems.length
    this.noteLoops(text)
    const items = readItems(new Cursor(text, 0, this.allowance, readItems), undefined)
    if (range !== undefined) {
      for (let index = before; index < this.allowance.problems.length; index++) {
        const problem = this.allowance.problems[index]!
        this.allowance.problems[index] = { position: range.start, reason: problem.reason }
      }
    }
    this.walk(items, scope, range)
  }

  /**
   * A loop or a function runs its commands with what is assigned further down. Rather than follow that, a variable assigned twice in such a
   * text counts as unknown, and so does the folder once a `cd` stands behind the first of them.
   */
  private noteLoops(text: string): void {
    const loop = /\b(?:for|while|until|select|function)\b|\(\s*\)/.exec(text)
    this.wanders ||= /\b(?:cd|pushd|popd|chdir)\b/.test(text)
    if (loop === null) return
    this.wandersInLoops ||= /\b(?:cd|pushd|popd|chdir)\b/.test(text.slice(loop.index))
    const assigned = new Set<string>()
    for (const match of text.matchAll(
      /\b([A-Za-z_]\w*)(?:\[[^\]\n]{0,64}\])?\+?=|\b(?:for|select)\s+([A-Za-z_]\w*)/g,
    )) {
      const name = (match[1] ?? match[2]) as string
      if (assigned.has(name)) this.unreliable.add(name)
      assigned.add(name)
    }
  }

  private walk(items: readonly Item[], outer: Scope, range: Range | undefined): void {
    let scope = outer
    const blocks: Block[] = []
    const inputOutside = this.inputFrom
    const exitOutside = this.exit
    const exits = exitTells(items, exitOutside)
    let pipeStart = this.commands.length
    let chainFolders = scope.cwds
    let hasMoved = false
    let isGuarded = false
    let output: Input
    const endChain = (): void => {
      if (hasMoved) {
        const isSure = blocks.length === 0 && (isGuarded || this.stopsOnError)
        if (!isSure) scope.cwds = mergeFolders(scope.cwds, chainFolders)
      }
      hasMoved = false
      isGuarded = false
      chainFolders = scope.cwds
    }
    for (const [index, item] of items.entries()) {
      if (item.kind === "open") {
        endChain()
        if (item.joint !== "pipe") pipeStart = this.commands.length
        blocks.push({ scope, kind: item.block, pipeStart, inputFrom: this.inputFrom })
        if (item.joint === "pipe") this.inputFrom = { from: pipeStart, to: this.commands.length }
        if (item.block !== "group") scope = scope.inside()
        if (item.block === "loop" && this.wandersInLoops) scope.cwds = undefined
        if (item.block === "function" && this.wanders) scope.cwds = undefined
        chainFolders = scope.cwds
        output = undefined
      } else if (item.kind === "close") {
        endChain()
        const block = blocks.pop()
        if (block !== undefined) {
          pipeStart = block.pipeStart
          this.inputFrom = block.inputFrom
        }
        if (block !== undefined && block.kind !== "group") {
          const inner = scope
          scope = block.scope
          scope.absorb(inner)
          if (block.kind !== "function") scope.cwds = mergeFolders(scope.cwds, inner.cwds)
          chainFolders = scope.cwds
        }
        output = unknownWord("")
      } else if (item.kind === "function") {
        this.functions.add(item.name)
      } else if (item.kind === "aside") {
        for (const word of item.words) expandWhole(word, scope, this.rules(scope, range))
      } else if (item.kind === "each") {
        this.bindEach(item, scope, range)
      } else {
        if (item.joint === "next" || item.joint === "background") endChain()
        const next = items[index + 1]
        const isApart = item.joint === "pipe" || isJoined(next, "pipe") || isJoined(next, "background")
        const input = item.joint === "pipe" ? output : undefined
        // A redirection behind a block belongs to the block, and so to its pipe.
        const isOfBlock = item.kind === "command" && item.words.length === 0 && item.redirections.length > 0
        if (item.joint !== "pipe" && !isOfBlock) pipeStart = this.commands.length
        const inputOfBlock = this.inputFrom
        if (item.joint === "pipe") this.inputFrom = { from: pipeStart, to: this.commands.length }
        if (item.kind === "subshell") {
          this.exit = blocks.length > 0 ? EXIT_TELLS_NOTHING : exits[index]!
          this.walk(item.items, scope.inside(), range)
          this.exit = exitOutside
          this.inputFrom = inputOfBlock
          output = unknownWord("")
          continue
        }
        const isConditional = item.joint === "and" || item.joint === "or"
        const foldersBefore = scope.cwds
        const at = isApart ? scope.inside() : scope
        this.exit = blocks.length > 0 ? EXIT_TELLS_NOTHING : exits[index]!
        const done = this.runItem(item, at, input, isConditional, range)
        this.exit = exitOutside
        this.inputFrom = inputOfBlock
        output = done.output
        if (!isApart && at.cwds !== foldersBefore) {
          hasMoved = true
          if (item.joint === "or") scope.cwds = mergeFolders(scope.cwds, foldersBefore)
        }
        if (item.joint === "or" && done.leaves) isGuarded = true
      }
    }
    endChain()
    this.inputFrom = inputOutside
    // Blocks that were never closed end with the text.
    for (const block of blocks.reverse()) {
      if (block.kind !== "group") block.scope.cwds = mergeFolders(block.scope.cwds, scope.cwds)
    }
  }

  private rules(scope: Scope, range: Range | undefined): ExpansionRules {
    return {
      unreliable: this.unreliable,
      onScript: (part) => {
        const wasCaptured = this.isCaptured
        const { exit } = this
        this.isCaptured = true
        this.exit = EXIT_TELLS_NOTHING
        this.walk(part.items, scope.inside(), range)
        this.isCaptured = wasCaptured
        this.exit = exit
      },
      spend: (characters) => {
        this.allowance.steps -= characters
        return this.allowance.steps >= 0
      },
    }
  }

  private bindEach(item: Extract<Item, { kind: "each" }>, scope: Scope, range: Range | undefined): void {
    if (item.values === undefined) {
      scope.set(item.name, undefined)
      return
    }
    const words = item.values.flatMap((value) => expandWord(value, scope, this.rules(scope, range)).words)
    const isKnown = words.every((word) => word.isKnown && !word.hasGlob)
    scope.set(item.name, isKnown ? words.map((word) => word.text) : undefined)
  }

  private runItem(
    item: CommandItem,
    scope: Scope,
    input: Input,
    isConditional: boolean,
    outerRange: Range | undefined,
  ): { output: Input; leaves: boolean } {
    const rules = this.rules(scope, outerRange)
    const from = this.commands.length
    const words: Word[] = []
    let isChosen = false
    for (const [index, raw] of item.words.entries()) {
      const { words: expanded, isChoice } = expandWord(raw, scope, rules)
      if (words.length === 0 && isChoice) isChosen = true
      if (index === 0 || words.length < 4096) words.push(...expanded)
    }
    const redirections = item.redirections.map(({ operator, target, body }): Redirection => {
      const file = expandWhole(target, scope, rules)
      return body === undefined
        ? { operator, target: file }
        : { operator, target: file, body: expandWhole(body, scope, rules) }
    })
    const environment = item.assignments.map((assignment) => ({
      name: assignment.name,
      value: this.assignedValue(assignment, scope, rules),
    }))
    if (item.words.length === 0) {
      for (const { name, value } of environment) assign(scope, name, value, isConditional)
    }
    if (words.length === 0 && redirections.length === 0) return { output: undefined, leaves: false }
    const given = inputOf(redirections) ?? input
    const range = outerRange ?? { start: item.start, end: item.end }
    const to = this.commands.length
    const wordsFrom = to > from ? { from, to } : undefined
    const call: Call = { words, redirections, environment, scope, input: given, isConditional, range, wordsFrom }
    if (isChosen) {
      this.emit(call, "command", "which program runs depends on a variable")
      return { output: unknownWord(""), leaves: false }
    }
    this.dispatch(call)
    const program = programOf(words[0])
    return {
      output: program === undefined ? unknownWord("") : outputOf(program, words, given),
      leaves: program === "exit" || program === "return",
    }
  }

  private assignedValue(assignment: RawAssignment, scope: Scope, rules: ExpansionRules): Word {
    if (assignment.value === undefined) return unknownWord("")
    const value = expandWhole(assignment.value, scope, rules)
    if (!assignment.isAppend) return value
    const before = scope.valuesOf(assignment.name)
    if (before?.length !== 1 || !value.isKnown) return unknownWord(value.text)
    return { ...value, text: before[0] + value.text }
  }

  /** Records a command, and everything it runs in turn. */
  private dispatch(call: Call): void {
    const program = programOf(call.words[0])
    if (program === undefined) {
      this.emit(call, "command", "the program is named by something only running it would tell")
      return
    }
    const unwrapped = unwrap(program, call.words, call.input)
    const role: CommandRole = this.functions.has(program) ? "function" : (unwrapped?.role ?? "command")
    const isTooDeep = unwrapped !== undefined && unwrapped.runs.length > 0 && this.depth >= MAX_WRAPPING
    const isUnread = unwrapped?.runs.some(({ script }) => script?.isKnown === false) === true
    const dynamic = isTooDeep
      ? "commands run commands too deeply"
      : (unwrapped?.dynamic ?? (isUnread ? "it runs a script that is not written out" : undefined))
    this.emit(call, role, dynamic)
    this.runBuiltin(program, call)
    if (isTooDeep || unwrapped === undefined) return
    this.depth++
    for (const run of unwrapped.runs) this.runInner(run, call)
    this.depth--
  }

  private runInner(run: InnerRun, call: Call): void {
    const { scope } = call
    const place = run.place ?? scope.place
    const inner =
      run.isSameShell === true ? scope : run.script === undefined ? scope.inside(place) : scope.otherShell(place)
    if (run.chdir !== undefined) inner.cwds = move(inner.cwds, run.chdir)
    if (run.isElsewhere === true) inner.cwds = undefined
    const environment = [...call.environment, ...(run.environment ?? [])]
    if (run.words !== undefined) {
      this.dispatch({ ...call, words: run.words, redirections: [], environment, scope: inner })
      return
    }
    if (run.script?.isKnown !== true) return
    for (const { name, value } of environment) inner.set(name, value.isKnown ? [value.text] : undefined)
    run.positional?.slice(0, 10).forEach((word, index) => {
      inner.set(String(index), word.isKnown && !word.hasGlob ? [word.text] : undefined)
    })
    this.read(run.script.text, inner, call.range)
  }

  private runBuiltin(program: string, { words, scope, isConditional }: Call): void {
    switch (program) {
      case "cd":
      case "chdir":
      case "pushd": {
        const operand = words.slice(1).find((word) => !/^-[LPe@]+$/.test(word.text) && word.text !== "--")
        const target = operand ?? { text: "~", isKnown: program !== "pushd", hasGlob: false }
        scope.cwds = target.text === "-" || /^[-+]\d/.test(target.text) ? undefined : move(scope.cwds, target)
        return
      }
      case "alias":
        for (const word of words.slice(1)) this.aliases.add(word.text.split("=", 1)[0]!)
        return
      case "popd":
        scope.cwds = undefined
        return
      case "export":
      case "declare":
      case "typeset":
      case "local":
      case "readonly":
        for (const word of words.slice(1)) {
          const match = /^([A-Za-z_]\w*)(?:(\+?)=|$)/.exec(word.text)
          if (match === null) continue
          // What is exported for certain only; a declaration may be local, and a condition may not hold.
          if (program === "export" && !isConditional && word.isKnown) scope.export(match[1] as string)
          if (match[2] === undefined) continue
          const value = { ...word, text: word.text.slice(match[0].length), isKnown: word.isKnown && match[2] === "" }
          assign(scope, match[1] as string, value, isConditional)
        }
        return
      case "read":
      case "mapfile":
      case "readarray":
      case "getopts":
      case "unset":
      case "printf":
        if (program === "printf" && words[1]?.text !== "-v") return
        for (const word of words.slice(1)) if (/^[A-Za-z_]\w*$/.test(word.text)) scope.set(word.text, undefined)
        return
      case "set":
        if (words.some((word) => /^-[a-z]*e/.test(word.text) || word.text === "errexit") && !isConditional) {
          this.stopsOnError = true
        }
        if (words.some((word) => /^\+[a-z]*e/.test(word.text))) this.stopsOnError = false
        return
    }
  }

  private emit(call: Call, role: CommandRole, dynamic: string | undefined): void {
    const { words, redirections, environment, scope, range, wordsFrom } = call
    if (this.commands.length >= MAX_COMMANDS) {
      if (!this.isFull)
        this.allowance.problems.push({ position: range.start, reason: "the text holds too many commands" })
      this.isFull = true
      return
    }
    const program = programOf(words[0])
    const { cwds, place } = scope
    const isAlias = program !== undefined && this.aliases.has(program)
    const { inputFrom, isCaptured, exit } = this
    this.commands.push({
      program,
      words,
      environment,
      redirections,
      cwds,
      place,
      role,
      dynamic,
      exit,
      start: range.start,
      end: range.end,
      ...(isAlias && { isAlias }),
      ...(inputFrom && { inputFrom }),
      ...(wordsFrom && { wordsFrom }),
      ...(isCaptured && { isCaptured }),
    })
  }
}

const EXIT_TELLS_NOTHING: ExitTells = { success: false, failure: false }

/**
 * What the exit code of a list tells of each of its items. `a && b` ends with 0 only if both went well, and with anything else if one of them did
 * not: which, only the last of them tells, and only if what stands before it cannot fail but by mistake. Behind `;`, `|`, `||` and `&` the code
 * is another command's.
 */
function exitTells(items: readonly Item[], outside: ExitTells): readonly ExitTells[] {
  const last = items.length - 1
  let chainStart = last
  while (chainStart > 0 && isJoined(items[chainStart], "and") && items[chainStart]!.kind !== "open") chainStart--
  const isLastSure = outside.failure && items.slice(chainStart, last).every(isMereSetUp)
  return items.map((_, at) => {
    if (at < chainStart) return EXIT_TELLS_NOTHING
    return { success: outside.success, failure: isLastSure && at === last }
  })
}

const SET_UP = new Set(["cd", "export", "set", "source", ".", "pushd", "true", ":", "mkdir", "echo", "sleep"])
const isMereSetUp = (item: Item): boolean => {
  const [word] = item.kind === "command" ? item.words : []
  const [part] = word?.parts ?? []
  return item.kind === "command" && (word === undefined || (part?.kind === "text" && SET_UP.has(part.text)))
}

interface Block {
  readonly scope: Scope
  readonly kind: "group" | "condition" | "loop" | "function"
  readonly pipeStart: number
  readonly inputFrom: CommandSpan | undefined
}

const isJoined = (item: Item | undefined, joint: Joint): boolean =>
  item !== undefined && "joint" in item && item.joint === joint

function programOf(word: Word | undefined): string | undefined {
  if (word === undefined) return ""
  if (!word.isKnown || (word.hasGlob && word.text !== "[" && word.text !== "[[")) return undefined
  return word.text.slice(word.text.lastIndexOf("/") + 1)
}

function move(folders: readonly string[] | undefined, target: Word): readonly string[] | undefined {
  if (!target.isKnown || target.hasGlob) return undefined
  if (target.text.startsWith("/") || target.text.startsWith("~")) return [target.text]
  return folders === undefined ? undefined : joinPaths(folders, target.text)
}

function assign(scope: Scope, name: string, value: Word, isConditional: boolean): void {
  const values = value.isKnown ? [value.text] : undefined
  const before = scope.valuesOf(name)
  if (!isConditional) scope.set(name, values)
  else scope.set(name, values === undefined || before === undefined ? undefined : [...new Set([...before, ...values])])
}

/** The text a here-document or a here-string puts on the input. */
function inputOf(redirections: readonly Redirection[]): Input {
  let input: Input
  for (const { operator, target, body } of redirections) {
    if (operator === "<<" || operator === "<<-") input = body ?? unknownWord("")
    else if (operator === "<<<") input = target
    else if (operator === "<" || operator === "<>" || operator === "<&") input = unknownWord("")
  }
  return input
}
