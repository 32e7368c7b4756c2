import { types } from "node:util"
import { asThrown } from "../described-error.js"
import type { Step, ToolStep } from "../step.js"

type AnyFunction = (...args: unknown[]) => unknown

/**
 * The same tools, each call recorded as a step below the given one. A tool is a function, or an object whose `execute` is one, as frameworks
 * hold them; a function stays a function, an object keeps its other properties, and whatever is no tool stays as it is. What a tool returns or throws, it still returns or throws, a plain value at once and a promise as that promise.
 *
 * ```ts
 * const tools = wrapTools({ readFile: (path: string) => readFile(path, "utf8") }, step)
 * ```
 */
export function wrapTools<T extends object>(tools: T, step: Step): T {
  const wrapped: Record<string, unknown> = {}
  for (const [name, tool] of Object.entries(tools)) {
    wrapped[name] = wrapTool(name, tool, step, (self) => (self === wrapped ? tools : self))
  }
  return wrapped as T
}

/** A method with private state works only on the object it was made for, so `this` is handed back to it. */
type OwnerOf = (self: unknown) => unknown

function wrapTool(name: string, tool: unknown, step: Step, ownerOf: OwnerOf): unknown {
  if (isFunction(tool)) return recordedFunction(name, tool, step, ownerOf)
  if (typeof tool !== "object" || tool === null) return tool
  const { execute } = tool as { execute?: unknown }
  if (!isFunction(execute)) return tool
  const run = recordedFunction(name, execute, step, (self) => (self === copy ? tool : self))
  // All at once: the properties of a frozen tool could not be changed afterwards.
  const copy: unknown = Object.create(Object.getPrototypeOf(tool), {
    ...Object.getOwnPropertyDescriptors(tool),
    execute: { value: run, configurable: true, enumerable: true, writable: true },
  })
  return copy
}

const isFunction = (value: unknown): value is AnyFunction => typeof value === "function"

function recordedFunction(name: string, run: AnyFunction, step: Step, ownerOf: OwnerOf): AnyFunction {
  const recorded = function (this: unknown, ...args: unknown[]): unknown {
    const callId = callIdOf(args)
    const asked = { name, args: argumentsOf(args), ...(callId === undefined ? {} : { callId }) }
    if (step.isReplaying) return step.tool(asked, () => Reflect.apply(run, ownerOf(this), args))
    const call = step.startTool(asked)
    let result: unknown
    try {
      result = Reflect.apply(run, ownerOf(this), args)
    } catch (err) {
      call.endTool({ err: asThrown(err) })
      throw err
    }
    return recordedResult(result, call)
  }
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(run))) {
    if (!FUNCTIONS_OWN.has(key)) Object.defineProperty(recorded, key, descriptor)
  }
  return recorded
}

const FUNCTIONS_OWN = new Set(["prototype", "arguments", "caller"])

/** The result as it was; its end on record when it has come. */
function recordedResult(result: unknown, call: ToolStep): unknown {
  const end = (value: unknown): void => call.endTool({ result: value })
  const fail = (err: unknown): void => call.endTool({ err: asThrown(err) })
  if (types.isPromise(result)) {
    // Watched on the side: callers may know this promise by more than its value.
    result.then(end, fail)
    return result
  }
  if (isThenable(result)) {
    // Some start their work on every `then`, so there is one.
    const settled = Promise.resolve(result)
    settled.then(end, fail)
    return settled
  }
  if (isAsyncGenerator(result)) return recordedGenerator(result, call)
  end(result)
  return result
}

/** A tool that tells of its progress: the last thing it yields is its result. */
async function* recordedGenerator(generator: AsyncGenerator, call: ToolStep): AsyncGenerator {
  let last: unknown
  try {
    for await (const value of generator) {
      last = value
      yield value
    }
    call.endTool({ result: last })
  } catch (err) {
    call.endTool({ result: last, err })
    throw err
  } finally {
    // Left by its caller: what came until then.
    call.endTool({ result: last, status: "partial" })
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === "function"

const isAsyncGenerator = (value: unknown): value is AsyncGenerator =>
  Object.prototype.toString.call(value) === "[object AsyncGenerator]"

/** Frameworks hand a tool its input and, behind it, the call it answers. */
function callIdOf(args: readonly unknown[]): string | undefined {
  const options = args[1] as { toolCallId?: unknown } | null | undefined
  return typeof options?.toolCallId === "string" && options.toolCallId !== "" ? options.toolCallId : undefined
}

function argumentsOf(args: readonly unknown[]): unknown {
  return args.length <= 1 || callIdOf(args) !== undefined ? args[0] : args
}
