/**
 * The skill that a tool call loads. Agents load one by a tool of its own (`Skill`, `activate_skill`, `load_skill`), or by reading its file,
 * `…/web-research/SKILL.md`, with whatever reads files. Of the arguments a summary is enough; where none was kept it is unknown.
 */
export function skillLoadedBy(toolName: string, args: string): string | undefined {
  const isLoader = LOADERS.has(
    toolName
      .slice(toolName.lastIndexOf("__") + 1)
      .replace(/^_/, "")
      .toLowerCase(),
  )
  const named = isLoader ? SKILL_MEMBER.exec(args)?.[1] : SKILL_FILE.exec(args)?.[1]
  return named === undefined || named === "" ? undefined : named
}

const LOADERS: ReadonlySet<string> = new Set([
  ...["skill", "load_skill", "activate_skill", "use_skill", "read_skill", "invoke_skill", "get_skill", "loadskill"],
  ...["activateskill", "useskill"],
])

const SKILL_MEMBER = /"(?:skill|skill_name|skillName|name|command)"\s*:\s*"([^"\\]{1,200})"/
const SKILL_FILE = /([^/\\"'\s]{1,200})[/\\]{1,2}SKILL\.md\b/
