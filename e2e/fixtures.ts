// What every test gets: a Core of its own, and pages that are watched.

import AxeBuilder from '@axe-core/playwright'
import { test as base, expect, type BrowserContext, type Locator, type Page } from '@playwright/test'

import { Core } from './core.ts'
import { writeHistory, type History } from './history.ts'

export { expect }
export { testagent, textOf } from './core.ts'

/** Collects what must not happen in any page. */
export class Watch {
  private readonly problems: string[] = []
  private readonly allowed: { pattern: RegExp; seen: boolean }[] = []

  /** allow names an error in the console that the test provokes; it has to come, unless it depends on the moment. */
  allow(pattern: RegExp, how: { always: boolean } = { always: true }): void {
    this.allowed.push({ pattern, seen: !how.always })
  }

  /** allowEndOfCore allows what the browser says of requests that Core's end cuts or refuses; which of them depends on the moment. */
  allowEndOfCore(): void {
    this.allow(/net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONTENT_LENGTH_MISMATCH|SOCKET_NOT_CONNECTED)|WebSocket connection/, {
      always: false,
    })
  }

  /** follow watches every page of a context. */
  async follow(context: BrowserContext, origin: () => string): Promise<void> {
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (e) =>
        console.error(`CSP violation: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`),
      )
    })
    context.on('weberror', (e) => this.report(`error in the page: ${e.error().stack ?? e.error().message}`))
    context.on('console', (m) => {
      if (m.type() === 'error') this.report(`console: ${m.text()} (${m.location().url})`)
    })
    context.on('request', (r) => this.request(r.url(), origin()))
    context.on('page', (page) => page.on('websocket', (s) => this.request(s.url().replace(/^ws/, 'http'), origin())))
  }

  /** report notes a problem unless the test has allowed it. */
  report(problem: string): void {
    const known = this.allowed.find((a) => a.pattern.test(problem))
    if (known) known.seen = true
    else this.problems.push(problem)
  }

  /** found returns what went wrong, and what was announced and did not come. */
  found(): string[] {
    const missing = this.allowed.filter((a) => !a.seen).map((a) => `allowed but never seen: ${a.pattern}`)
    return [...this.problems, ...missing]
  }

  private request(url: string, origin: string): void {
    const { protocol, origin: to } = new URL(url)
    if (!['data:', 'blob:', 'about:'].includes(protocol) && to !== origin) this.report(`request to elsewhere: ${url}`)
  }
}

/** The Chat page in a person's words. */
export class Chat {
  readonly message: Locator
  readonly log: Locator
  readonly title: Locator
  readonly sidebar: Locator
  readonly sessions: Locator
  readonly send: Locator
  readonly stop: Locator
  readonly toasts: Locator

  constructor(readonly page: Page) {
    this.message = page.getByRole('textbox', { name: 'Message', exact: true })
    this.log = page.getByRole('log')
    this.title = page.getByRole('main').getByRole('heading', { level: 1 })
    this.sidebar = page.getByRole('navigation', { name: 'Sessions' })
    this.sessions = this.sidebar.getByRole('link').and(page.locator('[href^="/chat/"]'))
    this.send = page.getByRole('button', { name: 'Send message' })
    this.stop = page.getByRole('button', { name: 'Stop the turn' })
    this.toasts = page.getByRole('region', { name: 'Notifications' }).locator('> *')
  }

  /** say sends a message with the keyboard. */
  async say(text: string): Promise<void> {
    await this.message.fill(text)
    await this.message.press('Enter')
  }

  /** begin sends the first message of a draft and returns the id of its Session, whose page is there then. */
  async begin(text: string): Promise<string> {
    await this.say(text)
    await this.page.waitForURL(/\/chat\/session-/)
    await expect(this.log).toBeVisible() // until then the draft's composer is still shown
    return this.page.url().split('/').pop()!
  }

  /** ended waits until no turn runs; the Agent has answered before. */
  async ended(): Promise<void> {
    await expect(this.send).toBeVisible()
    await expect(this.stop).toBeHidden()
  }

