/** A path without its query, its trailing slash, or the case of a proxy's prefix deciding anything. */
export function pathOf(pathAndQuery: string): string {
  const path = pathAndQuery.split(/[?#]/, 1)[0] ?? ""
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
}

/** The query in one order: parameters sorted by name, then by value. */
export function sortedQueryOf(pathAndQuery: string): string {
  const mark = pathAndQuery.indexOf("?")
  if (mark < 0) return ""
  return pathAndQuery
    .slice(mark + 1)
    .split("#", 1)[0]!
    .split("&")
    .filter((pair) => pair !== "")
    .sort()
    .join("&")
}

/** Percent escapes decoded; a path with broken ones stays as it is. */
export function decodePath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
