import type { SweepRule } from "../rule.js"

/** Addresses of machines, except those that say nothing about anyone: loopback, unspecified, documentation. */
export const ipv4: SweepRule = {
  id: "pii-ip",
  about: "IP addresses, version 4",
  pattern: /(?<![\w.-])(?:25[0-5]|2[0-4]\d|1?\d{1,2})(?:\.(?:25[0-5]|2[0-4]\d|1?\d{1,2})){3}(?![\w-]|\.\d)/g,
  longest: 15,
  accepts: (found) => !/^(?:127\.|0\.0\.0\.0$|255\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)/.test(found),
}

export const ipv6: SweepRule = {
  id: "pii-ipv6",
  about: "IP addresses, version 6",
  pattern: /(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){3,7}(?![\w:])/g,
  longest: 39,
  accepts: (found) => isIPv6(found) && found !== "::1" && !/^2001:0?db8:/i.test(found),
}

/** Eight groups, or fewer with one `::` for those left out. That a group is up to four hex digits, the pattern has made sure. */
export function isIPv6(address: string): boolean {
  const halves = address.split("::")
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")))
  if (halves.length > 2 || groups.includes("")) return false
  return halves.length === 1 ? groups.length === 8 : groups.length < 8
}
