// What people type into the form of an Agent.

/** linesOf returns the lines of a text that are not empty; white space at their ends is kept off. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** parseEnv reads NAME=value lines. badLine is the 1-based number of the first line of another form, 0 for none. */
export function parseEnv(text: string): { env: Record<string, string>; badLine: number } {
  const env: Record<string, string> = {}
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const match = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line)
    if (!match) return { env, badLine: i + 1 }
    env[match[1]!] = match[2]!
  }
  return { env, badLine: 0 }
}
