#!/usr/bin/env node
// npm links a bin only when its target exists at install time, before the build has run; this file always exists and loads the build.
import("../bundle/main.js").catch((error) => {
  if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error
  process.stderr.write("orangebox is not built yet. Run: npm run build\n")
  process.exitCode = 3
})
