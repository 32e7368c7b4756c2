import { spawn } from "node:child_process"

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
}

/** Asks the desktop to open an address. Where there is none, nothing happens: the address is printed as well. */
export function openBrowser(address: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"]
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true })
  child.on("error", () => {})
  child.unref()
}
