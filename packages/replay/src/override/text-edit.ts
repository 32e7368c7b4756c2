import type { JsonNode } from "@orangebox/contract"
import { applyPatch } from "diff"
import type { TextEdit } from "../generated.js"
import type { Splice } from "../json/json-edit.js"

type JsonString = Extract<JsonNode, { kind: "string" }>

export type Edited =
  | { readonly ok: true; readonly splices: readonly Splice[] }
  | { readonly ok: false; readonly reason: string }

const refused = (reason: string): Edited => ({ ok: false, reason })

/** Edits the texts of one place: a prompt or a message, which may be written as several blocks. */
export function editTexts(source: string, texts: readonly JsonString[], edit: TextEdit): Edited {
  if (texts.length === 0) return refused("there is no text to edit")
  if ("find" in edit) return findAndReplace(source, texts, edit)
  if ("append" in edit) {
    const last = texts.at(-1)!
    const added = JSON.stringify(edit.append).slice(1, -1)
    return { ok: true, splices: [{ start: last.end - 1, end: last.end - 1, with: added }] }
  }
  if ("replace_all" in edit) {
    if (texts.length > 1) return refused(`it is written as ${texts.length} blocks; say which text to find instead`)
    return { ok: true, splices: [whole(texts[0]!, edit.replace_all)] }
  }
  return patch(texts, edit.unified_diff)
}

const whole = (node: JsonString, text: string): Splice => ({
  start: node.start,
  end: node.end,
  with: JSON.stringify(text),
})

function findAndReplace(
  source: string,
  texts: readonly JsonString[],
  edit: Extract<TextEdit, { find: string }>,
): Edited {
  const splices: Splice[] = []
  const added = JSON.stringify(edit.with).slice(1, -1)
  for (const node of texts) {
    if (!node.value.includes(edit.find)) continue
    const offsets = rawOffsets(source, node)
    for (let at = node.value.indexOf(edit.find); at >= 0; at = node.value.indexOf(edit.find, at + edit.find.length)) {
      splices.push({ start: offsets[at]!, end: offsets[at + edit.find.length]!, with: added })
    }
  }
  if (splices.length === edit.expect_count) return { ok: true, splices }
  return refused(
    `${JSON.stringify(edit.find.slice(0, 80))} is there ${splices.length} time(s), expected ${edit.expect_count}`,
  )
}

/** Where each character of a JSON string stands in the text, escapes and all; one entry more for its end. */
function rawOffsets(source: string, node: JsonString): number[] {
  const offsets: number[] = []
  let at = node.start + 1
  while (at < node.end - 1) {
    offsets.push(at)
    if (source[at] !== "\\") at++
    else at += source[at + 1] === "u" ? 6 : 2
  }
  offsets.push(at)
  return offsets
}

function patch(texts: readonly JsonString[], unifiedDiff: string): Edited {
  const fitting = texts.flatMap((node) => {
    const patched = tryPatch(node.value, unifiedDiff)
    return patched === undefined ? [] : [whole(node, patched)]
  })
  if (fitting.length === 1) return { ok: true, splices: fitting }
  return refused(fitting.length === 0 ? "the diff does not apply" : `the diff applies to ${fitting.length} blocks`)
}

function tryPatch(text: string, unifiedDiff: string): string | undefined {
  try {
    const patched = applyPatch(text, unifiedDiff)
    return patched === false || patched === text ? undefined : patched
  } catch {
    return undefined
  }
}
