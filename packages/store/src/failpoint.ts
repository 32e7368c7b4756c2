/**
 * A named place where a test can end the process as a power cut would: `ORANGEBOX_FAILPOINT=commit:before` kills it there,
 * `commit:before@3` on the third pass. Read once at load, so that it costs a comparison where it is not set.
 */
const [armed, pass = "1"] = (process.env["ORANGEBOX_FAILPOINT"] ?? "").split("@")
let passesLeft = Number(pass)

export function failpoint(name: string): void {
  if (name !== armed) return
  passesLeft--
  if (passesLeft <= 0) process.kill(process.pid, "SIGKILL")
}
