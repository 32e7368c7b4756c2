import type { Command } from "commander"
import type { Session } from "../session.js"
export function addCollect(_program: Command, _session: Session): void {}
