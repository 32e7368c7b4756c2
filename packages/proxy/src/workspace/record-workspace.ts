import type { LogAttributes, Run, Step } from "@orangebox/recorder"
import type { WorkspaceSnapshot } from "@orangebox/replay"
import { FILE_ARTIFACT } from "@orangebox/replay"
import { isSameTree, lookAgain, lookAtWorkspace, type WorkspaceView } from "./look-at-workspace.js"
import { changedPaths, workspaceDiff } from "./workspace-diff.js"

/** A model call that has just been asked: what its agent did before is done, and it waits. */
export interface AskedCall {
  readonly stepId: string
  /** Where in the run it stands. */
  readonly place: Step
  /** False once its answer has gone back: from then on the agent may be at work again. */
  isWaiting(): boolean
}

/** Follows what traffic says about an agent's work. */
export interface WorkspaceWatch {
  toolStarted(stepId: string): void
  toolEnded(stepId: string): void
  asked(call: AskedCall): void
}

/** A look that takes longer costs the machine more than it tells. */
const SLOW_MS = 1_000

/**
 * Records what a command changes in its git work tree: a snapshot before it, one after it, and one at every model call at which the tree is
 * not what it was; between two of them a diff for each file that changed. What is not under git, or ignored by it, is not looked at.
 *
 * A call is never held up: the look begins when the request has left, and what it finds counts only while the agent still waits for the
 * answer. Whatever goes wrong here costs the recording of changes and nothing else.
 */
export class RecordedWorkspace implements WorkspaceWatch {
  readonly #run: Run
  readonly #first: WorkspaceView
  #last: WorkspaceView
  /** Files that changed since the run began. */
  readonly #changed = new Set<string>()
  #snapshotId = ""
  #snapshots = 0
  #diffs = 0
  /** Digest → the artifact that holds the bytes: what this run has recorded before is not recorded again. */
  readonly #contents = new Map<string, string>()
  /** The tools that may have changed what the next look finds; true while they run. */
  readonly #tools = new Map<string, boolean>()
  #looking: Promise<void> | undefined
  /** The calls that wait for a look. */
  #asked: AskedCall[] = []
  #stoppedBecause: string | undefined

  readonly #seenRoot: string

  private constructor(run: Run, first: WorkspaceView, seenRoot: string) {
    this.#run = run
    this.#seenRoot = seenRoot
    this.#first = first
    this.#last = first
  }

  /**
   * Undefined where there is no work tree.
   * @param seenRoot the top of the tree as the command sees it, where that is not where it is
   */
  static async open(run: Run, folder: string, seenRoot?: string): Promise<RecordedWorkspace | undefined> {
    const looked = await lookAtWorkspace(folder).catch((error: unknown) => ({ ok: false as const, why: String(error) }))
    if (looked?.ok === false) run.log.warn("the work tree is not looked at", { why: looked.why })
    if (!looked?.ok) return undefined
    const workspace = new RecordedWorkspace(run, looked.view, seenRoot ?? looked.view.root)
    const { files } = looked.view
    // Contents would fill the page that the run is read on; in a step they are folded away together.
    const step =
      files.size === 0 ? undefined : run.child(differWords(files.size), undefined, { kind: "workspace", follows: [] })
    await workspace.#recordSnapshot(step ?? run, "workspace/before", looked.view, null)
    workspace.#sayLeftOut(step ?? run, looked.view)
    step?.end()
    return workspace
  }

  toolStarted(stepId: string): void {
    this.#tools.set(stepId, true)
  }

