import { basename } from "node:path"
import { advice, given, suggested } from "@orangebox/contract"
import { replayCommand } from "@orangebox/proxy"
import type { ReplaySource } from "@orangebox/reader"
import {
  type Certification,
  type Chunking,
  firstTree,
  parseChunking,
  parseTiming,
  type ReplayPolicy,
  replayByEngine,
  type Timing,
} from "@orangebox/replay"
import { type Painter, plain, safeJson } from "@orangebox/text"
import { type Command, InvalidArgumentError, Option } from "commander"
import { EXIT } from "../exit-code.js"
import { refuseToOverwrite, writeNewFile } from "../new-file.js"
import { againstTape } from "../replaying/against-tape.js"
import { calibrate } from "../replaying/calibrate.js"
import { replayedWorkspace, type WorkspaceOptions } from "../replaying/command-workspace.js"
import { type ReplayResult, replayJson, replayText } from "../replaying/format-replay.js"
import { readMasks } from "../replaying/masks.js"
import { checkCommand, loadTape, NOT_A_SANDBOX } from "../replaying/preflight.js"
import { type VariableOptions, withVariableOption } from "../running/base-url-variables.js"
import { bindShell, type GlobalOptions, prose, type Session, wrongUsage } from "../session.js"

interface ReplayOptions extends VariableOptions, WorkspaceOptions {
  readonly mode?: ReplayPolicy["mode"]
  readonly onDrift?: ReplayPolicy["onDrift"]
  readonly onMiss?: ReplayPolicy["onMiss"]
  readonly chunking?: Chunking
  readonly timing?: Timing
  readonly masks?: string
  readonly allowToolExec?: boolean
  readonly certificate?: string
  readonly force?: boolean
  readonly calibrate?: string
  readonly accept?: string
}

export function define(command: Command, session: Session): void {
  withVariableOption(command)
    .description("Run a recorded run again, offline, and say what that proves.")
    .argument("<run>", "a run, or an exported file")
    .argument(
      "[command...]",
      "the agent to start again, after --; without one every recorded call is checked by itself",
    )
    .addOption(
      new Option("--mode <mode>", "exact: the call recorded in this place; cached: any with the same question").choices(
        ["exact", "cached"],
      ),
    )
    .addOption(
      new Option("--on-drift <what>", "a request that differs only in what tools gave back; default: serve").choices([
        "serve",
        "halt",
        "fork",
      ]),
    )
    .addOption(
      new Option("--on-miss <what>", "a request that matches nothing; default: halt").choices([
        "halt",
        "live",
        "nearest",
      ]),
    )
    .option("--chunking <how>", "how streams are cut: event, recorded, single, fuzz:SEED; default: event", chunkingOf)
    .option("--timing <how>", "when pieces leave: none, recorded, ttft, scale:N, fixed:MS; default: none", timingOf)
    .option("--masks <file>", "masks that somebody accepted, as --accept writes them")
    .option("--allow-tool-exec", "start the command though it runs tools again that nothing can answer for")
    .option("--workspace", "start the command in a copy of the recorded work tree, with the files its run began with")
    .option("--keep-workspace", "with --workspace: keep the copy, to look at it")
    .option("--copy-ignored", "with --workspace: with what git ignores in it, as it is now")
    .option("--certificate <file>", "write the certificate here, when there is one")
    .option("--force", "with --certificate: overwrite a file that is there")
    .option("--calibrate <run>", "compare with a second run of the unchanged agent and propose masks")
    .option("--accept <file>", "with --calibrate: accept what is proposed into this file of masks")
    .addHelpText(
      "after",
      prose(
        session,
        `Without a command nothing runs: every stored call is asked again as it was recorded, and has to find itself and its bytes.\nWith one the agent is started again and its model calls are answered from the recording; what happens is recorded as a run of its own, and the source stays as it is. ${NOT_A_SANDBOX}\nWith --workspace it does that in a copy of the work tree that orangebox run recorded; your own tree is not written to.\nThe report goes to stdout; with a command to stderr, because stdout belongs to the command.\nExits with 0 when a certificate is issued (in mode cached, which has none: when every call was answered), 1 when not, 2 when nothing could start. The command's own exit code is in the report.`,
      ),
    )
  bindShell<ReplayOptions>(command, session, replay, [
    ["orangebox replay last", "is the recording whole?"],
    ["orangebox replay last -- node agent.mjs", "the same agent, offline, with the answers it got"],
    ["orangebox replay last --workspace --allow-tool-exec -- node agent.mjs", "its tools, too, on the files of then"],
    ["orangebox replay last --certificate proof.json -- node agent.mjs", "and keep the proof"],
    ["orangebox replay last --on-miss nearest -- node agent.mjs", "explore: made-up answers where it differs"],
    ["orangebox replay last~1 --calibrate last --accept masks.json", "what may differ from run to run"],
  ])
}

async function replay(
  session: Session,
  options: ReplayOptions & GlobalOptions,
  address = "",
  ...command: string[]
): Promise<number> {
  checkOptions(options, command)
  if (options.calibrate !== undefined) return calibrate(session, options, address, options.calibrate)
  if (options.certificate !== undefined) refuseToOverwrite(options.certificate, options.force ?? false)
  const source = await loadTape(session, options, address)
  const [program, ...args] = command
  const result =
    program === undefined ? byEngine(source) : await byCommand(session, options, source, [program, ...args])
  tell(session, options, result)
  keepCertificate(session, options, result.certification)
  return isFine(result.certification, options.mode) ? EXIT.fine : EXIT.findings
}

