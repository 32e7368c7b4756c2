import { pointerParts } from "@orangebox/text"
import type { JsonPatchOp } from "../generated.js"

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type Patched = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string }

/** RFC 6902. The value is copied; a step that cannot be made says which one. */
export function jsonPatched(value: unknown, patch: readonly JsonPatchOp[]): Patched {
  const holder: { root: Json } = { root: structuredClone(value) as Json }
  for (const [index, op] of patch.entries()) {
    const problem = applyOp(holder, op)
    if (problem !== undefined) return { ok: false, reason: `step ${index + 1} (${op.op} ${op.path}): ${problem}` }
  }
  return { ok: true, value: holder.root }
}

function applyOp(holder: { root: Json }, op: JsonPatchOp): string | undefined {
  switch (op.op) {
    case "add":
    case "replace":
      return put(holder, op.path, structuredClone(op.value) as Json, op.op === "add")
    case "remove":
      return take(holder, op.path) === undefined ? "there is nothing" : undefined
    case "test":
      return JSON.stringify(read(holder, op.path)) === JSON.stringify(op.value) ? undefined : "the value is another"
    case "move": {
      const moved = take(holder, op.from)
      return moved === undefined ? `there is nothing at ${op.from}` : put(holder, op.path, moved, true)
    }
    case "copy": {
      const found = read(holder, op.from)
      return found === undefined ? `there is nothing at ${op.from}` : put(holder, op.path, structuredClone(found), true)
    }
  }
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function read(holder: { root: Json }, path: string): Json | undefined {
  let value: Json | undefined = holder.root
  for (const part of pointerParts(path)) {
    if (Array.isArray(value)) value = value[indexOf(part, value.length)]
    else value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  }
  return value
}

function put(holder: { root: Json }, path: string, value: Json, isAdd: boolean): string | undefined {
  const parts = pointerParts(path)
  const key = parts.pop()
  if (key === undefined) {
    holder.root = value
    return undefined
  }
  const parent = read(holder, path.slice(0, path.lastIndexOf("/")))
  if (Array.isArray(parent)) {
    const at = key === "-" && isAdd ? parent.length : indexOf(key, parent.length + (isAdd ? 1 : 0))
    if (at < 0) return "there is no such place"
    parent.splice(at, isAdd ? 0 : 1, value)
    return undefined
  }
  if (!isObject(parent) || (!isAdd && !Object.hasOwn(parent, key))) return "there is no such place"
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })
  return undefined
}

function take(holder: { root: Json }, path: string): Json | undefined {
  const found = read(holder, path)
  const key = pointerParts(path).pop()
  if (found === undefined || key === undefined) return undefined
  const parent = read(holder, path.slice(0, path.lastIndexOf("/")))
  if (Array.isArray(parent)) parent.splice(indexOf(key, parent.length), 1)
  else if (isObject(parent)) delete parent[key]
  return found
}

/** -1 for what is no index of the list. */
const indexOf = (part: string, length: number): number =>
  /^(?:0|[1-9]\d*)$/.test(part) && Number(part) < length ? Number(part) : -1
