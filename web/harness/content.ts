import type { Body, Message, Part, Tool } from '@/api/types'

const at = '2026-03-04T10:00:00Z'
const body = (text: string, extra: Partial<Body> = {}): Body => ({ text, size: text.length, ...extra })

export function user(id: string, text: string): Message {
  return { id, role: 'user', createdAt: at, updatedAt: at, parts: [{ id: `${id}.0`, type: 'text', text }] }
}

export function assistant(id: string, parts: Omit<Part, 'id'>[], end: Message['end'] = { stopReason: 'end_turn', at }): Message {
  return { id, role: 'assistant', createdAt: at, updatedAt: at, parts: parts.map((p, i) => ({ ...p, id: `${id}.${i}` })), end }
}

export function answer(id: string, n: number): Message {
  return assistant(id, [
    { type: 'text', text: `Answer **${n}** with some words.\n\n${'A longer paragraph of prose. '.repeat((n * 7) % 23)}\n\n- one\n- two\n` },
    { type: 'tool', tool: tool(`c${n}`, { title: `Read file-${n}.go` }) },
    { type: 'text', text: `\`\`\`go\nfunc answer${n}() int {\n\treturn ${n}\n}\n\`\`\`\n` },
  ])
}

export function tool(toolCallId: string, t: Partial<Tool> = {}): Tool {
  return { toolCallId, title: 'Read main.go', kind: 'read', status: 'completed', ...t }
}

const rich = `# Heading one
Some prose with **bold**, *italic*, ~~struck~~, \`inline code\`, a [link](https://example.com), a [path](/home/ana/app/web/src/main.ts:12)
and a [relative one](docs/a.md). Remote image: ![diagram](https://example.com/x.png)

## Heading two
1. First
2. Second
   - nested with a very long word that cannot break: ${'abcdefgh'.repeat(20)}
   - \`\`\`sh
     echo nested
     \`\`\`

- [ ] open task
- [x] done task

> A quote of someone,
> two lines long.

| Column | 数量 | A longer heading |
|:--|--:|:-:|
| 中文内容，测试 | 12 | 🚀 emoji |
| ${'wide '.repeat(30)} | 1,234 | x |

---

中文段落：这是一个用于检查排版的段落，包含中英文混排 mixed text，以及标点符号。👩‍👩‍👧‍👦

\`\`\`typescript
// A comment
export async function load<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(\`/api/\${path}\`, { signal })
  if (!answer.ok) throw new Error("failed: " + answer.status)
  return (await answer.json()) as T // ${'long '.repeat(40)}
}
\`\`\`

\`\`\`diff
- old line
+ new line
\`\`\`

<b>raw html</b> stays text.
`

/** One of everything. */
export function demo(): Message[] {
  return [
    user('u1', 'Please look at the parser.\nIt fails with CJK: 「解析器」 and emoji 🚀.'),
    assistant('m1', [
      { type: 'reasoning', text: 'First I **look** at the parser.' },
      { type: 'text', text: rich },
      { type: 'tool', tool: tool('t1', { title: 'Read /home/ana/app/internal/transcript/fold.go', input: body('{\n  "path": "/home/ana/app/fold.go"\n}', { json: true }), output: body('package transcript\n'.repeat(60), { size: 90000, ref: { offset: 0, length: 90000 } }), locations: [{ path: '/home/ana/app/fold.go', line: 12 }] }) },
      { type: 'tool', tool: tool('t2', { title: 'go test ./... -race', kind: 'execute', status: 'failed', error: body('FAIL: TestFold (0.01s)\n    fold_test.go:12: got 3, want 4') }) },
      { type: 'tool', tool: tool('t3', { title: 'Edit fold.go', kind: 'edit', diffs: [{ path: '/home/ana/app/fold.go', old: body('a'), new: body('b') }, { path: '/home/ana/app/new.go', new: body('b') }], permissions: [{ id: 'p0', outcome: 'selected', optionId: 'o', by: 'user', at, options: [{ optionId: 'o', name: 'Allow once', kind: 'allow_once' }] }] }) },
      { type: 'tool', tool: tool('t4', { title: `A very long title: ${'rg --files-with-matches '.repeat(14)}`, kind: 'search', interrupted: true, status: 'in_progress' }) },
      { type: 'attachment', attachment: { name: 'screen.png', mime: 'image/png', uri: 'file:///tmp/screen.png' } },
    ], { stopReason: 'max_tokens', at }),
    user('u2', 'And again?\n' + 'A long paste line\n'.repeat(40)),
    assistant('m2', [{ type: 'text', text: 'Partial answer' }], { error: { code: 'AGENT_EXITED', message: 'The Agent ended: exit status 1', hint: 'Start it by hand to see why.' }, at }),
  ]
}