function byEngine(source: ReplaySource): ReplayResult {
  const { certification } = replayByEngine(source.tape, source.recording)
  return { source, certification, replayed: undefined }
}

async function byCommand(
  session: Session,
  options: ReplayOptions & GlobalOptions,
  source: ReplaySource,
  command: readonly [string, ...string[]],
): Promise<ReplayResult> {
  const { run } = source
  const say = (message: string): void => session.terminal.say(`orangebox: ${message}`)
  const toolsExecuted = await checkCommand(session, source, {
    isAllowed: () => options.allowToolExec ?? false,
    optionsFor: () => ({ flags: ["--allow-tool-exec"] }),
  })
  const name = basename(command[0])
  const workspace = options.workspace ? await replayedWorkspace(session, options, source) : undefined
  const [program, ...args] = workspace ? command.map((word) => workspace.word(word)) : command
  const { runId, exitCode, signal, certification } = await replayCommand({
    ...againstTape(session, options, source),
    command: [program!, ...args],
    input: command.join(" "),
    ...(workspace ? { copy: workspace.copy } : {}),
    // Between the calls of an agent that runs no tools nothing is to be seen, and looking there would cost every call.
    workspace: toolsExecuted > 0 || (wasLookedAt(source) && "ends"),
    policy: { ...policyOf(options), moved: workspace?.moved ?? null },
    app: run.view.app ?? name,
    onHint: say,
  }).finally(() => {
    const kept = workspace?.close()
    if (kept) say(`the copy of the work tree is in ${kept}`)
  })
  return {
    source,
    certification,
    replayed: { runId, command: { name, exitCode, signal } },
  }
}

/** Whether the work tree of a run is on record: then what the replay leaves in its own can be held against it. */
const wasLookedAt = ({ recording, tape }: ReplaySource): boolean =>
  firstTree(recording.events, tape.bodies) !== undefined

function policyOf(options: ReplayOptions): Partial<ReplayPolicy> {
  const { mode, onDrift, onMiss, chunking, timing, masks } = options
  return {
    ...given({ mode, onDrift, onMiss, chunking, timing }),
    ...(masks === undefined ? {} : { masks: readMasks(masks).masks }),
  }
}

function tell({ terminal }: Session, options: ReplayOptions & GlobalOptions, result: ReplayResult): void {
  const textFor = (paint: Painter): string =>
    options.json ? safeJson(replayJson(result), 2) : replayText(result, options, paint)
  if (result.replayed) terminal.sayPainted(textFor(terminal.paintTalk))
  else terminal.out(textFor(plain))
}

function keepCertificate({ terminal }: Session, options: ReplayOptions, certification: Certification): void {
  if (options.certificate === undefined) return
  if (!certification.issued) {
    terminal.say(`orangebox: ${options.certificate} is not written, there is no certificate`)
    return
  }
  const text = `${JSON.stringify(certification.certificate, null, 2)}\n`
  writeNewFile(options.certificate, [Buffer.from(text)], options.force ?? false)
}

/** Mode cached makes no claim that could be certified; there every call answered is all that can be asked for. */
function isFine(certification: Certification, mode: ReplayOptions["mode"]): boolean {
  if (certification.issued || mode !== "cached") return certification.issued
  const { counts, divergences } = certification.report
  return counts.asked > 0 && divergences.every(({ severity }) => severity === "note")
}

/** Options that would do nothing are mistakes: what they were meant to do would not happen. */
function checkOptions(options: ReplayOptions, command: readonly string[]): void {
  const ofCommand = [
    ["--mode", options.mode],
    ["--on-drift", options.onDrift],
    ["--on-miss", options.onMiss],
    ["--chunking", options.chunking],
    ["--timing", options.timing],
    ["--masks", options.masks],
    ["--allow-tool-exec", options.allowToolExec],
    ["--workspace", options.workspace],
    ["--variable", options.variable[0]],
  ] as const
  const [given] = ofCommand.find(([, value]) => value !== undefined) ?? []
  if (command.length === 0 && given !== undefined) {
    throw wrongUsage(
      `${given} is about how a command is answered, and there is none`,
      advice`Put it behind --: ${suggested("replay", "last -- node agent.mjs")}`,
    )
  }
  if (options.calibrate === undefined && options.accept !== undefined) {
    throw wrongUsage("--accept takes what --calibrate proposes", "Name a second run with --calibrate")
  }
  if (options.calibrate !== undefined && (command.length > 0 || options.certificate !== undefined)) {
    throw wrongUsage(
      "--calibrate compares two recorded runs and starts nothing",
      "Leave the command and --certificate away",
    )
  }
  if ((options.keepWorkspace || options.copyIgnored) && !options.workspace) {
    throw wrongUsage("--keep-workspace and --copy-ignored are about the copy that --workspace makes", "Add --workspace")
  }
  if (options.force && options.certificate === undefined) {
    throw wrongUsage("--force is about the file of --certificate", "Name one, or leave it away")
  }
}

function chunkingOf(text: string): Chunking {
  const chunking = parseChunking(text)
  if (chunking === undefined) throw new InvalidArgumentError("It must be event, recorded, single or fuzz:SEED.")
  return chunking
}

function timingOf(text: string): Timing {
  const timing = parseTiming(text)
  if (timing === undefined) throw new InvalidArgumentError("It must be none, recorded, ttft, scale:N or fixed:MS.")
  return timing
}
