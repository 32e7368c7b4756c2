import { skillLoadedBy } from "@orangebox/dialects"
import { expect, test } from "vitest"

test("[Q-05] a call that loads a skill names it, whatever the agent loads it with", () => {
  const check = (tool: string, args: string, skill: string | undefined): void =>
    expect([tool, skillLoadedBy(tool, args)]).toEqual([tool, skill])
  check("Skill", '{"skill":"pdf"}', "pdf")
  check("Skill", '{"command": "pdf", "args": "x"}', "pdf")
  check("activate_skill", '{"name":"web-research"}', "web-research")
  check("mcp__skills__load_skill", '{"skill_name":"a b"}', "a b")
  check("Read", '{"file_path":"/home/me/.claude/skills/web/SKILL.md"}', "web")
  check("bash", '{"cmd":"cat skills\\\\web\\\\SKILL.md | head"}', "web")
  check("shell", '["cat","web/SKILL.md"]', "web")
  check("Skill", "", undefined)
  check("Skill", '{"skill":""}', undefined)
  check("read_file", '{"name":"pdf"}', undefined)
  check("read_file", '{"path":"SKILL.md"}', undefined)
})
