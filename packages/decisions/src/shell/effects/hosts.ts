/** The host a URL, `host:port`, `user@host` or bare host name names; undefined when it names none. Lower case, without a trailing dot. */
export function hostOf(text: string): string[] | undefined {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)
  let rest = scheme === null ? text : text.slice(scheme[0].length)
  rest = rest.split(/[/?#]/, 1)[0] as string
  // One client takes a backslash for a slash, another for a part of the name: which host is meant stays unknown.
  if (rest.includes("\\")) return undefined
  rest = rest.slice(rest.lastIndexOf("@") + 1)
  const bracketed = /^\[([0-9A-Fa-f:.]+)\]/.exec(rest)
  if (bracketed !== null) return [(bracketed[1] as string).toLowerCase()]
  const host = rest.replace(/:\d*$/, "").replace(/\.+$/, "").toLowerCase().normalize("NFKC")
  if (host === "" || /[^\p{L}\p{N}._-]/u.test(host)) return undefined
  return [host]
}

/** The hosts of words that name some; true when one of them may name any. */
export function hostsOf(words: readonly { text: string; isKnown: boolean }[]): readonly string[] | true {
  const hosts: string[] = []
  for (const word of words) {
    // A host that stands before the first unknown part is known all the same: https://example.org/$path.
    const known = word.isKnown || /^[a-z]+:\/\/[^/?#\\$`]+[/?#]/i.test(word.text)
    const host = known ? hostOf(word.text) : undefined
    if (host === undefined) return true
    hosts.push(...host)
  }
  return hosts.length === 0 ? true : [...new Set(hosts)]
}

/** The host of `host:path` and `user@host:path`. */
export function remoteHost({ text }: { readonly text: string }): string[] {
  if (text.includes("://")) return hostOf(text) ?? []
  const match = /^(?:[^\s@/:]+@)?([A-Za-z0-9.-]{2,}):/.exec(text)
  return match === null ? [] : [match[1]!.toLowerCase()]
}

/** Only the spellings everyone reads the same way: `0x7f.1` may be this machine to one program and a name to another. */
export const isLocalHost = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  host === "::1" ||
  host === "0.0.0.0" ||
  /^127(?:\.\d{1,3}){3}$/.test(host)
