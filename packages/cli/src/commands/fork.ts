import { basename } from "node:path"
import { advice, given, InputError, suggested } from "@orangebox/contract"
import { replayCommand } from "@orangebox/proxy"
import { effectsHere, outcomeOf, type ReplaySource } from "@orangebox/reader"
import { EMPTY_PROFILE, type Fork, type ForkRequest, type PostMode, type PostPolicy, planFork } from "@orangebox/replay"
import { safeJson } from "@orangebox/text"
import { type Command, InvalidArgumentError } from "commander"
import { EXIT } from "../exit-code.js"
import { collected, parsePositive } from "../option-values.js"
import { withReader } from "../reading.js"
import { againstTape } from "../replaying/against-tape.js"
import {
  type ForkedWorkspace,
  forkedWorkspace,
  ignoredLeft,
  type WorkspaceOptions,
} from "../replaying/command-workspace.js"
import { type ProfileOptions, profileOf } from "../replaying/fork-profile.js"
import {
  forkJson,
  forkOfForkText,
  isSound,
  planText,
  type Sample,
  sampleText,
  verdictOf,
  verdictText,
} from "../replaying/format-fork.js"
import { readMasks } from "../replaying/masks.js"
import { checkCommand, loadTape, NOT_A_SANDBOX } from "../replaying/preflight.js"
import { reissue } from "../replaying/reissue.js"
import { type VariableOptions, withVariableOption } from "../running/base-url-variables.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface ForkOptions extends ProfileOptions, VariableOptions, WorkspaceOptions {
  readonly at?: string
  readonly after?: boolean
  readonly post?: Partial<PostPolicy>
  readonly allowEffects: readonly string[]
  readonly chain?: boolean
  readonly samples?: number
  readonly control?: boolean
  readonly masks?: string
}

export function define(command: Command, session: Session): void {
  withVariableOption(command)
    .description("Run a recorded run again up to one step, and on from there with something changed.")
    .argument("<run>", "a run, a step of it (last#4), or an exported file")
    .argument("[command...]", "the agent to start again, after --; without one only the forked call is sent again")
    .option("--at <step>", "the step to fork at: '#4' as orangebox show numbers it, or its id")
    .option("--after", "fork after the step's recorded answer; default: before its request")
    .option(
      "--set <name=value>",
      "the model, or a parameter of the requests from there on; may be repeated",
      collected,
      [] as readonly string[],
    )
    .option("--profile <file>", "what changes, as an override profile (JSON)")
    .option("--masks <file>", "with a command: masks that somebody accepted, as replay --accept writes them")
    .option(
      "--post <kind=mode,…>",
      "what answers behind the fork: exact, cached, live, deny; default: model=live",
      postOf,
    )
    .option(
      "--allow-effects <tools>",
      "tools with effects that may run again, with commas; '*' is all of them",
      (text: string, all: readonly string[]) => [...all, ...text.split(",").filter((tool) => tool !== "")],
      [] as readonly string[],
    )
    .option("--chain", "without a command: send every later call too, each with its recorded history and tool results")
    .option("--samples <n>", "so many times; models do not answer twice alike; default: 1", parsePositive)
    .option("--control", "also run it unchanged as often, and say whether the change made a difference")
    .option("--no-workspace", "start the command here, and not in a copy of the recorded work tree")
    .option("--keep-workspace", "keep the copy, to look at it")
    .option("--copy-ignored", "with what git ignores in it, as it is now: dependencies, build results")
    .addHelpText(
      "after",
      prose(
        session,
        `What came before the step is answered from the recording, as are branches beside it; what builds on the step is asked anew from the servers that the environment names (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, …), with the keys of today.\nWhere orangebox run recorded a git work tree, the command runs in a copy of it in the folder for temporary files: it starts with the files of then, and at the forked call they are made what they were at that call. Your own tree and repository are not written to; where the system can do it the command sees the copy at the path of your tree, so that full paths lead into it. The copy is removed afterwards, and what changed in it is in the new run. Otherwise it is forked without workspace: files are as they are now. ${NOT_A_SANDBOX}\nWithout a command the one call is sent with ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY where its key was masked.\nExits with 0 when the fork was reached, every call was answered and the command exited with 0, 1 when not, 2 when nothing could start.`,
      ),
    )
  bindShell<ForkOptions>(command, session, fork, [
    ["orangebox fork last --at '#4' --set model=claude-haiku-4-5", "what would this model have said?"],
    ["orangebox fork last --at '#2' --set model=claude-haiku-4-5 --chain", "and at every step after that?"],
    ["orangebox fork last --at '#4' --set temperature=0 -- node agent.mjs", "and how would it have ended?"],
    ["orangebox fork last#4 --profile calmer.json --samples 5 --control -- npm run eval", "is it the change?"],
  ])
}

