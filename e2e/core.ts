// One Core of the real binary with a data root of its own, as a test sees it.

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The root of the repository. */
export const repo = dirname(dirname(fileURLToPath(import.meta.url)))

/** The binary under test. */
export const fyllo = process.env.FYLLO_E2E_BIN ?? join(repo, 'bin', 'fyllo')

/** How long a process may take for anything, in ms: the machine may be busy. */
const limit = 30_000

/** A Session that was started through the API. */
export interface Started {
  sessionId: string
  message: { id: string }
}

/** A message as the API gives it; only what tests read. */
export interface Message {
  id: string
  role: 'user' | 'assistant'
  parts: { type: string; text?: string }[]
  end?: { stopReason?: string; error?: { code: string } }
}

export class Core {
  /** Everything of this Core lies below: data root, home, project, programs on PATH. */
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), 'fyllo-e2e-')))
  /** The directory of the Workspace that pages open. */
  readonly project: string
  /** The first directory on the PATH of Core. */
  readonly bin = join(this.dir, 'bin')
  /** What the scripted Agents received, one JSON line each. */
  readonly agentLog = join(this.dir, 'agent.log')
  /** "http://127.0.0.1:PORT" */
  origin = ''
  /** Ids of added Agents by name. */
  readonly agentIds = new Map<string, string>()

  private readonly mark = randomUUID()
  private child: ChildProcess | null = null
  private exited: Promise<number | null> = Promise.resolve(null)
  private log = ''
  private firstURL = ''

  private registryURL = ''

  constructor(project = 'project') {
    this.project = this.makeDir(project)
    mkdirSync(this.bin)
    mkdirSync(join(this.dir, 'home'))
  }

  /** makeDir makes a directory beside the project and returns its path. */
  makeDir(name: string): string {
    const path = join(this.dir, name)
    mkdirSync(path, { recursive: true })
    return path
  }

  /** program puts a shell script on the PATH of Core. */
  program(name: string, script: string): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(this.bin, name), 0o755)
  }

  /** registry gives Core, from its next start on, a list of known Agents. */
  registry(agents: object[]): void {
    const path = join(this.dir, 'registry.json')
    writeFileSync(path, JSON.stringify({ version: '1.0.0', agents }))
    this.registryURL = `file://${path}`
  }

  /** start runs Core with the project open; port 0 lets the system choose. */
  async start(port = 0): Promise<void> {
    const child = spawn(fyllo, ['serve', '--no-open', '--port', String(port), this.project], {
      env: this.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child = child
    this.exited = new Promise((resolve) => child.once('exit', resolve))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.log += text))
    this.firstURL = await this.ready(child)
    this.origin = new URL(this.firstURL).origin
  }

  private ready(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Core did not become ready:\n${this.log}`)), limit)
      void this.exited.then((code) => reject(new Error(`Core ended with ${code}:\n${this.log}`)))
      createInterface(child.stdout!).on('line', (line) => {
        const url = /^FylloCode ready at (\S+)$/.exec(line)?.[1]
        if (!url) return
        clearTimeout(timer)
        resolve(url)
      })
    })
  }

  /** cli runs a fyllo command on this Core's data root and returns what it prints. */
  async cli(...args: string[]): Promise<string> {
    const { stdout } = await run(fyllo, args, { env: this.env(), cwd: this.dir, timeout: limit })
    return stdout.trim()
  }

  /** addAgent adds a scripted Agent; the script is a preset of internal/testagent, or its JSON. */
  async addAgent(name: string, script: string): Promise<void> {
    const id = await this.cli(
      ...['agents', 'add', name, '--env', `FYLLO_TESTAGENT_LOG=${this.agentLog}`],
      ...['--', testagent(), script, name], // no two Agents may have the same command line
    )
    this.agentIds.set(name, id)
  }

  /** url returns a fresh one-time URL for a directory; without one, for the launcher. */
  async url(dir?: string): Promise<string> {
    const first = this.firstURL
    this.firstURL = ''
    if (first && dir === this.project) return first
    return this.cli('--no-open', ...(dir ? [dir] : []))
  }

  /** received returns the params of every call of a method that the scripted Agents got. */
  received(method: string): Record<string, unknown>[] {
    const lines = readFileSync(this.agentLog, 'utf8').split('\n').filter(Boolean)
    const calls = lines.map((line) => JSON.parse(line) as { method?: string; params?: Record<string, unknown> })
    return calls.filter((c) => c.method === method).map((c) => c.params ?? {})
  }

  /** api calls Core as the command line does. */
  async api<T>(method: string, path: string, body?: unknown, workspaceId?: string): Promise<T> {
    const token = readFileSync(join(this.dir, 'data', 'core.token'), 'utf8').trim()
    const headers: Record<string, string> = { Authorization: `Bearer ${token}` }
    if (workspaceId) headers['X-Fyllo-Workspace'] = workspaceId
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const answer = await fetch(this.origin + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as T
  }

  /** workspace returns the id of the Workspace of a directory, which was opened before. */
  async workspace(dir = this.project): Promise<string> {
    type Listed = { workspaceId: string; folders: { folderPath: string }[] }
    const { workspaces } = await this.api<{ workspaces: Listed[] }>('GET', '/api/workspaces')
    const found = workspaces.find((w) => w.folders.length === 1 && w.folders[0]!.folderPath === dir)
    if (!found) throw new Error(`no Workspace for ${dir}`)
    return found.workspaceId
  }

  /** begin starts a Session in a Workspace without any page. */
  async begin(agent: string, text: string, workspaceId: string): Promise<string> {
    const request = { requestId: randomUUID(), agentId: this.agentIds.get(agent) ?? agent, mode: 'fyllocode', text, useDraft: false }
    return (await this.api<Started>('POST', '/api/sessions', request, workspaceId)).sessionId
  }

  /** messages returns all messages of a Session that are on disk. */
  async messages(sessionId: string): Promise<Message[]> {
    return (await this.api<{ messages: Message[] }>('GET', `/api/sessions/${sessionId}/messages?limit=500`)).messages
  }

  /** turn returns the state of a Session's turn and the text that the Agent has written in it so far. */
  async turn(sessionId: string): Promise<{ state: string; text: string }> {
    type Detail = { turn: { state: string }; live?: Message }
    const { turn, live } = await this.api<Detail>('GET', `/api/sessions/${sessionId}`)
    return { state: turn.state, text: textOf(live) }
  }

  /** kill ends Core without any warning, as a crash does. */
  async kill(): Promise<void> {
    this.child?.kill('SIGKILL')
    await this.exited
    this.child = null
  }

  /** stop ends Core in order. */
  async stop(): Promise<void> {
    if (!this.child) return
    await this.cli('stop')
    const code = await this.exited
    this.child = null
    if (code !== 0) throw new Error(`Core ended with ${code}:\n${this.log}`)
  }

  /** dispose stops Core, says what is wrong with how it ended, and removes everything. */
  async dispose(): Promise<string[]> {
    const problems: string[] = []
    await this.stop().catch((error: unknown) => problems.push(String(error)))
    const left = await this.survivors()
    for (const p of left) {
      problems.push(`a process survived Core: ${p.pid} ${p.command}`)
      process.kill(p.pid, 'SIGKILL')
    }
    for (const line of this.log.split('\n')) if (/level=ERROR|panic/.test(line)) problems.push(`Core's log: ${line}`)
    rmSync(this.dir, { recursive: true, force: true })
    return problems
  }

  /** survivors waits a moment for processes with this Core's mark to end and returns those that do not. */
  private async survivors(): Promise<{ pid: number; command: string }[]> {
    const deadline = Date.now() + 5000
    for (;;) {
      const found = this.processes()
      if (found.length === 0 || Date.now() > deadline) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Children inherit the environment of Core, and with it the mark. Only Linux shows it to others. */
  private processes(): { pid: number; command: string }[] {
    const found = []
    for (const name of process.platform === 'linux' ? readdirSync('/proc') : []) {
      if (!/^\d+$/.test(name)) continue
      try {
        if (!readFileSync(`/proc/${name}/environ`, 'utf8').includes(this.mark)) continue
        found.push({ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') })
      } catch {
        // Ended meanwhile, or another user's.
      }
    }
    return found
  }

  private env(): NodeJS.ProcessEnv {
    return {
      PATH: `${this.bin}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(this.dir, 'home'),
      FYLLO_HOME: join(this.dir, 'data'),
      FYLLO_REGISTRY_URL: this.registryURL, // no test goes out
      FYLLO_E2E: this.mark,
      LANG: 'C.UTF-8',
      TMPDIR: this.dir,
    }
  }
}

/** testagent is the path of the scripted Agent. */
export function testagent(): string {
  const path = process.env.E2E_TESTAGENT
  if (!path) throw new Error('the scripted Agent was not built')
  return path
}

/** textOf returns the text of a message as one string. */
export function textOf(message: Message | undefined): string {
  return (message?.parts ?? []).map((p) => (p.type === 'text' ? (p.text ?? '') : '')).join('')
}
