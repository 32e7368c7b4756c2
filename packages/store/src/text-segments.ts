/**
 * Cuts text into pieces that are indexed once each. Where a cut falls depends only on the lines around it, so a history that is sent
 * again with two messages more falls into the same pieces and a few new ones. Cuts lie between lines: what stands in one line is found
 * whole. Only a line longer than a piece may be is cut inside, at a space where there is one.
 */
export function textSegments(text: string): string[] {
  const segments: string[] = []
  let start = 0
  let lineStart = 0
  while (lineStart < text.length) {
    const newline = text.indexOf("\n", lineStart)
    const lineEnd = newline === -1 ? text.length : newline + 1
    if (lineEnd - start > MAX_SEGMENT && lineStart > start) {
      segments.push(withoutEnd(text, start, lineStart))
      start = lineStart
    }
    if (lineEnd - lineStart > MAX_SEGMENT) {
      cutLine(text, lineStart, lineEnd, segments)
      start = lineEnd
    } else if (lineEnd - start >= MIN_SEGMENT && isCut(text, lineStart, lineEnd)) {
      segments.push(withoutEnd(text, start, lineEnd))
      start = lineEnd
    }
    lineStart = lineEnd
  }
  if (start < text.length) segments.push(withoutEnd(text, start, text.length))
  return segments.filter((segment) => segment !== "")
}

/** Without line ends behind: the last message of one request stands in the middle of the next, and is the same piece. */
function withoutEnd(text: string, from: number, to: number): string {
  let end = to
  while (end > from && text.charCodeAt(end - 1) === 0x0a) end--
  return text.slice(from, end)
}

const MIN_SEGMENT = 384
const MAX_SEGMENT = 4096

/** One line in four ends a piece, by its own content; a long line always does, being a paragraph of its own. */
function isCut(text: string, from: number, to: number): boolean {
  if (to - from >= MIN_SEGMENT) return true
  let hash = 0
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  return ((hash ^ (hash >>> 15)) & 3) === 0
}

function cutLine(text: string, from: number, to: number, segments: string[]): void {
  for (let start = from; start < to; ) {
    let end = Math.min(start + MAX_SEGMENT, to)
    if (end < to) {
      const space = text.lastIndexOf(" ", end)
      if (space > start + MAX_SEGMENT / 2) end = space + 1
      // A surrogate pair is one character.
      else if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end--
    }
    segments.push(withoutEnd(text, start, end))
    start = end
  }
}