async function fork(
  session: Session,
  options: ForkOptions & GlobalOptions,
  address = "",
  ...command: string[]
): Promise<number> {
  const { terminal } = session
  if (options.chain && command.length > 0) {
    throw wrongUsage("--chain sends recorded calls again, and the command would make its own", "Leave one of them away")
  }
  if (options.masks !== undefined && command.length === 0) {
    throw wrongUsage(
      "--masks is about the questions of a command, and there is none",
      "Put it behind --, or leave it away",
    )
  }
  const profile = profileOf(options)
  const source = await loadTape(session, options, address)
  const request: ForkRequest = {
    stepId: stepOf(source, options.at),
    effects: effectsHere(),
    allowEffects: options.allowEffects,
    ...(options.after ? { at: "after_response" } : {}),
    ...(options.post === undefined ? {} : { post: options.post }),
  }
  const drafted = planned(source, { ...request, profile })
  if (command.length > 0) {
    await checkCommand(session, source, {
      isAllowed: (tool) => options.allowEffects.includes(tool) || options.allowEffects.includes("*"),
      optionsFor: async (gaps) => {
        // Dependencies that git ignores are not in the copy, and what the agent imports of them would be the next thing to fail.
        const left = options.copyIgnored ? [] : await ignoredLeft(options, source, drafted)
        const tools = [...new Set(gaps.map(({ tool }) => tool)), ...options.allowEffects]
        const copied = left.length > 0 ? ["--copy-ignored"] : []
        return { flags: [`--allow-effects ${tools.join(",")}`, ...copied], replaced: ["--allow-effects"] }
      },
    })
  }
  terminal.say(planText(source, drafted))
  const ofFork = forkOfForkText(source, drafted)
  if (ofFork !== undefined) terminal.say(ofFork)
  const workspace = command.length > 0 ? await forkedWorkspace(session, options, source, drafted) : undefined
  const whole: ForkRequest = workspace ? { ...request, workspace: workspace.told } : request
  const changed = planned(source, { ...whole, profile })
  const arms: [Sample["arm"], Fork][] = [["changed", changed]]
  if (options.control) arms.push(["control", planned(source, { ...whole, profile: EMPTY_PROFILE })])
  const run = runnerOf(session, options, source, workspace, command)
  const samples: Sample[] = []
  for (let round = 0; round < (options.samples ?? 1); round++) {
    for (const [arm, plan] of arms) {
      const sample = { arm, ...(await run(plan, arm)) }
      samples.push(sample)
      if (!options.json) terminal.sayPainted(sampleText(sample, source, options))
    }
  }
  const verdict = verdictOf(samples)
  if (options.json) tellJson(session, command, safeJson(forkJson({ source, fork: changed, workspace, samples }), 2))
  else if (verdict) terminal.sayPainted(verdictText(verdict))
  return samples.every(isSound) ? EXIT.fine : EXIT.findings
}

/** With a command stdout belongs to it. */
function tellJson({ terminal }: Session, command: readonly string[], text: string): void {
  if (command.length > 0) terminal.sayPainted(text)
  else terminal.out(text)
}

type Runner = (fork: Fork, arm: Sample["arm"]) => Promise<Omit<Sample, "arm">>