  /** row returns a Session of the list by its title. */
  row(title: string | RegExp): Locator {
    return this.sessions.filter({ hasText: title })
  }

  /** menu opens the menu of a Session of the list. */
  async menu(title: string): Promise<void> {
    await this.row(title).hover()
    await this.sidebar.getByRole('button', { name: `Actions for “${title}”` }).click()
  }

  /** scroller returns how the conversation is scrolled, in CSS pixels. */
  scroll(): Promise<{ top: number; toEnd: number; height: number }> {
    return this.log.evaluate((el) => ({
      top: el.scrollTop,
      toEnd: el.scrollHeight - el.clientHeight - el.scrollTop,
      height: el.scrollHeight,
    }))
  }
}

interface Fixtures {
  /** Agents that are added before the page opens: name → script of internal/testagent. */
  agents: Record<string, string>
  /** Entries of the list of known Agents; none: there is no list. As with histories, more than one need a scope. */
  registry: object[]
  /** Name of the project directory. */
  projectName: string
  /**
   * Long Sessions that exist before the page opens, with the first Agent. More than one are written
   * [[…, …], { scope: 'test' }], since Playwright takes a second object for settings.
   */
  histories: History[]
  core: Core
  watch: Watch
  /** The draft of the project's Workspace, connected to its Agent. */
  chat: Chat
}

export const test = base.extend<Fixtures>({
  agents: [{ Scripted: 'default' }, { option: true }],
  registry: [[], { option: true }],
  projectName: ['project', { option: true }],
  histories: [[], { option: true }],

  core: async ({ agents, projectName, histories, registry }, use) => {
    const core = new Core(projectName)
    if (registry.length > 0) core.registry(registry)
    await core.start()
    for (const [name, script] of Object.entries(agents)) await core.addAgent(name, script)
    if (histories.length > 0) {
      await core.stop()
      for (const history of histories) writeHistory(core, history)
      await core.start()
    }
    await use(core)
    expect(await core.dispose(), 'how Core ended').toEqual([])
  },

  watch: async ({}, use) => {
    await use(new Watch())
  },

  context: async ({ core, watch, context }, use) => {
    await watch.follow(context, () => core.origin)
    await use(context)
    expect(watch.found(), 'what happened in the pages').toEqual([])
  },

  chat: async ({ core, page, agents }, use) => {
    const chat = new Chat(page)
    await page.goto(await core.url(core.project))
    const first = Object.keys(agents)[0] ?? 'Tour'
    await expect(page.getByRole('status').filter({ hasText: `${first} is ready` })).toBeVisible()
    await use(chat)
  },
})

/** axe fails on every serious or critical finding about accessibility; in dark only colours can differ. */
export async function axe(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const builder = new AxeBuilder({ page })
    const { violations } = await (colorScheme === 'dark' ? builder.withRules(['color-contrast']) : builder).analyze()
    const grave = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    const told = grave.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target.join(' ')} ${n.any[0]?.message ?? ''}`).join(' | ')}`)
    expect(told, `accessibility in ${colorScheme}`).toEqual([])
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null })
}

/** fitsNarrow fails if anything makes the page scroll sideways on a telephone. */
export async function fitsNarrow(page: Page): Promise<void> {
  const before = page.viewportSize()
  for (const width of [390, 360]) {
    await page.setViewportSize({ width, height: 844 })
    const wide = () =>
      page.evaluate(() => {
        const out = [...document.querySelectorAll<HTMLElement>('body, body *')]
          .filter((el) => el.scrollWidth > el.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(el).overflowX))
          .filter((el) => !el.closest('pre, .md-table, .md-math, .virtual-lines, .canvas, .diff-pane, .diff-bar')) // code and tables scroll inside their block
          .map((el) => `${el.tagName}.${el.className} ${el.scrollWidth} > ${el.clientWidth}`)
        const root = document.documentElement
        if (root.scrollWidth > window.innerWidth) out.push(`page ${root.scrollWidth} > ${window.innerWidth}`)
        return out
      })
    await expect.poll(wide, `what scrolls sideways at ${width} px`).toEqual([])
  }
  if (before) await page.setViewportSize(before)
}
