import type { Page } from '@playwright/test'

import { axe, expect, test } from '../fixtures.ts'

interface Told {
  title: string
  body: string
  tag: string
}

/** notifications puts a recorder in place of the browser's own, which a test cannot see. `answer` is what a person chooses. */
async function notifications(page: Page, answer: 'granted' | 'denied'): Promise<void> {
  await page.addInitScript((answer) => {
    const told: (Told & { onclick?: () => void })[] = []
    class Recorder {
      static permission = sessionStorage.getItem('answered') ?? 'default'
      static asked = 0
      static async requestPermission(): Promise<string> {
        Recorder.asked++
        Recorder.permission = answer
        sessionStorage.setItem('answered', answer)
        return answer
      }
      onclick?: () => void
      readonly body: string
      readonly tag: string
      constructor(readonly title: string, options: { body: string; tag: string }) {
        this.body = options.body
        this.tag = options.tag
        told.push(this)
      }
      close(): void {}
    }
    let away = false
    document.hasFocus = () => !away
    Object.assign(window, { Notification: Recorder, told, look: (here: boolean) => { away = !here; if (here) window.dispatchEvent(new Event('focus')) } })
  }, answer)
  await page.reload()
}

const look = (page: Page, here: boolean): Promise<void> => page.evaluate((h) => (window as unknown as { look: (h: boolean) => void }).look(h), here)
const told = (page: Page): Promise<Told[]> =>
  page.evaluate(() => (window as unknown as { told: Told[] }).told.map(({ title, body, tag }) => ({ title, body, tag })))
const asked = (page: Page): Promise<number> => page.evaluate(() => (Notification as unknown as { asked: number }).asked)

async function turnOn(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('group', { name: 'Notifications of the desktop' }).getByRole('radio', { name: /^On/ }).click()
}

test('nobody is asked and nothing is told before it is wished for; the title counts what waits', async ({ chat, core, page }) => {
  await notifications(page, 'granted')
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await look(page, false)
  await chat.begin('echo done')
  await chat.ended()
  await expect(page).toHaveTitle(/^\(1\) echo done – project – FylloCode$/)
  await core.begin('Scripted', 'permission', await core.workspace())
  await expect(page).toHaveTitle(/^\(2\) /)
  expect([await told(page), await asked(page)]).toEqual([[], 0])
  await look(page, true)
  await expect(page).toHaveTitle(/^\(1\) /) // the request still waits
  await chat.row('permission').click()
  await chat.log.getByRole('button', { name: 'Allow once' }).click()
  await expect(page).toHaveTitle(/^permission – project – FylloCode$/)
})

test('wished for, the desktop tells what ends, fails or asks while nobody looks, and a click goes there', async ({ chat, core, page }) => {
  await notifications(page, 'granted')
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await turnOn(page)
  await axe(page)
  await page.reload() // the wish is kept
  await expect(page.getByRole('radio', { name: /^On/ })).toBeChecked()
  expect(await asked(page)).toBe(0)

  const workspace = await core.workspace()
  const ended = async (text: string): Promise<string> => {
    const id = await core.begin('Scripted', text, workspace)
    await expect.poll(async () => (await core.turn(id)).state).toBe('idle')
    return id
  }
  await page.getByRole('link', { name: 'Chat' }).click()
  await chat.begin('echo while somebody looks')
  await chat.ended()
  await look(page, false)
  const one = await ended('echo <b>first</b>')
  const two = await ended('error -32000 The model is overloaded')
  const three = await core.begin('Scripted', 'permission', workspace)
  await expect.poll(() => told(page)).toHaveLength(3)
  expect(await told(page)).toEqual([
    { title: 'echo <b>first</b>', body: 'The answer is there.', tag: one },
    { title: expect.stringContaining('error -32000'), body: expect.stringContaining('The turn failed: '), tag: two },
    { title: 'permission', body: 'Waits for your answer: Run rm -rf build', tag: three },
  ])
  await page.evaluate((id) => (window as unknown as { told: (Told & { onclick: () => void })[] }).told.find((n) => n.tag === id)!.onclick(), three)
  await expect(page).toHaveURL(`${core.origin}/chat/${three}`)

  // A turn that was stopped is no news.
  await core.api('POST', `/api/sessions/${three}/cancel`, undefined, workspace)
  await chat.ended()
  await turnOff(page)
  await ended('echo last')
  await expect(page).toHaveTitle(/^\(3\) Preferences/) // the page has heard of it
  expect(await told(page)).toHaveLength(3)
})

async function turnOff(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('group', { name: 'Notifications of the desktop' }).getByRole('radio', { name: 'Off' }).click()
}

test('what the browser refuses stays off and says why', async ({ chat, page }) => {
  await expect(chat.title).toBeVisible()
  await notifications(page, 'denied')
  await expect(page.getByText('Scripted is ready')).toBeVisible()
  await turnOn(page)
  const group = page.getByRole('group', { name: 'Notifications of the desktop' })
  await expect(chat.toasts).toContainText('Notifications stay off')
  await expect(group).toContainText('The browser does not allow notifications of this page.')
  await expect(group.getByRole('radio', { name: 'Off' })).toBeChecked()
  await page.reload()
  await expect(group).toContainText('The browser does not allow notifications of this page.')
})
