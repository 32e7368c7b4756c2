// Records a command as `orangebox run` does, and says on its own channel what it knows at the end.
import { recordCommand } from "@orangebox/proxy"

const [folder, ...command] = process.argv.slice(2)
try {
  const result = await recordCommand({
    command,
    folder,
    app: "recorded",
    ...(process.env.TEST_UPSTREAMS ? { upstreams: JSON.parse(process.env.TEST_UPSTREAMS) } : {}),
    onStart: (started) => process.send({ kind: "started", ...started }),
    onWarning: (message) => process.send({ kind: "warning", message }),
  })
  process.send({ kind: "ended", ...result }, () => process.disconnect())
} catch (error) {
  process.send({ kind: "failed", message: error.message }, () => process.disconnect())
}
