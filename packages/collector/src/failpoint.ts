/**
 * A named place where a test can end the collector as a power cut would: `ORANGEBOX_FAILPOINT=collect:after-commit` kills it there,
 * `collect:after-commit@3` on the third pass. The store reads the same variable for places of its own.
 */
const [armed, pass = "1"] = (process.env["ORANGEBOX_FAILPOINT"] ?? "").split("@")
let passesLeft = Number(pass)

export function failpoint(name: string): void {
  if (name !== armed) return
  passesLeft--
  if (passesLeft <= 0) process.kill(process.pid, "SIGKILL")
}
