/** Nesting deeper than this is shown as a number, so that a line never begins with a thousand spaces. */
const DEEPEST_INDENT = 20

/** The guides in front of every row, from the last row up: a branch goes on where a later row hangs on the same level. */
export function drawTree(rows: readonly { readonly depth: number }[]): string[] {
  const trees: string[] = new Array(rows.length)
  const hasLater: boolean[] = []
  for (let index = rows.length - 1; index >= 0; index--) {
    const depth = Math.min(rows[index]!.depth, DEEPEST_INDENT)
    const deeper = rows[index]!.depth - depth
    let tree = ""
    for (let level = 1; level < depth; level++) tree += hasLater[level] ? "│ " : "  "
    if (depth > 0) tree += hasLater[depth] ? "├ " : "└ "
    trees[index] = deeper > 0 ? `${tree}+${deeper} ` : tree
    hasLater.length = depth
    hasLater[depth] = true
  }
  return trees
}