  toolEnded(stepId: string): void {
    if (this.#tools.has(stepId)) this.#tools.set(stepId, false)
  }

  asked(call: AskedCall): void {
    if (this.#stoppedBecause !== undefined) return
    this.#asked.push(call)
    if (!this.#looking) this.#startLooking()
  }

  #startLooking(): void {
    // After this turn of the loop the request is on its way; starting a process takes milliseconds that it must not wait for.
    this.#looking = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#lookAt(this.#asked.splice(0)))
      .catch((error: unknown) => this.#stop(String(error)))
      .finally(() => {
        this.#looking = undefined
        if (this.#asked.length > 0) this.#startLooking()
      })
  }

  /** Resolves when nothing is being looked at. */
  async settled(): Promise<void> {
    while (this.#looking) await this.#looking
  }

  /** Looks for the last time. */
  async finish(): Promise<void> {
    await this.settled()
    const follows = this.#toolsTold()
    const looked = await lookAgain(this.#last).catch((error: unknown) => ({ ok: false as const, why: String(error) }))
    if (looked.ok && isSameTree(this.#last, looked.view)) this.#sayUnchanged(this.#run, {})
    else if (looked.ok) await this.#recordChanges(this.#run, "workspace/after", looked.view, { atStep: null, follows })
    else this.#run.child("not looked at", {}, { kind: "workspace", follows }).end({ err: new Error(looked.why) })
  }

  /** Requests that come during a look share the look after it. */
  async #lookAt(calls: readonly AskedCall[]): Promise<void> {
    const asked = calls.filter((call) => call.isWaiting())
    if (asked.length === 0) return
    const follows = this.#toolsTold()
    const over = [...this.#tools].flatMap(([stepId, isRunning]) => (isRunning ? [] : [stepId]))
    const startedAt = performance.now()
    const looked = await lookAgain(this.#last, SLOW_MS)
    const tookMs = performance.now() - startedAt
    if (!looked.ok) return this.#stop(tookMs >= SLOW_MS ? slowWords(tookMs) : looked.why)
    if (tookMs >= SLOW_MS) this.#stop(slowWords(tookMs))
    // The agent may have gone on while git was reading: what was seen belongs to no one moment, and the next look sees it too.
    const [call, ...others] = asked.filter((one) => one.isWaiting())
    if (call === undefined) return
    const { view } = looked
    for (const stepId of over) this.#tools.delete(stepId)
    const look_ms = Math.round(tookMs)
    if (isSameTree(this.#last, view)) {
      this.#last = view
      this.#sayUnchanged(call.place, { at_step: call.stepId, look_ms })
    } else {
      const attributes = { at_step: call.stepId, look_ms }
      const id = `workspace/${++this.#snapshots}`
      await this.#recordChanges(call.place, id, view, { atStep: call.stepId, follows, attributes })
    }
    for (const { stepId } of others) this.#sayUnchanged(this.#run, { at_step: stepId })
  }

  /** Not through the logger: a fork reads the files of a call by this line, and a log level must not take it away. */
  #sayUnchanged(place: Step, attributes: LogAttributes): void {
    const message = "the work tree is as it was"
    place.emit("log", { level: "debug", message }, { attributes: { ...attributes, workspace: this.#snapshotId } })
  }

  async #recordChanges(place: Step, id: string, view: WorkspaceView, found: FoundChanges): Promise<void> {
    const { atStep, follows, attributes } = found
    const before = this.#last
    this.#last = view
    const step = place.child(changeWords(before, view), attributes, { kind: "workspace", follows })
    try {
      await this.#recordSnapshot(step, id, view, atStep)
      await this.#recordDiffs(step, before, view)
      step.end()
    } catch (err) {
      step.end({ err })
    }
  }

  #toolsTold(): { readonly id: string }[] {
    return [...this.#tools.keys()].map((id) => ({ id }))
  }

  async #recordSnapshot(step: Step, id: string, view: WorkspaceView, atStep: string | null): Promise<void> {
    for (const [path, { kind, hash, bytes }] of view.files) {
      if (bytes === null || this.#contents.has(hash)) continue
      const content = `${FILE_ARTIFACT}${this.#contents.size + 1}`
      this.#contents.set(hash, content)
      step.artifact({ id: content, type: "other", summary: `${kind} ${path}`, content: bytes, ...pathOf(path) })
      // Each is searched for secrets; the proxy shares this thread and has answers to pass on.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { head, files } = view
    const when = atStep === null ? ` ${id.slice("workspace/".length)} the command` : ""
    this.#snapshotId = id
    step.artifact({
      id,
      type: "workspace_snapshot",
      summary: `${differWords(files.size)} from ${view.base?.slice(0, 12) ?? "nothing committed"}${when}${head === view.base ? "" : `, ${head?.slice(0, 12)} is checked out`}`,
      content: snapshotOf({ ...view, root: this.#seenRoot }, atStep, (hash) => this.#contents.get(hash)),
    })
  }

  async #recordDiffs(step: Step, before: WorkspaceView, after: WorkspaceView): Promise<void> {
    const { files, leftOut } = await workspaceDiff(before, after)
    // Of a file that changed before, only the whole of its changes tells how many lines are others now.
    const again = files.filter(({ path }) => this.#changed.has(path)).map(({ path }) => path)
    const whole = again.length === 0 ? [] : (await workspaceDiff(this.#first, after, again)).files
    for (const file of files) {
      const net = this.#changed.has(file.path) ? (whole.find(({ path }) => path === file.path) ?? UNCHANGED) : undefined
      this.#changed.add(file.path)
      step.artifact({
        // Where no text is kept, the number of the file is all that tells two files apart.
        id: `workspace/diff/${++this.#diffs}/of/${[...this.#changed].indexOf(file.path) + 1}`,
        type: "diff",
        summary: `${file.kind} ${file.path}`,
        content: file.diff,
        ...pathOf(file.path),
        ...(file.linesAdded === null ? {} : { linesAdded: file.linesAdded }),
        ...(file.linesRemoved === null ? {} : { linesRemoved: file.linesRemoved }),
        ...(typeof net?.linesAdded === "number" && { netLinesAdded: net.linesAdded }),
        ...(typeof net?.linesRemoved === "number" && { netLinesRemoved: net.linesRemoved }),
      })
    }
    if (leftOut > 0) step.log.warn("some files that changed were not compared: they are too many", { files: leftOut })
    const known = before.leftOut
    if ([...after.leftOut.keys()].some((path) => !known.has(path))) this.#sayLeftOut(step, after)
  }

  #sayLeftOut(step: Step, { leftOut }: WorkspaceView): void {
    const [first] = leftOut
    if (first === undefined) return
    step.log.warn("some files that differ from the commit were not read", {
      files: leftOut.size,
      first: first[0],
      why: first[1],
    })
  }

  #stop(why: string): void {
    this.#stoppedBecause ??= why
    this.#asked = []
    this.#run.log.warn("the work tree is not looked at again until the end", { why })
  }
}

/** A file that is what it was at the start. */
const UNCHANGED = { linesAdded: 0, linesRemoved: 0 } as const

interface FoundChanges {
  readonly atStep: string | null
  /** The tools that ran since the look before. */
  readonly follows: readonly { readonly id: string }[]
  readonly attributes?: LogAttributes
}

function changeWords(before: WorkspaceView, after: WorkspaceView): string {
  const changed = changedPaths(before, after).length
  if (changed > 0) return changed === 1 ? "1 file changed" : `${changed} files changed`
  return before.head === after.head && before.branch === after.branch ? "other files left out" : "HEAD moved"
}

const differWords = (count: number): string => (count === 1 ? "1 file differs" : `${count} files differ`)
const slowWords = (tookMs: number): string => `a look took ${Math.round(tookMs)} ms`

/** Names that look like those of a drive stay in the summary alone: a recorded path is relative for every reader. */
const pathOf = (path: string): { readonly path?: string } =>
  path.length > 4096 || /^[A-Za-z]:[\\/]/.test(path) ? {} : { path }

const MOST_NAMED = 100

function snapshotOf(
  view: WorkspaceView,
  atStep: string | null,
  contentOf: (hash: string) => string | undefined,
): WorkspaceSnapshot {
  const { root, folder, base, head, branch } = view
  const leftOut = [...view.leftOut].map(([path, why]) => ({ path, why }))
  return {
    version: 1,
    root,
    folder,
    base,
    head,
    branch,
    at_step: atStep,
    files: [...view.files].map(([path, { kind, hash, bytes }]) => ({
      path,
      kind,
      hash,
      byte_size: bytes?.length ?? null,
      content: contentOf(hash) ?? null,
    })),
    left_out: leftOut.slice(0, MOST_NAMED),
    left_out_more: Math.max(0, leftOut.length - MOST_NAMED),
  }
}
