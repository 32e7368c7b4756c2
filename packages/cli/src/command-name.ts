/** How to call us again from where we were called: under npx, the bare name is not on the path. */
export function commandName(env: Readonly<Record<string, string | undefined>>): string {
  return env["npm_command"] === "exec" ? "npx orangebox" : "orangebox"
}
