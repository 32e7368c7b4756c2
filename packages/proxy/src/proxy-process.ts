import { closeSync, readFileSync } from "node:fs"
import { rootCertificates } from "node:tls"
import { given, OrangeboxError } from "@orangebox/contract"
import { type Classify, Recorder, type RecorderOptions, type Run, type WrittenOutput } from "@orangebox/recorder"
import { CommandFailed, endRunOf } from "./command-process.js"
import { passOn } from "./piped-stdout.js"
import { type RecordingProxy, startProxy } from "./proxy.js"
import { type FromProxy, type ProxyTask, STDOUT_HEIR, type ToProxy } from "./proxy-messages.js"
import { differsFromCommit } from "./workspace/git.js"
import { RecordedWorkspace } from "./workspace/record-workspace.js"

/**
 * The process behind `orangebox run`: it records, so that neither a crash of the recording ends the command nor the end of the terminal's
 * process the recording. Its supervisor starts another one on the same port when this one dies.
 */
const send = (message: FromProxy): void => {
  if (process.connected) process.send?.(message)
}

let running: Running | undefined
let commandPid: number | undefined

process.on("message", (message: ToProxy) => {
  if (message.kind === "start") void start(message.task)
  else if (message.kind === "command_started") commandPid = message.pid
  else if (message.kind === "stdout_gone") leaveStdout()
  else void finish((run) => endRunOf(run, { ...message, stdout: unpacked(message.stdout) }))
})
// The terminal's signals are for the command. This process leaves when it is told to, or when no client is left to serve.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => {})
process.on("disconnect", outliveSupervisor)

const unpacked = (stdout: Extract<ToProxy, { kind: "command_ended" }>["stdout"]): WrittenOutput | undefined =>
  stdout === null
    ? undefined
    : { ...stdout, bytes: stdout.base64 === null ? undefined : Buffer.from(stdout.base64, "base64") }

let isHeirOfStdout = false

function leaveStdout(): void {
  if (!isHeirOfStdout) return
  isHeirOfStdout = false
  for (const fd of Object.values(STDOUT_HEIR)) closeSync(fd)
}

interface Running {
  readonly proxy: RecordingProxy
  readonly recorder: Recorder
  readonly run: Run
  readonly workspace: RecordedWorkspace | undefined
}

async function start(task: ProxyTask): Promise<void> {
  isHeirOfStdout = task.inheritsStdout
  try {
    const recorder = Recorder.open({
      app: task.app,
      cwd: task.cwd,
      ...given({ folder: task.folder, profile: task.profile, capture: task.capture, allowFull: task.allowFull }),
      ...(await classifierOf(task)),
      onWarning: (warning) => send({ kind: "warning", message: warning.message }),
    })
    const { entrypoint, input, parent } = task.run
    const isDirty = await differsFromCommit(task.cwd)
    const run = recorder.startRun({ entrypoint, input, ...given({ parent, isDirty }) })
    const workspace = task.workspace && recorder.isRecording ? await RecordedWorkspace.open(run, task.cwd) : undefined
    const proxy = await startProxy({
      recorder,
      run,
      upstreams: task.upstreams,
      versioned: task.versioned,
      port: task.port,
      token: task.token,
      limits: task.limits,
      ...(workspace ? { workspace } : {}),
      ...(task.caFile === undefined ? {} : { tls: { ca: [...rootCertificates, readFileSync(task.caFile, "utf8")] } }),
      onStats: (stats) => send({ kind: "stats", stats, lost: recorder.counts().dropped }),
      onWarning: (warning) => send({ kind: "warning", message: warning.message }),
    })
    running = { proxy, recorder, run, workspace }
    send({ kind: "listening", port: proxy.port, run: run.handoff(), isRecording: recorder.isRecording })
  } catch (error) {
    const { code, what, next } =
      error instanceof OrangeboxError ? error : { code: "PROXY", what: String(error), next: undefined }
    send({ kind: "failed", code, what, next })
    process.disconnect()
  }
}

async function classifierOf({ classifier, cwd, folder }: ProxyTask): Promise<Pick<RecorderOptions, "classify">> {
  if (classifier === undefined || folder === undefined) return {}
  const { classifyIn } = (await import(classifier)) as { classifyIn(cwd: string, dataFolder: string): Classify }
  return { classify: classifyIn(cwd, folder) }
}

async function finish(end: (run: Run) => void): Promise<void> {
  if (running) {
    const { proxy, recorder, run, workspace } = running
    await proxy.close()
    await workspace?.finish()
    end(run)
    recorder.close()
    send({ kind: "stats", stats: proxy.stats(), lost: recorder.counts().dropped })
  }
  send({ kind: "finished" })
  process.exit(0)
}

// The supervisor was killed, but its command may live on and still needs its way to the model.
function outliveSupervisor(): void {
  if (isHeirOfStdout) passOn(STDOUT_HEIR.from, STDOUT_HEIR.to)
  leaveStdout()
  const isAlive = (): boolean => {
    try {
      return commandPid !== undefined && process.kill(commandPid, 0)
    } catch {
      return false
    }
  }
  const watch = (): void => {
    if (isAlive()) setTimeout(watch, 1000)
    else void finish((run) => run.fail(new CommandFailed("how it ended is not known: orangebox run was killed")))
  }
  watch()
}