function runnerOf(
  session: Session,
  options: ForkOptions & GlobalOptions,
  source: ReplaySource,
  workspace: ForkedWorkspace | undefined,
  [program, ...args]: readonly string[],
): Runner {
  const { run } = source
  const shared = againstTape(session, options, source)
  const reasonOf = (arm: Sample["arm"]) => (arm === "control" ? ("control" as const) : ("what_if" as const))
  if (program === undefined) {
    return (fork, arm) =>
      reissue({
        ...{ ...shared, session, source, fork, reason: reasonOf(arm), env: process.env },
        isChain: options.chain ?? false,
      })
  }
  const name = basename(program)
  const masks = options.masks === undefined ? [] : readMasks(options.masks).masks
  const word = workspace?.word ?? ((text: string) => text)
  return async (fork, arm) => {
    const copy = await workspace?.open?.()
    let kept: string | null = null
    try {
      const { runId, exitCode, signal, certification, isForkReached } = await replayCommand({
        ...shared,
        ...(copy ? { copy: copy.copy, workspace: true, ...given({ atFork: copy.atFork }) } : {}),
        command: [word(program), ...args.map(word)],
        input: [program, ...args].join(" "),
        fork,
        policy: { reason: reasonOf(arm), masks, moved: copy?.moved ?? null },
        app: run.view.app ?? name,
        onHint: shared.onWarning,
      })
      kept = copy?.close() ?? null
      const outcome = signal ?? `exit ${exitCode}`
      const found = await withReader(session, { data: shared.folder }, (reader) => outcomeOf(reader, runId, outcome))
      const ended = { name, exitCode, signal }
      const { report } = certification
      return { runId, command: ended, outcome, ...found, isReached: isForkReached, report, workspace: kept }
    } catch (error) {
      copy?.close()
      throw error
    }
  }
}

function planned(source: ReplaySource, request: ForkRequest): Fork {
  const plan = planFork(source.tape, request)
  if (plan.ok) return plan.fork
  const [first, ...others] = plan.problems
  throw new InputError(first!.code, {
    what: [first!, ...others].map(({ ruleId, reason }) => `rule "${ruleId}": ${reason}`).join("; "),
    where: source.run.row.runId,
    next: advice`Nothing has run. Correct the rules; the steps behind the fork are in: ${suggested("show", source.run.row.runId)}`,
  })
}

function stepOf({ run, stepId, tape }: ReplaySource, at: string | undefined): string {
  if (at === undefined) {
    if (stepId !== undefined) return stepId
    throw wrongUsage("there is no step to fork at", "Name one: --at '#4'")
  }
  const [, digits] = /^#?(\d{1,9})$/.exec(at.trim()) ?? []
  const { steps } = run.view
  const step =
    digits === undefined ? steps.find(({ id }) => id === at.trim()) : steps.find(({ n }) => n === Number(digits))
  if (step?.id !== undefined) return step.id
  // Steps of the runs that this one started have no number here.
  if (tape.steps.has(at.trim())) return at.trim()
  throw new InputError("STEP_NUMBER", {
    what: `there is no step ${at}, this run has ${steps.length}`,
    where: run.row.runId,
    next: advice`See its steps with: ${suggested("show", run.row.runId)}`,
  })
}

const KINDS = ["model", "tool", "retriever", "http"] as const
const MODES: readonly PostMode[] = ["exact", "cached", "live", "deny"]

function postOf(text: string): Partial<PostPolicy> {
  const post: Partial<Record<keyof PostPolicy, PostMode>> = {}
  for (const pair of text.split(",")) {
    const [name, word] = pair.split("=").map((part) => part.trim())
    const kind = KINDS.find((candidate) => candidate === name)
    const mode = MODES.find((candidate) => candidate === word)
    if (!kind || !mode) {
      throw new InvalidArgumentError(`It must be kind=mode of ${KINDS.join(", ")} and ${MODES.join(", ")}.`)
    }
    post[kind] = mode
  }
  return post
}
