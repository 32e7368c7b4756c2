/**
 * A typed mask: a value of this type stands for any other of the same type, and for nothing else. Masks are never on by default; silent
 * removal is how wrong answers match.
 */
export type MaskType =
  | "uuid"
  | "iso_date"
  | "epoch_ms"
  | "epoch_s"
  | "duration"
  | "abs_path"
  | "hex"
  | "git_sha"
  | "port"
  | "harness_line"

export const MASK_TYPES: readonly MaskType[] = [
  "harness_line",
  "uuid",
  "iso_date",
  "epoch_ms",
  "epoch_s",
  "duration",
  "abs_path",
  "git_sha",
  "hex",
  "port",
]

const PATTERNS: Readonly<Record<MaskType, RegExp>> = {
  // Lines that known harnesses write into every prompt and that change by themselves: today's date, the working folder.
  harness_line:
    /^[ \t]*(?:Today's date|Current date|Working directory|Primary working directory|Is directory a git repo)\b[^\n]*$/gim,
  uuid: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  iso_date: /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b/g,
  epoch_ms: /\b1[5-9]\d{11}\b/g,
  epoch_s: /\b1[5-9]\d{8}(?:\.\d+)?\b/g,
  duration: /\b\d+(?:\.\d+)? ?(?:ms|[µn]s|s|secs?|seconds?|mins?|minutes?)\b/g,
  abs_path: /(?<![\w/.:])(?:\/[\w.@+-]+){2,}\/?|\b[A-Z]:\\(?:[\w .@+-]+\\)*[\w.@+-]*/g,
  git_sha: /\b[0-9a-f]{40}\b/g,
  hex: /\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b/gi,
  port: /(?<=(?:localhost|127\.0\.0\.1|\[::1\]):)\d{2,5}\b/g,
}

/** A function that puts `<type>` in the place of every value of the given types, in the fixed order of `MASK_TYPES`. */
export function maskText(types: readonly MaskType[]): (text: string) => string {
  const chosen = MASK_TYPES.filter((type) => types.includes(type))
  return (text) => chosen.reduce((masked, type) => masked.replace(PATTERNS[type], `<${type}>`), text)
}
